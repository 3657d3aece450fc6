from services.ingest.adapters.parsers.html import parse_html_file, read_html

_NAVIGATION = (
    "<nav><ul>" + "".join(f"<li><a href='/{place}'>Place {place}</a></li>" for place in range(30)) + "</ul></nav>"
)
_ARTICLE = (
    "<p>Time off in lieu is leave that is given to people who have worked more hours than their contract asks of "
    "them, in place of money for the extra hours.</p>"
)


def page(body: str, title: str = "Leave at work", before: str = "", after: str = "") -> str:
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title></head><body><header>The Company</header>{_NAVIGATION}"
        f"{before}<main><article>{body}</article></main>{after}<footer>All rights reserved</footer></body></html>"
    )


def test_the_main_part_of_a_page_is_kept_with_its_headings() -> None:
    parsed = read_html(
        page(
            f"<h1>Leave at work</h1>{_ARTICLE}<h2>How to ask</h2>{_ARTICLE}<ul><li>Ask early.</li><li>Write it down."
            "</li></ul><h2>Numbers</h2><table><tr><th>Year</th><th>Days</th></tr><tr><td>2024</td><td>25</td></tr></table>"
        )
    )
    assert parsed.title == "Leave at work"
    assert "Place 7" not in parsed.body and "All rights reserved" not in parsed.body
    assert [(block.kind, block.heading_path) for block in parsed.blocks] == [
        ("paragraph", ("Leave at work",)),
        ("paragraph", ("Leave at work", "How to ask")),
        ("list", ("Leave at work", "How to ask")),
        ("table", ("Leave at work", "Numbers")),
    ]
    assert parsed.blocks[2].text == "- Ask early.\n- Write it down."
    assert parsed.blocks[3].table_header == "| Year | Days |\n| --- | --- |"


def test_a_piece_of_a_page_is_kept_whole() -> None:
    parsed = read_html("<h1>Card</h1><p>Short.</p><footer>Also short.</footer>")
    assert parsed.title == "Card"
    assert [block.text for block in parsed.blocks] == ["Short.", "Also short."]


def test_case_29_a_consent_dialog_does_not_win_over_a_short_article() -> None:
    dialog = "We and our partners store cookies on your device to make this site work and to measure its use. " * 18
    parsed = read_html(
        page(f"<h1>Leave at work</h1>{_ARTICLE}", after=f'<div class="modal-dialog gdpr"><p>{dialog}</p></div>')
    )
    assert "Time off in lieu" in parsed.body
    assert "cookies" not in parsed.body


def test_code_keeps_its_lines() -> None:
    parsed = read_html(
        page(f"<h1>Leave at work</h1>{_ARTICLE}<pre># comment\nset -g mouse on\nbind-key x</pre>{_ARTICLE}")
    )
    (code,) = [block for block in parsed.blocks if block.kind == "code"]
    assert code.text == "# comment\nset -g mouse on\nbind-key x"


def test_the_heading_that_the_page_is_named_after_stands_above_all() -> None:
    site = "<h1>Our blog</h1>"
    parsed = read_html(
        page(f"<h2>Leave at work explained</h2>{_ARTICLE}", title="Leave at work explained - blog", before=site)
    )
    assert parsed.title == "Leave at work explained"
    assert {block.heading_path for block in parsed.blocks} == {("Leave at work explained",)}


def test_a_page_without_headings_is_named_by_its_title() -> None:
    parsed = read_html(page(_ARTICLE))
    assert parsed.title == "Leave at work"
    assert {block.heading_path for block in parsed.blocks} == {()}


def test_a_page_that_a_script_draws_holds_no_blocks() -> None:
    parsed = read_html(
        "<html><head><title>App</title></head><body><div id=app></div><script>draw()</script></body></html>"
    )
    assert parsed.blocks == ()


def test_a_file_is_decoded_by_what_it_says() -> None:
    text = "日本語の文章です。"
    data = f'<html><head><meta charset="shift_jis"></head><body><p>{text}</p></body></html>'.encode("shift_jis")
    assert parse_html_file(data, "iso-8859-1").body == text
