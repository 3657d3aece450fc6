import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from loadtests.quality import ready_vectors
from loadtests.quality.judged_set import ReadyVectors
from loadtests.quality.ready_vectors import ComputedVectors, RememberingEncoder, key_of, verified
from services.embedding.adapters.hashing_encoder import HashingEncoder
from services.embedding.domain.embedding import Purpose
from services.embedding.domain.unit_vectors import Matrix
from services.local.failure import Failure
from tests.fakes.encoder import FakeEncoder

TEXTS = [f"text number {number} about {word}" for number, word in enumerate(["tea", "coal", "ships", "bread"] * 10)]
LONG = " ".join(f"word{number}" for number in range(400))


def windows(*texts: str, truncate: bool = False) -> list[tuple[int, ...]]:
    tokenized = HashingEncoder().tokenize(texts, Purpose.PASSAGE, truncate=truncate)
    return [window.pieces for text in tokenized for window in text.windows]


def vectors(*texts: str, truncate: bool = False) -> Matrix:
    rows = HashingEncoder().forward(windows(*texts, truncate=truncate))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@dataclass
class Files:
    """Files of ready vectors in a folder."""

    folder: Path
    numbers: itertools.count  # type: ignore[type-arg]

    def of(self, *texts: str, rows: Matrix) -> ReadyVectors:
        file = self.folder / f"{next(self.numbers)}.npy"
        np.save(file, rows.astype(np.float16))
        return ReadyVectors(file, lambda: texts)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path, itertools.count())


def test_a_known_window_is_not_computed_and_the_others_are(tmp_path: Path, files: Files) -> None:
    real = FakeEncoder()
    known = verified(real, [files.of(*TEXTS, rows=vectors(*TEXTS))])
    computed = ComputedVectors(tmp_path)
    encoder = RememberingEncoder(real, known, computed)
    real.batches.clear()

    rows = encoder.forward(windows(TEXTS[3], "something new", TEXTS[0]))

    assert real.batches == [1]
    np.testing.assert_allclose(rows[[0, 2]], vectors(TEXTS[3], TEXTS[0]), atol=1e-3)
    np.testing.assert_array_equal(rows[1:2], HashingEncoder().forward(windows("something new")))
    assert computed.uses == {"ready": 2, "computed": 1}


def test_what_was_computed_is_not_computed_again(tmp_path: Path) -> None:
    real = FakeEncoder()
    encoder = RememberingEncoder(real, {}, ComputedVectors(tmp_path))
    first = encoder.forward(windows("one", "two"))
    again = encoder.forward(windows("two", "one"))
    assert real.batches == [2]
    np.testing.assert_array_equal(first, again[::-1])


async def test_computed_vectors_are_there_in_the_next_run_with_the_same_weights(tmp_path: Path) -> None:
    before = ComputedVectors(tmp_path)
    before.open("a" * 64)
    rows = RememberingEncoder(FakeEncoder(), {}, before).forward(windows("one", "two"))
    await before.close()

    real, after = FakeEncoder(), ComputedVectors(tmp_path)
    after.open("a" * 64)
    np.testing.assert_array_equal(RememberingEncoder(real, {}, after).forward(windows("one", "two")), rows)
    assert real.batches == []
    other = ComputedVectors(tmp_path)
    other.open("b" * 64)
    assert other.known == {}


async def test_a_run_that_computed_nothing_writes_nothing(tmp_path: Path) -> None:
    computed = ComputedVectors(tmp_path / "folder")
    computed.open("a" * 64)
    await computed.close()
    await ComputedVectors(tmp_path / "folder").close()  # ended before the model was loaded
    assert not (tmp_path / "folder").exists()


def test_a_text_over_the_limit_gives_its_first_window_as_plain_encoding_cuts_it(files: Files) -> None:
    known = verified(FakeEncoder(), [files.of(LONG, rows=vectors(LONG, truncate=True))])
    assert set(known) == {key_of(windows(LONG, truncate=True)[0])}
    assert not {key_of(window) for window in windows(LONG)} & set(known)


def test_vectors_of_other_texts_are_refused(files: Files) -> None:
    with pytest.raises(Failure, match=r"0\.npy was not made of these texts by fake: a cosine is 0\.\d+"):
        verified(FakeEncoder(), [files.of(*TEXTS, rows=vectors(*reversed(TEXTS)))])


def test_one_wrong_vector_in_the_sample_is_enough(files: Files) -> None:
    rows = vectors(*TEXTS[:10])
    rows[7] = rows[6]
    with pytest.raises(Failure, match="was not made of these texts"):
        verified(FakeEncoder(), [files.of(*TEXTS[:10], rows=rows)])


def test_a_sample_of_each_file_is_compared(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    real = FakeEncoder()
    monkeypatch.setattr(ready_vectors, "_SAMPLE", 12)
    verified(real, [files.of(*TEXTS, rows=vectors(*TEXTS)), files.of("few", rows=vectors("few"))])
    assert sum(real.batches) == 12 + 1


def test_a_file_of_another_shape_is_refused(files: Files) -> None:
    with pytest.raises(Failure, match=r"has the shape \(1, 384\), not \(2, 384\)"):
        verified(FakeEncoder(), [files.of("one", "two", rows=vectors("one"))])


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"none\.npy cannot be read"):
        verified(FakeEncoder(), [ReadyVectors(tmp_path / "none.npy", lambda: TEXTS)])


def test_all_else_is_the_real_encoders(tmp_path: Path) -> None:
    real = FakeEncoder()
    encoder = RememberingEncoder(real, {}, ComputedVectors(tmp_path))
    assert encoder.facts == real.facts
    assert encoder.tokenizer_json() == real.tokenizer_json()
    assert encoder.tokenize(["a b"], Purpose.QUERY, truncate=False) == real.tokenize(
        ["a b"], Purpose.QUERY, truncate=False
    )
