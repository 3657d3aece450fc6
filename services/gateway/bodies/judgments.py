"""`/v1/collections/{c}/judgments`: judged queries, as they are put and as they are read back."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

from services.gateway.bodies.strict import Body, DocumentId, Question, at_part
from services.shared.catalog.collection_settings import Locale
from services.shared.catalog.judgments import MAX_GRADE

MAX_JUDGMENTS = 1000
MAX_GRADED = 1000


class JudgmentBody(Body):
    """A query and the grades of documents for it; the filter is kept as it is given, once it has been checked."""

    id: DocumentId
    query: Question
    locale: Locale | None = Field(None, description="The query's language; null is the collection's.")
    filter: dict[str, Any] | None = Field(None, description="As `POST /v1/search` takes it.")
    relevance: Annotated[
        dict[DocumentId, Annotated[int, Field(ge=0, le=MAX_GRADE)]],
        Field(
            min_length=1,
            max_length=MAX_GRADED,
            description=f"Document id -> grade, 0 (not relevant) to {MAX_GRADE}; one without a grade counts as 0.",
        ),
    ]

    @model_validator(mode="after")
    def _has_something_to_find(self) -> Self:
        if not any(self.relevance.values()):
            raise at_part("relevance", "should hold a document with a grade above 0, else there is nothing to find")
        return self


class JudgmentsBody(Body):
    """Judged queries to keep, all or none of them; each replaces the one with its id."""

    judgments: Annotated[list[JudgmentBody], Field(min_length=1, max_length=MAX_JUDGMENTS)]


class JudgmentView(BaseModel):
    """A judged query."""

    id: str
    query: str
    locale: str | None
    filter: dict[str, Any] | None
    relevance: dict[str, int]


class JudgmentPage(BaseModel):
    """Judged queries by id; `next` is the cursor of the following page, null on the last one."""

    judgments: list[JudgmentView]
    next: str | None
