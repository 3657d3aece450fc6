from pathlib import Path

import pytest

from loadtests.quality.figures import VectorUse, read_figures, write_figures
from services.local.failure import Failure
from tests.unit.loadtests.quality.examples import figures


def test_figures_are_read_as_they_were_written(tmp_path: Path) -> None:
    use = VectorUse(ready=5, computed=6, verified=30, least_cosine=0.9998)
    whole = figures([0.1234, None, 1.0], vectors=use, put_s=None)
    write_figures(whole, tmp_path / "new" / "a-set.json")
    assert read_figures(tmp_path / "new" / "a-set.json") == whole


@pytest.mark.parametrize("text", ["", "{}", '{"name": 1}', "[1, 2"])
def test_a_file_that_holds_something_else_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "a-set.json").write_text(text)
    with pytest.raises(Failure, match=r"a-set\.json holds no figures"):
        read_figures(tmp_path / "a-set.json")
