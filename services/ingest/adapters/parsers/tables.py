"""A table as text: one line a row, `| a | b |`, as Markdown writes it."""

from collections.abc import Sequence


def table_text(rows: Sequence[Sequence[str]], header_rows: int) -> tuple[str, str]:
    """The text of a table and the header it begins with, "" when `header_rows` is 0.

    Short rows are filled up, white space in cells is one space, and a bar in a cell is written `\\|`. A table without
    text is ("", "").
    """
    width = max((len(row) for row in rows), default=0)
    lines = [_row([*row, *[""] * (width - len(row))]) for row in rows]
    if not any(cell.strip() for row in rows for cell in row):
        return "", ""
    if not header_rows:
        return "\n".join(lines), ""
    header = "\n".join([*lines[:header_rows], _row(["---"] * width)])
    return "\n".join([header, *lines[header_rows:]]), header


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
