"""What travels with a request."""

import asyncio

import pytest

from services.shared.runtime.call import acceptable_request_id, current_call, new_call, serving


@pytest.mark.parametrize("given", ["abc", "a-b_c.9", "x" * 64])
def test_a_harmless_id_from_outside_is_kept(given: str) -> None:
    assert acceptable_request_id(given) == given


@pytest.mark.parametrize("given", [None, "", "x" * 65, "a b", "a\nb", "größe", "../etc", "<b>"])
def test_any_other_id_is_replaced_by_a_random_one(given: str | None) -> None:
    first, second = acceptable_request_id(given), acceptable_request_id(given)
    assert len(first) == 32
    assert first != second


async def test_tasks_started_while_serving_belong_to_the_call_and_later_ones_do_not() -> None:
    async def seen() -> str | None:
        call = current_call()
        return call.request_id if call else None

    with serving(new_call(5.0, "req-1")):
        inside = asyncio.ensure_future(seen())
    outside = asyncio.ensure_future(seen())
    assert await inside == "req-1"
    assert await outside is None


def test_a_call_knows_what_is_left() -> None:
    assert 59 < new_call(60.0).remaining_s() <= 60
    assert new_call(-1.0).remaining_s() < 0
