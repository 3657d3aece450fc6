from services.search.domain.invalid_query import InvalidQuery


def test_an_invalid_query_says_what_is_wrong_and_where() -> None:
    error = InvalidQuery("give a query", field="query")
    assert (str(error), error.message, error.field) == ("give a query", "give a query", "query")
