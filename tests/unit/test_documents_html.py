"""HTML as people see it, and LaTeXML's papers."""

from __future__ import annotations

import time

import pytest

from documents_fixtures import assert_whole, html, located, shared, texts
from reread.documents import load, load_bytes
from reread.types import Document

# -- what is seen and what is not ---------------------------------------------------------------


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>HIDDEN</script>",
        "<style>HIDDEN</style>",
        "<template><p>HIDDEN</p></template>",
        "<noscript>HIDDEN</noscript>",
        "<p hidden>HIDDEN</p>",
        "<div style='color:red; Display : NONE'>HIDDEN<p>HIDDEN</p></div>",
        "<span style='visibility:hidden'>HIDDEN</span>",
        "<!-- HIDDEN -->",
        "<nav><a href='/'>HIDDEN</a></nav>",
        "<dialog>HIDDEN</dialog>",
        "<svg><title>HIDDEN</title></svg>",
        "<iframe>HIDDEN</iframe>",
        "<a class='headerlink' href='#here' title='HIDDEN'>¶</a>",
    ],
)
def test_hidden_text_is_not_read(hidden: str) -> None:
    assert html(f"before {hidden} after").text.split() == ["before", "after"]


@pytest.mark.parametrize(
    "visible",
    [
        "<p aria-hidden=true>SEEN</p>",
        "<figcaption>SEEN</figcaption>",
        "<details><summary>SEEN</summary></details>",
        "<dl><dt>SEEN</dt></dl>",
        "<center>SEEN</center>",
        "<button>SEEN</button>",
        "<div style='background:none'>SEEN</div>",
        "<unknown-tag>SEEN</unknown-tag>",
        "<table>SEEN</table>",
        "<table><tr>SEEN</tr></table>",
        "<table><tr><td>SEEN",
    ],
)
def test_visible_text_is_never_lost(visible: str) -> None:
    document = html(f"before {visible} after")
    assert document.text.count("SEEN") == 1
    assert {"before", "after"} <= set(document.text.split())


def test_order_and_text_directly_in_the_body() -> None:
    document = html("a<p>b</p>c<div>d<p>e</p>f</div>g<!-- x -->h")
    assert texts(document) == ["a", "b", "c", "d", "e", "f", "gh"]


def test_white_space_is_as_browsers_show_it() -> None:
    document = html("<p>  one\n\t two<b> three</b>four <i> five</i>&nbsp; six<br>\n seven </p>")
    assert document.text == "one two threefour five\u00a0 six\nseven"


def test_preformatted_text_keeps_its_spaces() -> None:
    document = html("<pre>def f():\n    return  1\n</pre>")
    assert texts(document, "code") == ["def f():\n    return  1"]


def test_headings_are_the_locator() -> None:
    document = html("<h1>A <b>b</b></h1><p>p1<h2>C</h2><p>p2<h3>D</h3><p>p3<h2>E</h2><p>p4")
    found = located(document)
    assert [found[p] for p in ("p1", "p2", "p3", "p4")] == ["A b", "C", "C › D", "E"]
    assert document.title == "A b"


def test_the_title_comes_from_the_head() -> None:
    page = b"<html><head><title> The\n Title </title></head><body><h1>Other</h1><p>x"
    document = load_bytes(page, name="a.html")
    assert document.title == "The Title"
    assert located(document)["x"] == "Other"


def test_lists_keep_marks_numbers_and_nesting() -> None:
    document = html(
        "<ol start=3><li>three<li>four<ul><li>inner</ul><li><p>five</p></ol>"
        "<dl><dt>term<dd>meaning</dl>"
    )
    assert texts(document, "list") == ["3. three\n4. four\n  - inner\n5. five", "term\nmeaning"]


def test_tables_are_rows_and_columns_keep_their_place() -> None:
    document = html(
        "<table><caption>Table 1. Ducks</caption>"
        "<tr><th>kind<th>size<th>n</tr>"
        "<tr><td rowspan=2>Mallard<td>big<td>1<tr><td>small<td>2"
        "<tr><td colspan=2>all<td>3</table>"
    )
    assert texts(document, "caption") == ["Table 1. Ducks"]
    assert texts(document, "table") == [
        "kind | size | n\nMallard | big | 1\n | small | 2\nall |  | 3"
    ]


def test_a_table_that_lays_out_a_page_is_read_as_blocks() -> None:
    document = html("<table><tr><td><h1>T</h1><p>one</p><td><p>two</p></table>")
    assert [(p.kind, p.locator) for p in document.paragraphs] == [
        ("heading", "T"), ("text", "T"), ("text", "T"),
    ]  # fmt: skip


def test_quotes_captions_and_notes_are_known_by_kind() -> None:
    document = html(
        "<blockquote>said</blockquote><figure><figcaption>shown</figcaption></figure>"
        "<p>text<sup><a href='#fn1'>1</a></sup> and 10<sup>5</sup> on the 1<sup>st</sup></p>"
        "<section class='footnotes'><ol><li id='fn1'>the note</li></ol></section>"
    )
    assert texts(document, "quote") == ["said"]
    assert texts(document, "caption") == ["shown"]
    assert texts(document, "text") == ["text[1] and 10^5 on the 1st"]
    assert texts(document, "note") == ["1. the note"]


def test_mathematics_is_read_as_latex() -> None:
    tex = "<annotation encoding='application/x-tex'>x^2</annotation>"
    document = html(
        f"<p>let <math><semantics><mi>x</mi>{tex}</semantics></math> and "
        "<math alttext='\\displaystyle y_1'><mi>y</mi></math> and <math><mi>z</mi></math></p>"
    )
    assert document.text == "let $x^2$ and $y_1$ and z"


def test_entities_and_soft_hyphens() -> None:
    assert html("<p>caf&eacute; &amp; co&shy;op &#8211; &unknown; &#150;</p>").text == (
        "café & coop – &unknown; –"
    )


def test_no_entity_is_expanded() -> None:
    bomb = "<!DOCTYPE html [<!ENTITY a 'boom'><!ENTITY b '&a;&a;'>]><html><body>x &b;</body></html>"
    assert "boomboom" not in load_bytes(bomb.encode(), name="a.html").text


# -- hostile pages ------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["div", "b", "blockquote", "table><tr><td", "ul><li"])
def test_deep_nesting_loses_nothing_and_ends_soon(tag: str) -> None:
    started = time.process_time()
    document = html("start" + f"<{tag}> w" * 20_000 + "<p>end</p>")
    assert time.process_time() - started < 10
    assert document.text.startswith("start")
    assert document.text.endswith("end")
    assert document.text.split().count("w") == 20_000


def test_a_huge_span_costs_nothing() -> None:
    document = html("<table><tr><td colspan=999999999 rowspan=99999>a<td>b</table>" * 2)
    assert len(document.text) < 1000


def test_a_declaration_of_xml_is_no_obstacle() -> None:
    page = '<?xml version="1.0" encoding="utf-16"?><html><body><p>fine é</p></body></html>'
    assert load_bytes(page.encode(), name="a.xhtml").text == "fine é"


# -- LaTeXML ------------------------------------------------------------------------------------

MATH = '<math class="ltx_Math" alttext="{}" display="{}"><mi>shown</mi></math>'


def note(mark: str, text: str) -> str:
    return (
        f'<span class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">{mark}</sup>'
        f'<span class="ltx_note_outer"><span class="ltx_note_content"><sup class="ltx_note_mark">'
        f'{mark}</sup><span class="ltx_tag ltx_tag_note">{mark}</span>{text}</span></span></span>'
    )


PAPER = f"""<!DOCTYPE html><html><head><title>On Flow</title></head><body>
<nav class="ltx_page_navbar">NAVIGATION</nav><header>SITE</header>
<div class="ltx_page_main"><article class="ltx_document">
<h1 class="ltx_title ltx_title_document">On Flow</h1>
<div class="ltx_authors"><span class="ltx_creator"><span class="ltx_personname">A. Author
</span><span class="ltx_author_notes"><span class="ltx_contact">A University</span></span>
</span></div>
<div class="ltx_dates">(July 2019)</div>
<div class="ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6>
<p class="ltx_p">We flow.</p></div>
<section class="ltx_section"><h2 class="ltx_title ltx_title_section">
<span class="ltx_tag">1 </span>Theory</h2>
<div class="ltx_para"><p class="ltx_p">Let {MATH.format("a%&#10;_{1}", "inline")} be
so{note("2", "A <i>note</i> here.")} and on.</p>
<table class="ltx_equation ltx_eqn_table"><tbody><tr class="ltx_equation ltx_eqn_row">
<td class="ltx_eqn_cell ltx_eqn_center_padleft"></td>
<td class="ltx_eqn_cell">{MATH.format("E=mc^{2},", "block")}</td>
<td class="ltx_eqn_cell ltx_eqn_eqno"><span class="ltx_tag ltx_tag_equation">(3)</span></td>
</tr></tbody></table>
<table class="ltx_equationgroup ltx_eqn_table"><tbody><tr class="ltx_equation ltx_eqn_row">
<td class="ltx_eqn_cell">{MATH.format("&#92;displaystyle x", "inline")}</td>
<td class="ltx_eqn_cell">{MATH.format("&#92;displaystyle =y", "inline")}</td></tr></tbody></table>
</div>
<div class="ltx_theorem"><h6 class="ltx_title ltx_runin ltx_title_theorem">Theorem 1.</h6>
<div class="ltx_para"><p class="ltx_p">It holds.</p></div></div>
<div class="ltx_para"><p class="ltx_p">Therefore:</p>
<ul class="ltx_itemize"><li class="ltx_item"><span class="ltx_tag ltx_tag_item">•</span>
<div class="ltx_para"><p class="ltx_p">first</p></div></li>
<li class="ltx_item"><span class="ltx_tag ltx_tag_item">(b)</span>
<div class="ltx_para"><p class="ltx_p">second</p></div></li></ul></div>
<figure class="ltx_table"><figcaption class="ltx_caption"><span class="ltx_tag">Table 1: </span>
Sizes</figcaption><span class="ltx_tabular"><span class="ltx_tr"><span class="ltx_td">d</span>
<span class="ltx_td">{MATH.format("5", "inline")}{note("3", "In cm.")}</span></span>
<span class="ltx_tr"><span class="ltx_td">e</span><span class="ltx_td">6{note("3", "In cm.")}</span>
</span></span></figure>
<div class="ltx_listing"><div class="ltx_listing_data"><a href="data:">DOWNLOAD</a></div>
<div class="ltx_listingline">for x:</div><div class="ltx_listingline">  go</div></div>
</section>
<section class="ltx_bibliography"><h2 class="ltx_title ltx_title_bibliography">References</h2>
<ul class="ltx_biblist"><li class="ltx_bibitem"><span class="ltx_tag ltx_tag_bibitem">[1]</span>
<span class="ltx_bibblock">A. Author.</span> <span class="ltx_bibblock">A Book.</span></li>
<li class="ltx_bibitem"><span class="ltx_tag ltx_tag_bibitem">[2]</span>
<span class="ltx_bibblock">B. Author.</span></li></ul></section>
</article></div><footer class="ltx_page_footer">Generated by LaTeXML</footer></body></html>"""


@pytest.fixture(scope="module")
def paper() -> Document:
    return load_bytes(PAPER.encode(), name="paper.html")


def test_a_paper_as_a_whole(paper: Document) -> None:
    assert_whole(paper)
    found = [(paper.text[p.start : p.end], p.kind, p.locator) for p in paper.paragraphs]
    theory = "1 Theory"
    assert found == [
        ("On Flow", "heading", "On Flow"),
        ("A. Author, A University", "text", "On Flow"),
        ("(July 2019)", "text", "On Flow"),
        ("Abstract", "heading", "Abstract"),
        ("We flow.", "text", "Abstract"),
        ("1 Theory", "heading", theory),
        ("Let $a_{1}$ be so[^2] and on.", "text", theory),
        ("[^2]: A note here.", "note", theory),
        ("$$E=mc^{2},$$ (3)", "math", theory),
        ("$$x =y$$", "math", theory),
        ("Theorem 1.", "heading", f"{theory} › Theorem 1."),
        ("It holds.", "text", f"{theory} › Theorem 1."),
        ("Therefore:", "text", theory),
        ("- first\n(b) second", "list", theory),
        ("Table 1: Sizes", "caption", theory),
        ("d | $5$[^3]\ne | 6[^3]", "table", theory),
        ("[^3]: In cm.", "note", theory),
        ("for x:\n  go", "code", theory),
    ]


def test_references_are_kept_apart(paper: Document) -> None:
    assert paper.references == "[1] A. Author. A Book.\n[2] B. Author."
    assert "References" not in paper.text


def test_only_the_article_is_read(paper: Document) -> None:
    for word in ("NAVIGATION", "SITE", "DOWNLOAD", "Generated", "shown"):
        assert word not in paper.text


def test_notes_without_a_paragraph_are_kept() -> None:
    page = f'<article class="ltx_document"><p class="ltx_p">{note("", "alone")}</p></article>'
    document = load_bytes(page.encode(), name="a.html")
    assert [(p.kind, document.text) for p in document.paragraphs] == [("note", "alone")]


# -- real pages ---------------------------------------------------------------------------------


def test_a_real_paper() -> None:
    document = load(shared("readerfiles/html-latexml/1307.8133.html"))
    assert_whole(document)
    assert document.title == "Slow axial drift in three-dimensional granular tumbler flow"
    assert document.words == 7097
    assert len(document.references.splitlines()) == 54
    assert texts(document, "heading")[1:4] == ["Abstract", "I Introduction", "II Band Deformation"]
    assert len(texts(document, "caption")) == 14
    assert len(texts(document, "table")) == 2
    notes = texts(document, "note")
    assert notes[0] == "[^1]: For particle-particle and particle-wall interactions."
    assert document.text.count("For particle-particle and particle-wall interactions.") == 1
    assert "diameters of 8–14 cm" in document.text
    assert r"Friction coefficient[^1] $\mu$ | 0.7" in document.text
    assert "Generated on" not in document.text


def test_a_real_page_of_a_wiki() -> None:
    document = load(shared("readerfiles/html-other/wiki_duck.html"))
    assert_whole(document)
    assert "Kingdom: | Animalia" in document.text
    assert "Duck is the common name for numerous species of waterfowl" in document.text


def test_a_real_page_in_windows_1252() -> None:
    document = load(shared("readerfiles/html-other/fake-html-cp1252.html"))
    assert "Die schöne Frau hat einen Kaffee mit Kuchen gegessen." in document.text
    assert "ñoquis" in document.text
    assert "15,50 €" in document.text


def test_one_manual_reads_alike_as_text_and_as_html() -> None:
    page = load(shared("readerfiles/same-content-formats/debian-policy/html/ch-files.html"))
    text = load(shared("readerfiles/same-content-formats/debian-policy/policy.txt"))
    words = set(text.text.split())
    lost = [w for w in page.text.split() if w.isalpha() and w not in words]
    assert len(lost) < 0.03 * len(page.text.split())
