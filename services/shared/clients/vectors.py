"""Vectors on the wire: packed bytes to and from numpy."""

from typing import Any

import numpy as np
import numpy.typing as npt

from plumbline.embedding.v1 import vectors_pb2 as pb
from services.shared.runtime.errors import InvalidInput

_DTYPES: dict["pb.VectorDtype", np.dtype[Any]] = {
    pb.VECTOR_DTYPE_FLOAT16: np.dtype("<f2"),
    pb.VECTOR_DTYPE_FLOAT32: np.dtype("<f4"),
}


def pack_vectors(rows: npt.NDArray[np.float32], dtype: "pb.VectorDtype") -> pb.PackedVectors:
    """(n, d) float32 as packed bytes of `dtype`, which must be set."""
    return pb.PackedVectors(
        data=np.ascontiguousarray(rows, dtype=_DTYPES[dtype]).tobytes(),
        dtype=dtype,
        dimensions=rows.shape[1],
        rows=rows.shape[0],
    )


def unpack_vectors(packed: pb.PackedVectors, *, field: str) -> npt.NDArray[np.float32]:
    """The rows as (n, d) float32.

    Raises InvalidInput naming `field` for an unset dtype, a wrong size, NaN or infinity.
    """
    dtype = _DTYPES.get(packed.dtype)
    if dtype is None:
        raise InvalidInput("set dtype to VECTOR_DTYPE_FLOAT16 or VECTOR_DTYPE_FLOAT32", field=f"{field}.dtype")
    expected = packed.rows * packed.dimensions * dtype.itemsize
    if len(packed.data) != expected:
        raise InvalidInput(
            f"{packed.rows} rows of {packed.dimensions} {dtype.name} are {expected} bytes, not {len(packed.data)}",
            field=f"{field}.data",
        )
    rows: npt.NDArray[np.float32] = (
        np.frombuffer(packed.data, dtype=dtype).reshape(packed.rows, packed.dimensions).astype(np.float32)
    )
    if not np.isfinite(rows).all():
        raise InvalidInput("a vector holds NaN or infinity", field=f"{field}.data")
    return rows
