"""When which process is killed."""

from loadtests.ingest_faults.moments import Victim, draw_moments


def test_moments_are_numbered_through_all_ingests_and_in_the_order_of_their_shares() -> None:
    ingests = draw_moments(12, per_ingest=5, seed=1)

    assert [[moment.number for moment in moments] for moments in ingests] == [
        [1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10],
        [11, 12],
    ]
    for moments in ingests:
        shares = [moment.share for moment in moments]
        assert shares == sorted(shares)
        assert 0 < shares[0] <= shares[-1] < 1


def test_each_victim_has_its_turn_before_any_has_another() -> None:
    victims = [moment.victim for moments in draw_moments(10, per_ingest=4, seed=7) for moment in moments]

    assert [set(victims[start : start + 3]) for start in (0, 3, 6)] == [set(Victim)] * 3


def test_one_seed_draws_the_same_and_another_something_else() -> None:
    first, again, other = (draw_moments(6, per_ingest=6, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
