import io

from services.local.progress import ProgressLine


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_the_line_grow_and_end() -> None:
    terminal = FakeTerminal()
    line = ProgressLine("papers", 200, "documents", terminal)
    line.show(50)
    line.show(300)
    line.finish(", 3 failed")
    shown = terminal.getvalue().split("\r")[1:]
    assert shown[0].startswith("papers  [######..................] 50/200 documents")
    assert shown[1].startswith("papers  [########################] 200/200 documents")
    assert shown[2].startswith("papers  200 documents in ")
    assert shown[2].endswith(" s, 3 failed\x1b[K\n")


def test_a_log_sees_only_the_finished_line() -> None:
    log = io.StringIO()
    line = ProgressLine("papers", 2, "documents", log)
    line.show(1)
    line.finish()
    assert log.getvalue().startswith("papers  2 documents in ")
    assert log.getvalue().count("\n") == 1


def test_an_empty_total_is_a_full_bar() -> None:
    terminal = FakeTerminal()
    ProgressLine("nothing", 0, "documents", terminal).show(0)
    assert "[########################] 0/0" in terminal.getvalue()
