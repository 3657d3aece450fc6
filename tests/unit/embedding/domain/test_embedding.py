"""Rows come back to the texts whose windows they are."""

import numpy as np

from services.embedding.domain.embedding import deal_rows
from services.embedding.domain.windows import Span, TokenizedText, Window

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)
TEXTS = (
    TokenizedText(9, (Window(Span(0, 7), (1, 2)), Window(Span(5, 9), (2, 3)))),
    TokenizedText(1, (Window(Span(0, 4), (4,)),), truncated=True),
)


def test_each_text_gets_one_row_for_each_of_its_windows_in_order() -> None:
    long, short = deal_rows(ROWS, TEXTS)
    assert long.vectors.tolist() == [[0, 1], [2, 3]] and short.vectors.tolist() == [[4, 5]]
    assert (long.windows, short.windows) == ((Span(0, 7), Span(5, 9)), (Span(0, 4),))
    assert ((long.tokens, long.truncated), (short.tokens, short.truncated)) == ((9, False), (1, True))


def test_a_text_that_is_kept_does_not_keep_the_vectors_of_all() -> None:
    assert all(text.vectors.base is None for text in deal_rows(ROWS, TEXTS))


def test_no_texts_take_no_rows() -> None:
    assert deal_rows(np.zeros((0, 2), dtype=np.float32), ()) == []
