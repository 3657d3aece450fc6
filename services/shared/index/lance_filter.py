"""Filters as the SQL that LanceDB reads. Pure.

Every comparison says that its value is there, so it is never NULL and `NOT` is a true complement. (LanceDB's own
expression builder is not used: it renders a string's quotes unescaped where it is turned into SQL.)
"""

from collections.abc import Collection, Iterable

from services.shared.index.fields import BUILT_IN_FIELDS, FieldValue
from services.shared.index.filters import AllOf, AnyOf, Comparison, Filter, Not, Op

_BUILT_IN_COLUMNS = {"id": "document_id", "date": "date_start"}
_COMPARED_BY = {Op.EQ: "=", Op.GT: ">", Op.GTE: ">=", Op.LT: "<", Op.LTE: "<="}


def column_of(field: str) -> str:
    """The column that filters on `field` compare; the prefix keeps declared fields apart from all other columns."""
    return _BUILT_IN_COLUMNS.get(field, field) if field in BUILT_IN_FIELDS else f"m_{field}"


def to_sql(filter: Filter, columns: Collection[str]) -> str:
    """The condition for a filter in normal form; a field whose column is not among `columns` is always missing."""
    match filter:
        case AllOf(filters):
            return _joined(" AND ", filters, columns) or "true"
        case AnyOf(filters):
            return _joined(" OR ", filters, columns) or "false"
        case Not(part):
            return f"NOT ({to_sql(part, columns)})"
        case Comparison(field, op, values):
            column = column_of(field)
            if column not in columns or (op is Op.IN and not values):
                return "false"
            there = f"{column} IS NOT NULL"
            if op is Op.EXISTS:
                return there
            if op is Op.IN:
                return f"{there} AND {one_of(column, values)}"
            return f"{there} AND {column} {_COMPARED_BY[op]} {literal(values[0])}"


def one_of(column: str, values: Iterable[FieldValue]) -> str:
    """`column` equals one of `values`, of which there is at least one."""
    return f"{column} IN ({', '.join(map(literal, values))})"


def literal(value: FieldValue) -> str:
    """`value` written so that the SQL reader gets back the same value and nothing else.

    A quote is doubled; nothing else, the backslash included, has a meaning inside quotes.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return repr(value)


def _joined(word: str, filters: Iterable[Filter], columns: Collection[str]) -> str:
    return word.join(f"({to_sql(part, columns)})" for part in filters)
