import pytest

from services.ingest.domain.chunk_profile import ChunkProfile, chunk_profile


@pytest.mark.parametrize(
    ("target", "overlap", "minimum", "complaint"),
    [
        (100, 100, 0, "overlap"),
        (100, 101, 0, "overlap"),
        (100, -1, 0, "overlap"),
        (0, 0, 0, "target"),
        (100, 20, 101, "minimum"),
        (100, 20, -1, "minimum"),
    ],
)
def test_sizes_that_contradict_each_other_are_refused(target: int, overlap: int, minimum: int, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        ChunkProfile(target, overlap, minimum)


def test_only_plain_counts_characters() -> None:
    measures = {
        name: chunk_profile(name, target=400, overlap=50, minimum=0).measure
        for name in ("docs", "paper", "lesson", "entry", "plain")
    }
    assert [name for name, measure in measures.items() if measure == "characters"] == ["plain"]


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="docs, paper, lesson, entry and plain"):
        chunk_profile("book", target=400, overlap=50, minimum=100)
