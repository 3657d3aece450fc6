"""The one error of this domain."""


class InvalidQuery(ValueError):
    """The query cannot be served as it is; `field` is the field of the request at fault."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
