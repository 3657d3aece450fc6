"""Which characters of a Markdown text stand in code, told while the text arrives.

Fenced blocks and code spans count; indented blocks do not, since lists indent text as well. A span ends with its line
at the latest, so that a stray backtick hides no more than the rest of one line.
"""

# What may stand before a fence on its line: indentation, quotation signs, list markers.
_BEFORE_FENCE = frozenset(" \t>-*+0123456789.)")
_FENCE_LENGTH = 3


class MarkdownCode:
    """Follows a text token by token. How a text is cut into tokens makes no difference."""

    def __init__(self) -> None:
        self._fence: tuple[str, int] | None = None  # sign and length of the run that opened the block
        self._span = 0  # length of the run that opened the span
        self._span_may_be_fence = False
        self._run = ("", 0)  # sign and length of the run that is being read
        self._run_leads_line = False
        self._line_leads = True  # nothing but _BEFORE_FENCE on this line so far
        self._fence_closes = False  # a closing run was read; only white space may follow it on its line
        self._escaped = False

    def takes_literally(self) -> bool:
        """The next character, which is no backtick or tilde, stands in code or behind a backslash."""
        self._end_run()
        return self._escaped or self._in_code()

    def feed(self, token: str) -> None:
        """Go on over `token`: a run of backticks or tildes, a line break, a backslash, or text without any of these."""
        if token[0] in "`~":
            self._feed_run(token[0], len(token))
            return
        self._end_run()
        if token == "\n":
            self._end_line()
            return
        self._escaped = token == "\\" and not self.takes_literally()
        self._fence_closes = self._fence_closes and token.isspace()
        self._line_leads = self._line_leads and _BEFORE_FENCE.issuperset(token)

    def _in_code(self) -> bool:
        return self._fence is not None or self._span > 0

    def _feed_run(self, sign: str, length: int) -> None:
        if self._run[0] != sign:
            self._end_run()
            self._run_leads_line = self._line_leads
        if self._escaped:
            length -= 1
            self._escaped = self._run_leads_line = False
        self._run = (sign, self._run[1] + length)
        self._line_leads = False

    def _end_run(self) -> None:
        sign, length = self._run
        self._run = ("", 0)
        leads = self._run_leads_line
        if length == 0:
            return
        if self._fence:
            self._fence_closes = leads and sign == self._fence[0] and length >= self._fence[1]
        elif self._span:
            if sign == "`":
                self._span_may_be_fence = False  # the words after a fence hold no backtick
                self._span = 0 if length == self._span else self._span
        elif sign == "`":
            self._span, self._span_may_be_fence = length, leads and length >= _FENCE_LENGTH
        elif leads and length >= _FENCE_LENGTH:
            self._fence = (sign, length)

    def _end_line(self) -> None:
        if self._fence_closes:
            self._fence = None
        elif self._span_may_be_fence:
            self._fence = ("`", self._span)
        self._span, self._span_may_be_fence, self._fence_closes = 0, False, False
        self._line_leads, self._escaped = True, False
