"""`/v1/collections/{c}/documents` and `/files`: what is put and what is read back."""

from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from services.gateway.bodies.absent import Absent
from services.gateway.bodies.strict import Body, DocumentId, Value, at_part
from services.shared.index.fields import FieldValue

CONTENT_KINDS = ("text", "markdown", "html")
MAX_DOCUMENTS = 1000


class DocumentBody(Body):
    """A document: an `id`, or a `uri` that it is derived from, and exactly one of `text`, `markdown`, `html`."""

    id: DocumentId | None = None
    title: str = ""
    uri: str = ""
    locale: str = ""
    date: str = ""
    metadata: dict[str, Value] = Field(default_factory=dict)
    text: str | None = None
    markdown: str | None = None
    html: str | None = None

    @model_validator(mode="after")
    def _has_a_name_and_one_content(self) -> Self:
        if self.id is None and not self.uri.strip():
            raise at_part("id", "give the document an id, or a uri that it can be derived from")
        given = [kind for kind in CONTENT_KINDS if getattr(self, kind) is not None]
        if not given:
            raise at_part("text", "give the document's content as `text`, `markdown` or `html`")
        if len(given) > 1:
            raise at_part(given[1], f"give one content only, not {' and '.join(given)}")
        if not getattr(self, given[0]).strip():
            raise at_part(given[0], "should have at least one character that is not whitespace")
        return self


class DocumentsBody(Body):
    """Documents to store, all or none of them."""

    documents: Annotated[list[DocumentBody], Field(min_length=1, max_length=MAX_DOCUMENTS)]


class Accepted(BaseModel):
    """The write is durable; the job applies it."""

    job_id: str


class DocumentView(BaseModel):
    """A document as the catalog knows it; `chunks` counts what is searchable of it now."""

    id: str
    title: str
    uri: str | None
    locale: str
    date: str | None
    metadata: dict[str, FieldValue]
    chunks: int


class DocumentPage(BaseModel):
    """Documents by id; `next` is the cursor of the following page, null on the last one."""

    documents: list[DocumentView]
    next: str | None


class ChunkView(BaseModel):
    """A stored piece of a document."""

    chunk_id: str
    heading_path: list[str]
    pages: Absent[list[int]] = None
    text: str
    tokens: int


class DocumentWithChunks(BaseModel):
    """A document with its chunks in document order."""

    id: str
    title: str
    uri: str | None
    locale: str
    date: str | None
    metadata: dict[str, FieldValue]
    chunks: list[ChunkView]
