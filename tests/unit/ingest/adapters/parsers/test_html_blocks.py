import pytest

from services.ingest.adapters.parsers.html_blocks import HtmlReader, heading_text, parse_html, text_of
from services.ingest.adapters.parsers.outline import Outline
from services.ingest.domain.blocks import Block
from services.shared.runtime.errors import InvalidInput


def read(markup: str) -> tuple[Block, ...]:
    outline = Outline()
    HtmlReader(outline).read(parse_html(markup))
    return outline.finished()


def texts(markup: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in read(markup)]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("Main St<br>East", "Main St East"),
        ("<ul><li>a.</li><li>B</li></ul>", "- a. - B"),
        ("<i>duoraad</i>slid.", "duoraadslid."),
        ("<p>a</p>b<div>c</div>", "a b c"),
        ("<custom-note>a</custom-note>b", "ab"),
        ("one\n   two", "one two"),
    ],
)
def test_case_28_words_are_neither_glued_nor_broken(markup: str, text: str) -> None:
    assert " ".join(" ".join(text for _, text in texts(markup)).split()) == text


def test_headings_make_paths_and_lose_the_sign_that_links_to_them() -> None:
    assert read("<h1>C# <a href='#c'>#</a></h1>x<h2><a href='/y'>Only a link</a>¶</h2><p>y</p>") == (
        Block("paragraph", "x", ("C#",), (1,)),
        Block("paragraph", "y", ("C#", "Only a link"), (1, 2)),
    )


def test_kinds_of_blocks() -> None:
    assert texts(
        "<p>p<br>q</p><blockquote>said <p>twice</p></blockquote><pre>  a\n<b>b</b><br>c</pre>"
        "<figure><img alt='A cat'><figcaption>Figure 1</figcaption></figure>"
    ) == [
        ("paragraph", "p\nq"),
        ("quote", "said"),
        ("quote", "twice"),
        ("code", "  a\nb\nc"),
        ("paragraph", "A cat"),
        ("caption", "Figure 1"),
    ]


def test_lists_are_nested_numbered_and_interrupted_by_other_blocks() -> None:
    assert texts(
        "<ol start=3><li>three<ul><li><p>inner</p><p>more</p></li></ul></li><li>four<pre>code</pre></li>"
        "<li><h3>five</h3></li></ol>"
    ) == [
        ("list", "3. three\n  - inner\n    more\n4. four"),
        ("code", "code"),
        ("list", "5. five"),
    ]


def test_what_a_reader_does_not_see_is_left_out() -> None:
    assert texts("<script>x</script><style>y</style><!-- z --><template>t</template>a<button>Copy</button>") == [
        ("paragraph", "a")
    ]


def test_a_table_with_its_header_and_caption() -> None:
    caption, table = read(
        "<table><caption>Sales</caption><thead><tr><td>Name</td><td>Q1</td></tr></thead>"
        "<tbody><tr><td>a<ul><li>b</li></ul></td><td>1<br>2</td></tr></tbody></table>"
    )
    assert caption == Block("caption", "Sales")
    header = "| Name | Q1 |\n| --- | --- |"
    assert table == Block("table", header + "\n| a b | 1 2 |", table_header=header)


def test_header_cells_make_header_rows_and_spans_keep_columns_in_place() -> None:
    (table,) = read(
        "<table><tr><th rowspan=2>Name</th><th colspan=2>Year</th></tr><tr><th>1</th><th>2</th></tr>"
        "<tr><td>yes</td><td>yes</td><td rowspan=2>no</td></tr><tr><td>a</td><td>b</td></tr></table>"
    )
    assert table.text == ("| Name | Year |  |\n|  | 1 | 2 |\n| --- | --- | --- |\n| yes | yes | no |\n| a | b |  |")


def test_a_table_that_only_places_things_is_read_as_what_it_holds() -> None:
    assert texts(
        "<table><tr><td>menu</td><td><h1>T</h1><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>"
    ) == [
        ("paragraph", "menu"),
        ("table", "| a | b |"),
    ]


def test_text_of_parts_blocks_and_joins_inline_elements() -> None:
    tree = parse_html("<div>a<b>b</b><p>c</p><script>x</script>d<br>e</div>")
    assert text_of(tree) == "ab c d e"
    assert heading_text(parse_html("<h2>Install #</h2>")) == "Install"


def test_html_that_the_parser_gives_up_on_is_refused_not_cut() -> None:
    with pytest.raises(InvalidInput, match="too deeply"):
        parse_html("<div>" * 300 + "text")


def test_a_declared_encoding_is_no_obstacle() -> None:
    assert texts('<?xml version="1.0" encoding="latin-1"?><html><body><p>é</p></body></html>') == [("paragraph", "é")]
