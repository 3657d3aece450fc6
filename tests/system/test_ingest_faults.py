"""`kill -9` of ingest, embedding and the index during ingests, ten moments for each pair of engines: nothing is lost.

`make faults-ingest` does the same in fifty moments with 2,000 documents each.
"""

import pytest

from loadtests.ingest_faults.moments import Victim
from loadtests.ingest_faults.pair import EMBEDDED, SERVERS
from loadtests.ingest_faults.run import Plan, run


@pytest.mark.timeout(300)
@pytest.mark.parametrize("pair", [EMBEDDED, pytest.param(SERVERS, marks=[pytest.mark.weaviate, pytest.mark.postgres])])
def test_ten_kills_during_ingests_leave_what_an_undisturbed_one_leaves(
    request: pytest.FixtureRequest, pair: str
) -> None:
    postgres_url = None
    if pair == SERVERS:
        request.getfixturevalue("weaviate_server")  # skips where there is none
        postgres_url = request.getfixturevalue("postgres_catalog_url")

    report = run(Plan(pair, documents=150, moments=10, per_ingest=5, seed=3), print, postgres_url=postgres_url)

    assert [ingest.problems for ingest in report.ingests] == [[], []]
    killed = [moment.victim for ingest in report.ingests for moment in ingest.moments]
    assert len(killed) == 10
    assert set(killed) == set(Victim)
    assert sum(ingest.taken_over for ingest in report.ingests) > 0, "no kill met work that was under way"
