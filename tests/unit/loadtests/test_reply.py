import pytest

from loadtests.reply import Reply, Times, measures

# Due at 10.0, left 5 ms late, whole at 10.105.
TIMES = Times(intended=10.0, started=10.005, ended=10.105)


def measured_ms(reply: Reply) -> dict[str, float]:
    return {name: pytest.approx(seconds * 1000) for name, seconds in measures(reply, TIMES)}


def test_a_search_tells_its_stages_the_slower_leg_and_what_lies_around_it() -> None:
    stages = {"embed": 20.0, "keyword": 15.0, "vector": 25.0, "fuse": 1.0, "rank": 4.0, "total": 60.0}
    assert measured_ms(Reply(stages_ms=stages)) == {
        "latency": 105.0,
        "hops": 40.0,  # 100 ms from the real start, less the 60 of the server
        "server.legs": 25.0,
        **{f"server.{name}": milliseconds for name, milliseconds in stages.items()},
    }


def test_a_stage_that_did_not_run_is_left_out() -> None:
    measured = measured_ms(Reply(stages_ms={"embed": 0.0, "keyword": 15.0, "vector": 0.0, "total": 20.0}))
    assert "server.embed" not in measured
    assert "server.vector" not in measured
    assert measured["server.legs"] == 15.0


def test_tokens_and_moments_count_from_the_intended_start() -> None:
    reply = Reply(tokens_at=[10.050, 10.060, 10.080], moments={"accepted": 10.030})
    found = [(name, pytest.approx(seconds * 1000)) for name, seconds in measures(reply, TIMES)]
    assert found == [
        ("latency", 105.0),
        ("accepted", 30.0),
        ("first_token", 50.0),
        ("between_tokens", 10.0),
        ("between_tokens", 20.0),
    ]


def test_an_answer_without_text_has_no_first_token() -> None:
    assert measured_ms(Reply()) == {"latency": 105.0}
