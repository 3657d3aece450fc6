from services.ingest.domain.chunk_profile import ChunkProfile
from services.ingest.domain.packing import pack
from services.ingest.domain.units import Unit


def ranges(sizes: list[int], target: int, overlap: int = 0, minimum: int = 0, whole: int = 0) -> list[tuple[int, int]]:
    units = [Unit(0, place, place + 1, tokens) for place, tokens in enumerate(sizes)]
    return pack(units, ChunkProfile(target, overlap, minimum, whole_section=whole))


def test_units_fill_a_chunk_up_to_the_target() -> None:
    assert ranges([4, 4, 2, 3, 7, 1], target=10) == [(0, 3), (3, 5), (5, 6)]


def test_a_chunk_begins_with_the_units_that_come_nearest_to_the_overlap() -> None:
    # 3 alone misses an overlap of 5 by 2, 3 + 3 by 1.
    assert ranges([3, 3, 3, 3, 3], target=9, overlap=5) == [(0, 3), (1, 4), (2, 5)]
    # 4 misses 2 by as much as nothing does: nothing is repeated.
    assert ranges([4, 4, 4], target=8, overlap=2) == [(0, 2), (2, 3)]
    # 4 misses 3 by 1, nothing misses it by 3.
    assert ranges([4, 4, 4], target=8, overlap=3) == [(0, 2), (1, 3)]


def test_the_overlap_shrinks_where_no_new_unit_would_fit() -> None:
    assert ranges([4, 4, 8], target=9, overlap=4) == [(0, 2), (2, 3)]


def test_a_chunk_of_one_unit_is_not_repeated() -> None:
    assert ranges([8, 1, 1], target=8, overlap=7) == [(0, 1), (1, 3)]


def test_a_rest_below_the_minimum_joins_the_chunk_before() -> None:
    assert ranges([5, 5, 2], target=10, minimum=3) == [(0, 3)]
    assert ranges([5, 5, 3], target=10, minimum=3) == [(0, 2), (2, 3)]
    # With overlap it is the new part that counts, not what is repeated.
    assert ranges([5, 5, 2], target=10, overlap=5, minimum=3) == [(0, 3)]


def test_a_unit_larger_than_the_target_stands_alone() -> None:
    assert ranges([2, 20, 2], target=10) == [(0, 1), (1, 2), (2, 3)]


def test_a_section_that_stays_whole_is_one_chunk() -> None:
    assert ranges([10, 10, 10], target=10, whole=30) == [(0, 3)]
    assert ranges([10, 10, 10], target=10, whole=29) == [(0, 1), (1, 2), (2, 3)]
