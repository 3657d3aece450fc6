"""What `make eval` measures: a collection with judged queries, and what it takes to measure it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from services.local.sample_collections import SampleCollection

Mode: TypeAlias = Literal["keyword", "vector", "hybrid"]


@dataclass(frozen=True, slots=True)
class ReadyVectors:
    """Vectors that were made before: row i of the `.npy` file is of text i."""

    file: Path
    texts: Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A set by its name.

    `content` is what is put into `collection` first; without it the collection is there already. `watched` are the
    measures in which a set may not become worse, `attribute` the field whose different values are counted, `clock` the
    day from which ages are counted, YYYY-MM-DD; without it, today. Unless it is `filtered`, queries are asked without
    their filters. `plain` holds what plain tools reach, by how they did it.
    """

    name: str
    collection: str
    watched: tuple[str, ...]
    content: SampleCollection | None = None
    model: str = "all-MiniLM-L6-v2"
    modes: tuple[Mode, ...] = ("keyword", "vector", "hybrid")
    attribute: str | None = None
    clock: str | None = None
    filtered: bool = True
    plain: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    ready: tuple[ReadyVectors, ...] = ()
