"""The address of a request: read as its caller wrote it, or refused; nothing in it is ignored."""

import re
from collections import Counter
from urllib.parse import unquote_to_bytes

from fastapi import Request
from starlette.convertors import Convertor, register_url_convertor
from starlette.types import Scope

from services.shared.runtime.errors import InvalidInput

_HALF_AN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class AnyIdConvertor(Convertor[str]):
    """The rest of a path, line breaks included, so that an id that cannot be is refused as one."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        """As it is."""
        return value

    def to_string(self, value: str) -> str:
        """As it is."""
        return value


register_url_convertor("any_id", AnyIdConvertor())


def check_encoding(scope: Scope) -> None:
    """Raises InvalidInput for a path or a parameter that is not UTF-8, percent-encoded.

    Servers and frameworks decode such a one to replacement characters, so that different ids become the same.
    """
    if not _is_decodable(scope["raw_path"]):
        raise _not_encoded("path")
    for pair in scope["query_string"].split(b"&"):
        if not _is_decodable(pair):
            name = unquote_to_bytes(pair.partition(b"=")[0]).decode(errors="replace")
            raise _not_encoded(name or "query")


def _is_decodable(encoded: bytes) -> bool:
    try:
        unquote_to_bytes(encoded).decode()
    except UnicodeDecodeError:
        return False
    return _HALF_AN_ESCAPE.search(encoded) is None


def _not_encoded(field: str) -> InvalidInput:
    return InvalidInput("should be UTF-8, percent-encoded; a percent sign itself is %25", field=field)


async def check_parameters(request: Request) -> None:
    """Raises InvalidInput naming a query parameter that the route does not have, or that is given twice."""
    known = {parameter.alias for parameter in request.scope["route"].dependant.query_params}
    for name, times in Counter(name for name, _ in request.query_params.multi_items()).items():
        if name not in known:
            raise InvalidInput("there is no such parameter here; check its spelling", field=name)
        if times > 1:
            raise InvalidInput("give this parameter once", field=name)
