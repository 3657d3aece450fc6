"""Web pages: the main part of a page, without its navigation, banners and footers."""

from typing import Any, NamedTuple

import regex
import trafilatura
from lxml.etree import _Element

from services.ingest.adapters.parsers.decoding import clean, decode_html
from services.ingest.adapters.parsers.html_blocks import HEADINGS, HtmlReader, heading_text, parse_html, text_of
from services.ingest.adapters.parsers.outline import Outline
from services.ingest.domain.blocks import ParsedDocument

_IS_PAGE = regex.compile(r"<(?:html|head|body)\b", regex.IGNORECASE)
_NAMES = "translate(concat(' ', @class, ' ', @id), 'ACDEGIKNOPRST', 'acdegiknoprst')"
_CHROME = (
    # A consent dialog may hold more words than the article it covers.
    f"//*[contains({_NAMES}, 'cookie') or contains({_NAMES}, 'gdpr') or contains({_NAMES}, 'consent')]"
    "[not(self::html or self::body or .//h1 or .//main or .//article)]",
    "//*[contains(@class, 'mw-editsection')]",
)
_CHROME_AROUND = "//nav | //header[not(.//h1)] | //footer | //aside | //dialog | //form"
# What trafilatura calls otherwise than HTML does.
_TAGS = {"list": "ul", "item": "li", "quote": "blockquote", "row": "tr", "lb": "br", "graphic": "img"}


def parse_html_file(data: bytes, charset: str = "") -> ParsedDocument:
    """The blocks of an HTML file; `charset` is what its server says. Raises InvalidInput when it is not text."""
    return read_html(decode_html(data, charset))


def read_html(text: str) -> ParsedDocument:
    """The blocks of HTML: of the main part of a page, of all of it when it is only a piece of one.

    The heading that the page is named after stands above everything, also where it is no part of the main part.
    """
    text = clean(text).replace("\f", " ")
    tree = parse_html(text)
    is_page = _IS_PAGE.search(text) is not None
    title = _title(tree)
    main = tree
    if is_page:
        found = _main_part(text, tree)
        main = _without_chrome(tree) if found is None else found
    outline = Outline()
    if title.is_heading and title.text not in (heading_text(found) for found in main.iter(*HEADINGS)):
        outline.heading(1, title.text)
    HtmlReader(outline).read(main)
    return ParsedDocument(title=title.text, blocks=outline.finished())


class _Title(NamedTuple):
    text: str
    is_heading: bool


def _title(tree: _Element) -> _Title:
    """The heading that the page's name repeats, else the first of level 1, else the page's name."""
    names = [text_of(name) for name in tree.iter("title")]
    names += [name.get("content") or "" for name in tree.iter("meta") if name.get("property") == "og:title"]
    first, second = ([heading_text(heading) for heading in tree.iter(tag)] for tag in ("h1", "h2"))
    repeated = [text for text in first if any(text in name for name in names)]
    # Where the site has the only heading of level 1; a lesser one is a section unless it is most of the name.
    repeated += [text for text in second if any(text in name and 2 * len(text) > len(name) for name in names)]
    heading = max(repeated, key=len, default="") or next(iter(first), "")
    return _Title(heading or next(filter(None, names), ""), is_heading=bool(heading))


def _main_part(page: str, tree: _Element) -> _Element | None:
    """The main part of `page`, whose own tree is `tree`, in HTML elements; None when it cannot be told apart."""
    found: Any = trafilatura.bare_extraction(
        page, include_comments=False, include_tables=True, include_formatting=True, prune_xpath=list(_CHROME)
    )
    if found is None:
        return None
    # trafilatura takes what does not look like a program for a quotation.
    preformatted = {text_of(element) for element in tree.iter("pre")}
    for element in found.body.iter():
        match element.tag:
            case "quote" if text_of(element) in preformatted:
                element.tag = "pre"
            case "head":
                element.tag = element.get("rend", "h2")
            case "list" if element.get("rend") == "ol":
                element.tag = "ol"
            case "cell":
                element.tag = "th" if element.get("role") == "head" else "td"
            case "code" if element.getparent().tag in ("body", "blockquote"):
                element.tag = "pre"
            case tag:
                element.tag = _TAGS.get(tag, tag)
    return found.body if text_of(found.body) else None


def _without_chrome(tree: _Element) -> _Element:
    """`tree`, changed in place, without what is known to surround the main part."""
    for path in (*_CHROME, _CHROME_AROUND):
        for element in tree.xpath(path):
            element.drop_tree()
    return tree
