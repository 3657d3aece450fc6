"""The ledgers of a ranking on its span, so that a trace tells why its hits stand where they stand."""

from collections.abc import Sequence

from opentelemetry import trace

from services.ranking.domain.ledger import RankedHit

_ATTRIBUTE = "plumbline.ledger"
# A window of 100 takes some 10 KB; what stands behind it is nobody's first page.
_HITS = 100


def put_on_span(hits: Sequence[RankedHit]) -> None:
    """Put the ledgers of the first hits on the running span; where no trace is recorded, this costs nothing."""
    span = trace.get_current_span()
    if span.is_recording():
        span.set_attribute(_ATTRIBUTE, [told(hit) for hit in hits[:_HITS]])


def told(hit: RankedHit) -> str:
    """One hit in short: its id, its relevance and factor, its place after each step, and why the floor moved it."""
    places = " ".join(f"{place.step}:{place.place}" for place in hit.places)
    redundancy = "" if hit.redundancy is None else f" redundancy {hit.redundancy:.3f}"
    reason = f" ({hit.floor_reason})" if hit.floor_reason else ""
    kind = hit.relevance_kind
    return f"{hit.candidate.id} {kind} {hit.relevance:.3f} x{hit.multiplier:g}{redundancy} {places}{reason}"
