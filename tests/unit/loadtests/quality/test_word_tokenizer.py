from typing import Any

import pytest

from loadtests.quality.judged_set import JudgedSet
from loadtests.quality.word_tokenizer import measured, own_server
from services.local.sample_collections import SampleCollection

pytestmark = [pytest.mark.weaviate, pytest.mark.timeout(300), pytest.mark.usefixtures("weaviate_server")]

DOCUMENTS: list[dict[str, Any]] = [
    {"id": "coffee", "text": "The cafe\u0301 opens."},
    {"id": "moon", "title": "Moon", "text": "The full moon."},
]
JUDGMENTS: list[dict[str, Any]] = [
    {"id": "whole word", "query": "moon", "relevance": {"moon": 1}},
    {"id": "accent in another form", "query": "café", "relevance": {"coffee": 1}},
]


def test_a_set_is_measured_with_the_words_that_weaviate_cuts() -> None:
    content = SampleCollection("tiny", "docs", lambda: [*DOCUMENTS], judgments=lambda: [*JUDGMENTS])
    with own_server() as client:
        # Its word tokenizer does not compose letters: a query with é misses e and its accent.
        assert measured(client, JudgedSet("tiny", "tiny", ("nDCG@10",), content)) == [1.0, 0.0]
        # And again, because nothing is left of the first time.
        assert measured(client, JudgedSet("tiny", "tiny", ("nDCG@10",), content)) == [1.0, 0.0]
