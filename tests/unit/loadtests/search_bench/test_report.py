from loadtests.figures import figures
from loadtests.recording import histogram, record
from loadtests.search_bench.against_bare import AgainstBare
from loadtests.search_bench.against_native import AgainstNative, Quality
from loadtests.search_bench.loading import Import
from loadtests.search_bench.quantiles import Times, times_of
from loadtests.search_bench.report import Effort, EngineReport, Filtered, checks


def all_at(milliseconds: float) -> Times:
    return times_of([milliseconds])


def an_effort(effort: int, recall: float) -> Effort:
    times = all_at(5)
    return Effort(
        effort=effort, recall_at_10=recall, recall_at_100=recall, keyword_ms=times, vector_ms=times, both_ms=times,
        client_mib=1, server_mib=0,
    )  # fmt: skip


def an_engine(recalls: list[float], filtered: float) -> EngineReport:
    return EngineReport(
        engine="lancedb",
        imported=Import(chunks=1, chunks_per_s=1, upkeep_s=1, disk_mib=1),
        efforts=[an_effort(effort, recall) for effort, recall in zip((64, 128, 256), recalls, strict=True)],
        filters=[Filtered(what="8.0% anywhere", share=0.08, recall_at_100=filtered, vector_ms=all_at(5))],
        stages_ms={},
    )


def kept(engines: list[EngineReport], bare: list[AgainstBare], native: AgainstNative | None) -> dict[str, bool]:
    return {check.what: check.is_kept for check in checks(engines, bare, native)}


def test_recall_at_the_default_effort_and_through_filters_has_a_floor() -> None:
    good = kept([an_engine([0.90, 0.97, 0.99], filtered=0.95)], [], None)
    assert all(good.values()) and len(good) == 3
    bad = kept([an_engine([0.90, 0.96, 0.99], filtered=0.94)], [], None)
    assert [what for what, is_kept in bad.items() if not is_kept] == [
        "lancedb: recall@10 at 128",
        "lancedb: recall@100, 8.0% anywhere",
    ]


def test_an_effort_that_moves_nothing_is_a_miss() -> None:
    assert kept([an_engine([0.98, 0.98, 0.98], filtered=1)], [], None) == {
        "lancedb: recall@10 at 128": True,
        "lancedb: recall@100 gained from effort 64 to 256": False,
        "lancedb: recall@100, 8.0% anywhere": True,
    }


def test_search_may_take_a_seventh_and_6_ms_longer_than_the_bare_client() -> None:
    def pair(ours: float) -> AgainstBare:
        return AgainstBare(engine="lancedb", chunks=1, search=all_at(ours), caller=all_at(99), bare=all_at(20))

    # 1.15 x 20 + 6 = 29
    assert all(kept([], [pair(28.9)], None).values())
    assert not any(kept([], [pair(29.1)], None).values())


def test_search_is_held_to_the_p95_and_the_quality_of_the_native_query() -> None:
    def native(ours_s: float, quality: float) -> AgainstNative:
        ours, theirs = histogram(), histogram()
        record(ours, ours_s)
        record(theirs, 0.010)
        return AgainstNative(
            chunks=1, rate_per_s=10, seconds_each=1, search=figures(ours), native=figures(theirs), errors={},
            quality=Quality(judged_set="scifact", queries=1, search=quality, native_ranked=0.7, native_relative=0.8),
        )  # fmt: skip

    assert list(kept([], [], native(0.0129, 0.70)).values()) == [True, True]
    assert list(kept([], [], native(0.0132, 0.69)).values()) == [False, False]
