"""Whether this process takes requests."""

from typing import Literal


class Readiness:
    """`starting` until the catalog has answered once, `ready`, then `draining` to the end."""

    def __init__(self) -> None:
        self.state: Literal["starting", "ready", "draining"] = "starting"

    @property
    def is_ready(self) -> bool:
        """Whether requests should come here."""
        return self.state == "ready"

    def become_ready(self) -> None:
        """The catalog has answered."""
        if self.state == "starting":
            self.state = "ready"

    def drain(self) -> None:
        """The process is about to end."""
        self.state = "draining"
