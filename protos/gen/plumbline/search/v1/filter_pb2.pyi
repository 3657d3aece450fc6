from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Operator(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPERATOR_UNSPECIFIED: _ClassVar[Operator]
    OPERATOR_EQ: _ClassVar[Operator]
    OPERATOR_NE: _ClassVar[Operator]
    OPERATOR_IN: _ClassVar[Operator]
    OPERATOR_GT: _ClassVar[Operator]
    OPERATOR_GTE: _ClassVar[Operator]
    OPERATOR_LT: _ClassVar[Operator]
    OPERATOR_LTE: _ClassVar[Operator]
    OPERATOR_EXISTS: _ClassVar[Operator]
OPERATOR_UNSPECIFIED: Operator
OPERATOR_EQ: Operator
OPERATOR_NE: Operator
OPERATOR_IN: Operator
OPERATOR_GT: Operator
OPERATOR_GTE: Operator
OPERATOR_LT: Operator
OPERATOR_LTE: Operator
OPERATOR_EXISTS: Operator

class Value(_message.Message):
    __slots__ = ("text", "integer", "number", "boolean")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    BOOLEAN_FIELD_NUMBER: _ClassVar[int]
    text: str
    integer: int
    number: float
    boolean: bool
    def __init__(self, text: _Optional[str] = ..., integer: _Optional[int] = ..., number: _Optional[float] = ..., boolean: bool = ...) -> None: ...

class Comparison(_message.Message):
    __slots__ = ("field", "op", "values")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    field: str
    op: Operator
    values: _containers.RepeatedCompositeFieldContainer[Value]
    def __init__(self, field: _Optional[str] = ..., op: _Optional[_Union[Operator, str]] = ..., values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...

class FilterList(_message.Message):
    __slots__ = ("filters",)
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    filters: _containers.RepeatedCompositeFieldContainer[Filter]
    def __init__(self, filters: _Optional[_Iterable[_Union[Filter, _Mapping]]] = ...) -> None: ...

class Filter(_message.Message):
    __slots__ = ("all", "any", "comparison")
    ALL_FIELD_NUMBER: _ClassVar[int]
    ANY_FIELD_NUMBER: _ClassVar[int]
    NOT_FIELD_NUMBER: _ClassVar[int]
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    all: FilterList
    any: FilterList
    comparison: Comparison
    def __init__(self, all: _Optional[_Union[FilterList, _Mapping]] = ..., any: _Optional[_Union[FilterList, _Mapping]] = ..., comparison: _Optional[_Union[Comparison, _Mapping]] = ..., **kwargs) -> None: ...
