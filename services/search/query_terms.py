"""What is known of a query's words in the generation that serves it: how rare they are, and so how much each tells."""

from dataclasses import dataclass

import structlog

from services.search.domain.bm25 import Bm25
from services.search.domain.idf_mass import IdfMass
from services.search.domain.keywords import keyword_tokens
from services.search.domain.query import Mode, Query
from services.search.domain.query_words import query_words
from services.search.legs import FAILURES
from services.search.ports import Catalog, Generation
from services.search.time_limits import TimeLimits

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The keyword scores of the tokens that the keyword leg looks for, and the mass of the query's words."""

    bm25: Bm25
    mass: IdfMass


class TermLookup:
    """Looks up the statistics of the at most 64 tokens of a query: a search holds no more, however large a generation.

    One statement, beside the legs; figures in docs/decisions/term-statistics.md.
    """

    def __init__(self, catalog: Catalog, limits: TimeLimits) -> None:
        self._catalog = catalog
        self._limits = limits

    async def look_up(self, query: Query, generation: Generation) -> tuple[QueryTerms | None, bool]:
        """The query's terms, and whether the catalog failed to say.

        None without a failure: the keyword leg does not run, it has nothing to look for, or the generation has no
        statistics.
        """
        if Mode.KEYWORD not in query.weights:
            return None, False
        synonyms = query.retrieval.synonyms
        tokens = tuple(keyword_tokens(query.text, query.locale, synonyms))
        if not tokens:
            return None, False
        try:
            async with self._limits.at_most(self._limits.catalog_s, "the catalog"):
                statistics = await self._catalog.term_statistics(generation.id, tokens)
        except FAILURES as failure:
            log.warning("term_statistics_skipped", reason=failure.message)
            return None, True
        if statistics is None:
            return None, False
        words = query_words(query.text, query.locale, synonyms, tokens)
        return QueryTerms(Bm25.of(tokens, statistics), IdfMass.of(words, statistics)), False
