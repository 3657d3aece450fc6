"""A language course as a learner uses it: a lesson that is published again changes the next answer."""

import time

import pytest

from services.local.sample_collections import SAMPLES
from tests.system.conftest import Stack

COURSE = next(sample for sample in SAMPLES if sample.name == "first-steps")
LESSON = "en-a1-u2-where-is-the-bank"
OLD, NEW = "a place that keeps people's money", "a place that keeps boats dry in winter"
# The encoder that needs no weights knows words only, so the question has some of the lesson's.
QUESTION = "What is a bank, a place that keeps what?"
INSIDE_THE_LESSON = {
    "all": [{"field": field, "op": "eq", "value": value} for field, value in (("locale", "en"), ("unit", "2"))]
}


@pytest.fixture(scope="module", params=["embedded", pytest.param("weaviate", marks=pytest.mark.weaviate)])
def course(request: pytest.FixtureRequest) -> Stack:
    """The stack on each engine, with the course in it."""
    stack: Stack = request.getfixturevalue(f"{request.param}_stack")
    assert stack.http.post("/v1/collections", json=COURSE.creation()).status_code == 201
    assert stack.put(COURSE.name, *COURSE.documents())["state"] == "succeeded"
    return stack


def answer(course: Stack) -> str:
    asked = {"question": QUESTION, "filter": INSIDE_THE_LESSON, "stream": False}
    response = course.http.post("/v1/answers", json={"collection": COURSE.name, **asked})
    assert response.status_code == 200, response.text
    return response.json()["text"]


def texts(course: Stack) -> str:
    hits = course.search(COURSE.name, QUESTION, filter=INSIDE_THE_LESSON, limit=50)["hits"]
    return "\n".join(hit["text"] for hit in hits)


def test_a_lesson_published_again_changes_the_next_answer(course: Stack) -> None:
    assert OLD in answer(course)
    lesson = next(document for document in COURSE.documents() if document["id"] == LESSON)
    changed = {**lesson, "markdown": lesson["markdown"].replace(OLD, NEW)}
    assert changed != lesson
    accepted = course.http.put(f"/v1/collections/{COURSE.name}/documents", json={"documents": [changed]})
    began = time.perf_counter()
    while OLD in (seen := texts(course)):
        assert NEW not in seen
        assert time.perf_counter() - began < 60
    print(f"applied and searchable {time.perf_counter() - began:.3f} s after it was accepted")
    assert NEW in seen
    assert (NEW in (after := answer(course)), OLD in after) == (True, False)
    assert course.finished(accepted.json()["job_id"])["state"] == "succeeded"


def test_an_exercise_is_found_by_its_code_first(course: Stack) -> None:
    for code in ("E1_2", "E5_3", "E12_1"):
        best = course.search(COURSE.name, f"What do I have to do in exercise {code}?", locale="en")["hits"][0]
        assert code in best["text"] + " ".join(best["heading_path"])
