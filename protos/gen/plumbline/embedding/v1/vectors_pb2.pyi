from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class VectorDtype(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VECTOR_DTYPE_UNSPECIFIED: _ClassVar[VectorDtype]
    VECTOR_DTYPE_FLOAT16: _ClassVar[VectorDtype]
    VECTOR_DTYPE_FLOAT32: _ClassVar[VectorDtype]
VECTOR_DTYPE_UNSPECIFIED: VectorDtype
VECTOR_DTYPE_FLOAT16: VectorDtype
VECTOR_DTYPE_FLOAT32: VectorDtype

class PackedVectors(_message.Message):
    __slots__ = ("data", "dtype", "dimensions", "rows")
    DATA_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    dtype: VectorDtype
    dimensions: int
    rows: int
    def __init__(self, data: _Optional[bytes] = ..., dtype: _Optional[_Union[VectorDtype, str]] = ..., dimensions: _Optional[int] = ..., rows: _Optional[int] = ...) -> None: ...
