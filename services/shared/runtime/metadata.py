"""The metadata keys that services exchange beside messages, and how an error travels in them."""

from collections.abc import Iterable

import grpc

from services.shared.runtime.errors import DeadlineExceeded, DependencyUnavailable, PlumblineError, error_from_code

REQUEST_ID = "plumbline-request-id"
VERSION = "plumbline-version"
# Stands on every status that one of our services set; the text of all others is gRPC's own and names addresses.
_OURS = "plumbline-error"
_FIELD = "plumbline-error-field-bin"
_RETRY_AFTER_MS = "plumbline-retry-after-ms"

# Callers refuse trailers of more than 8 KiB at random. A sentence may grow threefold on its way, a field by a third.
_MAX_DETAILS_BYTES = 2000
_MAX_FIELD_BYTES = 500

Metadata = tuple[tuple[str, str | bytes], ...]


def details_of(error: PlumblineError) -> str:
    """The error's sentence as a status may carry it: what a caller sent may stand in it, and be of any length."""
    return _cut(error.message, _MAX_DETAILS_BYTES)


def error_to_metadata(error: PlumblineError) -> Metadata:
    """Trailing metadata for what a status cannot say: that it is ours, the field at fault and when to come back."""
    pairs: list[tuple[str, str | bytes]] = [(_OURS, "1")]
    if error.field is not None:
        pairs.append((_FIELD, _cut(error.field, _MAX_FIELD_BYTES).encode()))
    if error.retry_after_s is not None:
        pairs.append((_RETRY_AFTER_MS, str(round(error.retry_after_s * 1000))))
    return tuple(pairs)


def error_from_rpc(error: grpc.aio.AioRpcError, *, peer: str) -> PlumblineError:
    """The error that `peer` raised, from its status and trailing metadata; what gRPC itself says stays out of it."""
    trailing = {key: value for key, value in error.trailing_metadata() or ()}  # dict() misreads it
    if _OURS not in trailing:
        return _error_of_grpc_itself(error.code(), peer)
    field = trailing.get(_FIELD)
    retry_after_ms = trailing.get(_RETRY_AFTER_MS)
    return error_from_code(
        error.code(),
        error.details() or error.code().name.lower().replace("_", " "),
        field=field.decode(errors="replace") if isinstance(field, bytes) else None,
        retry_after_s=int(retry_after_ms) / 1000 if retry_after_ms else None,
    )


def _error_of_grpc_itself(code: grpc.StatusCode, peer: str) -> PlumblineError:
    match code:
        # A cancellation of our own never gets here: the peer was stopped while it served the call.
        case grpc.StatusCode.UNAVAILABLE | grpc.StatusCode.CANCELLED:
            return DependencyUnavailable(f"{peer} does not answer")
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return DeadlineExceeded(f"{peer} did not answer in time")
        case _:
            return error_from_code(code, f"{peer} broke off the call")


def _cut(text: str, size: int) -> str:
    encoded = text.encode(errors="replace")
    return text if len(encoded) <= size else encoded[:size].decode(errors="ignore") + "…"


def value_of(metadata: Iterable[tuple[str, str | bytes]] | None, key: str) -> str | None:
    """The text under `key`, None when it is missing or not text."""
    for name, value in metadata or ():
        if name == key and isinstance(value, str):
            return value
    return None
