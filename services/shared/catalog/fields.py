"""The fields a document can be filtered by, and the checks of the values it gives for them. Pure."""

import re
from collections.abc import Mapping

from services.shared.index.fields import (
    BUILT_IN_FIELDS,
    EXPECTED,
    FieldType,
    FieldValue,
    comparable,
    start_of_period,
)
from services.shared.runtime.errors import InvalidInput

MAX_DECLARED_FIELDS = 64  # each becomes a column or property of the index, with an index of its own
MAX_ID_LENGTH = 512  # code points; an id is a key of every engine, and PostgreSQL's keys end near 2,700 bytes
# Code points. Title, address and keywords are stored with every chunk of a document, and each chunk is embedded with
# the title.
MAX_TITLE_LENGTH = 512
MAX_URI_LENGTH = 2_048
MAX_KEYWORD_LENGTH = 1_024
LOCALE_PATTERN = r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}"

_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_LOCALE = re.compile(LOCALE_PATTERN)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def check_fields(fields: Mapping[str, object]) -> dict[str, FieldType]:
    """The declared fields by name. Raises InvalidInput naming `fields.<name>`."""
    if len(fields) > MAX_DECLARED_FIELDS:
        raise InvalidInput(f"at most {MAX_DECLARED_FIELDS} fields can be declared", field="fields")
    return {name: _check_field(name, kind) for name, kind in fields.items()}


def _check_field(name: str, kind: object) -> FieldType:
    field = f"fields.{name}"
    if name in BUILT_IN_FIELDS:
        raise InvalidInput(f"'{name}' is built in; choose another name", field=field)
    if not _FIELD_NAME.fullmatch(name):
        raise InvalidInput("a field's name begins with a-z and has at most 62 more of a-z, 0-9 and _", field=field)
    try:
        return FieldType(str(kind))
    except ValueError:
        raise InvalidInput(f"the type of a field is one of {', '.join(FieldType)}", field=field) from None


def check_locale(value: object, *, field: str) -> str:
    """`value` if it looks like a BCP 47 tag (`en`, `zh-Hans`). Raises InvalidInput naming `field`."""
    if not isinstance(value, str) or not _LOCALE.fullmatch(value):
        raise InvalidInput("a locale is a language tag such as 'en', 'tr' or 'zh-Hans'", field=field)
    return value


def check_document_id(value: object, *, field: str) -> str:
    """`value` if it can be an id: 1 to 512 code points, not blank. Raises InvalidInput naming `field`."""
    if isinstance(value, str) and value.strip() and len(value) <= MAX_ID_LENGTH and not _CONTROL.search(value):
        return value
    raise InvalidInput(f"an id has 1 to {MAX_ID_LENGTH} characters and no control character", field=field)


def check_text(value: str, *, max_length: int, field: str) -> str:
    """`value` if it is text of at most `max_length` code points. Raises InvalidInput naming `field`."""
    name = field.rpartition(".")[2]
    if len(value) > max_length:
        raise InvalidInput(f"'{name}' has {len(value)} characters; at most {max_length} are taken", field=field)
    if _LONE_SURROGATE.search(value):
        raise InvalidInput(f"'{name}' holds half a surrogate pair, which is no character", field=field)
    if "\0" in value:
        raise InvalidInput(f"'{name}' holds U+0000, which PostgreSQL cannot keep; leave it out", field=field)
    return value


def check_date(value: object, *, field: str) -> str:
    """`value` if it is a day, month or year that exists. Raises InvalidInput naming `field`."""
    if isinstance(value, str) and start_of_period(value) is not None:
        return value
    raise InvalidInput("a date is YYYY, YYYY-MM or YYYY-MM-DD and exists in the calendar", field=field)


def check_metadata(
    fields: Mapping[str, FieldType], metadata: Mapping[str, object], *, path: str
) -> dict[str, FieldValue]:
    """`metadata` in the declared types; a null is left out, which is the same as a missing value.

    A float without a fraction is an integer where one is declared, because JSON does not tell them apart.
    A keyword has at most 1,024 code points. `path` is where the caller has it (`documents[3].metadata`). Raises
    InvalidInput naming `<path>.<field>`.
    """
    return {name: _check_value(fields, name, value, path) for name, value in metadata.items() if value is not None}


def _check_value(fields: Mapping[str, FieldType], name: str, value: object, path: str) -> FieldValue:
    declared = fields.get(name)
    if declared is None:
        names = ", ".join(sorted(fields)) or "none"
        shown = repr(name[:63])[1:-1]  # an unknown name may have any length and characters that cannot be sent
        raise InvalidInput(f"'{shown}' is not declared; the declared fields are: {names}", field=f"{path}.{shown}")
    field = f"{path}.{name}"
    if declared is FieldType.DATE:
        return check_date(value, field=field)
    if declared is FieldType.KEYWORD and isinstance(value, str):
        return check_text(value, max_length=MAX_KEYWORD_LENGTH, field=field)
    try:
        if isinstance(value, str | int | float | bool):
            compared = comparable(value, declared)
            return value if isinstance(value, str) or compared is None else compared
    except ValueError:
        pass
    raise InvalidInput(f"'{name}' is declared as {declared}: {EXPECTED[declared]}", field=field)
