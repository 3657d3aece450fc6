"""The encoder behind an endpoint: whole batches, the endpoint's refusals as ours, tokens counted or estimated."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import openai
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from services.embedding.adapters import openai_encoder
from services.embedding.adapters.openai_encoder import OpenAIEncoder, counted_spans, estimated_spans, tokens_of
from services.embedding.domain.embedding import Purpose
from services.embedding.ports import UnfitModel
from services.shared.runtime.errors import DependencyUnavailable, InvalidInput, Overloaded
from tests.fakes.embeddings_endpoint import EmbeddingsEndpoint, embeddings_endpoint


@pytest.fixture
def endpoint() -> Iterator[EmbeddingsEndpoint]:
    with embeddings_endpoint() as running:
        yield running


@pytest.fixture(autouse=True)
def without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that cannot fetch tiktoken's tables."""

    def unknown(model: str) -> Any:
        raise KeyError(model)

    monkeypatch.setattr(openai_encoder.tiktoken, "encoding_for_model", unknown)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def encoder_of(endpoint: EmbeddingsEndpoint, **knobs: Any) -> OpenAIEncoder:
    client = openai.OpenAI(base_url=endpoint.url, api_key="the-key", timeout=5, max_retries=0)
    return OpenAIEncoder(client, model="some-model", **({"max_tokens": 100} | knobs))


def test_the_dimensions_are_those_of_the_first_reply_and_the_key_is_sent(endpoint: EmbeddingsEndpoint) -> None:
    facts = encoder_of(endpoint).facts
    assert (facts.name, facts.kind, facts.dimensions, facts.max_tokens) == ("some-model", "openai", 1536, 100)
    assert facts.tokens_estimated
    assert endpoint.keys == ["Bearer the-key"]


def test_a_batch_is_one_request_and_its_vectors_come_back_in_order(endpoint: EmbeddingsEndpoint) -> None:
    encoder = encoder_of(endpoint)
    texts = ["time off", " in lieu ", "明月 C++"]
    windows = [text.windows[0].pieces for text in encoder.tokenize(texts, Purpose.PASSAGE, truncate=False)]
    rows = encoder.forward(windows)
    assert endpoint.requests[-1]["input"] == ["time off", " in lieu", "明月 C++"]
    expected = [endpoint.vector(text) for text in endpoint.requests[-1]["input"]]
    assert rows == pytest.approx(np.array(expected), abs=1e-5)


def test_more_texts_than_a_request_takes_go_in_several(
    endpoint: EmbeddingsEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_encoder, "_MOST_INPUTS", 2)
    assert encoder_of(endpoint).forward([["a"], ["b"], ["c"]]).shape == (3, 1536)
    assert [request["input"] for request in endpoint.requests[1:]] == [["a", "b"], ["c"]]


def hint_of(endpoint: EmbeddingsEndpoint, header: str) -> float | None:
    """The seconds that a caller is told when the endpoint refuses with this Retry-After."""
    encoder = encoder_of(endpoint)
    endpoint.refusals = [(429, {"retry-after": header})]
    with pytest.raises(Overloaded) as refusal:
        encoder.forward([["a"]])
    return refusal.value.retry_after_s


@pytest.mark.parametrize("header", ["7", "7.0"])
def test_a_rate_limit_is_overloaded_with_the_endpoints_own_hint(endpoint: EmbeddingsEndpoint, header: str) -> None:
    assert hint_of(endpoint, header) == 7


def test_the_hint_of_a_rate_limit_may_be_a_date(endpoint: EmbeddingsEndpoint) -> None:
    in_an_hour = datetime.now(UTC) + timedelta(hours=1)
    assert hint_of(endpoint, format_datetime(in_an_hour, usegmt=True)) == pytest.approx(3600, abs=60)


@pytest.mark.parametrize("header", ["", "soon", "-1", "nan", "inf", "1.2.3"])
def test_a_hint_that_cannot_be_read_is_a_second(endpoint: EmbeddingsEndpoint, header: str) -> None:
    assert hint_of(endpoint, header) == 1


def test_until_the_hint_is_over_the_endpoint_is_not_asked(endpoint: EmbeddingsEndpoint) -> None:
    clock = Clock()
    encoder = encoder_of(endpoint, clock=clock)
    endpoint.refusals = [(429, {"retry-after": "7"})]
    for waited, left in ((0.0, 7.0), (5.0, 2.0)):
        clock.now = 100.0 + waited
        with pytest.raises(Overloaded) as refusal:
            encoder.forward([["a"]])
        assert refusal.value.retry_after_s == left
    asked = len(endpoint.requests)
    clock.now = 107.0
    assert encoder.forward([["a"]]).shape == (1, 1536)
    assert len(endpoint.requests) == asked + 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidInput),
        (413, InvalidInput),
        (401, DependencyUnavailable),
        (403, DependencyUnavailable),
        (404, DependencyUnavailable),
        (500, DependencyUnavailable),
        (503, DependencyUnavailable),
    ],
)
def test_a_refusal_is_ours_and_quotes_nothing(endpoint: EmbeddingsEndpoint, status: int, kind: type[Exception]) -> None:
    encoder = encoder_of(endpoint)
    endpoint.refusals = [(status, {})]
    with pytest.raises(kind) as refusal:
        encoder.forward([["a"]])
    assert "secret" not in str(refusal.value)


def test_an_endpoint_that_is_gone_is_unavailable() -> None:
    with embeddings_endpoint() as gone:
        encoder = encoder_of(gone)
    with pytest.raises(DependencyUnavailable, match="does not answer"):
        encoder.forward([["a"]])


def test_vectors_of_another_size_than_before_are_refused(endpoint: EmbeddingsEndpoint) -> None:
    encoder = encoder_of(endpoint)
    endpoint.dimensions = 768
    with pytest.raises(DependencyUnavailable, match="768"):
        encoder.forward([["a"]])


def test_an_endpoint_that_refuses_the_very_first_text_makes_the_model_unfit(endpoint: EmbeddingsEndpoint) -> None:
    endpoint.refusals = [(400, {})]
    with pytest.raises(UnfitModel):
        encoder_of(endpoint)


@given(st.text())
def test_estimated_tokens_cover_all_that_can_be_read_in_order(text: str) -> None:
    spans = estimated_spans(text)
    assert "".join(text[span.start : span.end] for span in spans) == text[: spans[-1].end if spans else 0]
    assert not text[spans[-1].end if spans else 0 :].strip()


def test_an_estimate_counts_rather_too_many_tokens() -> None:
    # GPT-4's tokens: "The", " information", " is", " here", "." are 5.
    assert len(estimated_spans("The information is here.")) == 7
    assert len(estimated_spans("明月")) == 2


def test_a_model_that_tiktoken_knows_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    encoding = tiktoken.Encoding("tiny", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})
    monkeypatch.setattr(openai_encoder.tiktoken, "encoding_for_model", lambda model: encoding)
    spans, is_estimated = tokens_of("some-model")
    text = "abc é"
    assert not is_estimated
    # `ab`, `c`, the blank, and `é` in two bytes: the first of them is the character's beginning.
    assert [text[span.start : span.end] for span in spans(text)] == ["ab", "c", " ", "", "é"]
    assert counted_spans(encoding, "") == []
