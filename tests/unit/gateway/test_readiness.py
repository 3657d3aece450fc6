from services.gateway.readiness import Readiness


def test_a_process_is_ready_between_its_start_and_its_end() -> None:
    readiness = Readiness()
    assert (readiness.state, readiness.is_ready) == ("starting", False)
    readiness.become_ready()
    assert readiness.is_ready
    readiness.drain()
    assert (readiness.state, readiness.is_ready) == ("draining", False)


def test_a_process_that_drains_does_not_become_ready_again() -> None:
    readiness = Readiness()
    readiness.drain()
    readiness.become_ready()
    assert readiness.state == "draining"
