"""`/v1/jobs`: how far accepted writes are."""

from typing import Literal, TypeAlias

from pydantic import BaseModel

JobState: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]
ENDED: frozenset[JobState] = frozenset(("succeeded", "failed", "cancelled"))


class Outcomes(BaseModel):
    """How many documents ended how."""

    reused: int
    embedded: int
    deleted: int
    failed: int


class DocumentFailure(BaseModel):
    """A document that failed for good."""

    document_id: str
    reason: str


class JobSummary(BaseModel):
    """How far a job is."""

    job_id: str
    collection: str
    state: JobState
    total: int
    done: int
    outcomes: Outcomes


class JobView(JobSummary):
    """How far a job is, with its first 100 failures."""

    failures: list[DocumentFailure]


class JobList(BaseModel):
    """Jobs, newest first."""

    jobs: list[JobSummary]
