import dataclasses

import pytest

from services.shared.index.chunk import StoredChunk
from tests.contract.index.examples import EAST, NORTH, a_chunk, as_stored, windows


def test_chunks_are_equal_whatever_their_vectors() -> None:
    assert a_chunk("c1", vectors=windows(EAST)) == a_chunk("c1", vectors=windows(NORTH))
    assert a_chunk("c1", text="a") != a_chunk("c1", text="b")


def test_chunk_to_be_written_needs_vectors_and_a_stored_one_does_not() -> None:
    values = {field.name: getattr(a_chunk("c1"), field.name) for field in dataclasses.fields(StoredChunk)}
    del values["vectors"]
    assert StoredChunk(**values) == as_stored(a_chunk("c1"))
    with pytest.raises(TypeError, match="vectors"):
        type(a_chunk("c1"))(**values)
