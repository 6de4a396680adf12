"""Articles in JATS: told once and in order, with notes near their marks and references apart."""

from __future__ import annotations

import pytest

from documents_fixtures import assert_whole, located, texts
from reread.documents import load_bytes
from reread.errors import DamagedDocument, EmptyDocument
from reread.types import Document

DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.2 20190208//EN"'
    ' "JATS-journalpublishing1.dtd">\n'
)
SPACES = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML"'


def article(body: str = "", front: str = "", back: str = "") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{DOCTYPE}<article {SPACES} article-type="research'
        f'-article" dtd-version="1.2"><front>{front}</front><body>{body}</body><back>{back}</back>'
        "</article>"
    )


def jats(body: str = "", front: str = "", back: str = "", *, name: str = "a.xml") -> Document:
    document = load_bytes(article(body, front, back).encode(), name=name)
    assert document.media_type == "application/jats+xml"
    assert_whole(document)
    return document


def body(content: str) -> list[str]:
    return texts(jats(content))


FRONT = """<journal-meta><journal-title-group><journal-title>Journal of Reading</journal-title>
</journal-title-group></journal-meta><article-meta>
<article-id pub-id-type="pmid">1</article-id><article-id pub-id-type="doi">10.1/x</article-id>
<title-group><article-title>Slow <italic>reading</italic> of
H<sub>2</sub>O<xref ref-type="fn" rid="none">*</xref></article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Lee</surname><given-names>Ann B.
</given-names></name><xref ref-type="aff" rid="a1">1</xref></contrib><contrib
contrib-type="author"><collab>The Readers</collab></contrib><contrib contrib-type="editor"><name>
<surname>No</surname></name></contrib></contrib-group><aff id="a1"><label>1</label>Reading
Institute, Town</aff><pub-date><day>1</day><year>2021</year></pub-date><volume>4</volume>
<issue>2</issue><fpage>10</fpage><lpage>19</lpage><abstract><sec><title>Aims</title><p>To read.</p>
</sec></abstract><abstract abstract-type="summary"><title>In short</title><p>We read.</p></abstract>
<kwd-group><kwd>reading</kwd><kwd>memory</kwd></kwd-group></article-meta>"""


def test_front_matter() -> None:
    document = jats("<sec><title>One</title><p>Words.</p></sec>", FRONT)
    title = "Slow reading of H2O"
    assert document.title == title
    assert located(document) == {
        title: title,
        "Ann B. Lee, The Readers": title,
        "Reading Institute, Town": title,
        "Journal of Reading, 2021, 4(2):10–19, doi:10.1/x": title,
        "Abstract": "Abstract",
        "Aims": "Abstract › Aims",
        "To read.": "Abstract › Aims",
        "In short": "In short",
        "We read.": "In short",
        "Keywords: reading, memory": title,
        "One": "One",
        "Words.": "One",
    }


def test_sections_stand_in_each_other() -> None:
    document = jats(
        "<p>Lead.</p><sec><label>1</label><title>One</title><p>A.</p><sec><label>1.1</label>"
        "<title>Deep</title><p>B.</p></sec><p>C.</p></sec><sec><title>Two</title><p>D.</p></sec>"
    )
    assert located(document) == {
        **{"Lead.": None, "1 One": "1 One", "A.": "1 One", "1.1 Deep": "1 One › 1.1 Deep"},
        **{"B.": "1 One › 1.1 Deep", "C.": "1 One", "Two": "Two", "D.": "Two"},
    }


def test_running_text() -> None:
    assert body(
        "<p>At 10<sup>5</sup> rates,<break/>see <bold>Fig. <xref ref-type='fig' rid='f'>1</xref>"
        "</bold> <ext-link xlink:href='http://a.org'>there</ext-link>.</p>"
    ) == ["At 10^5 rates,\nsee Fig. 1 there."]


@pytest.mark.parametrize(
    ("cited", "shown"),
    [
        ('<xref ref-type="bibr" rid="B1">1</xref>', "known1"),
        ('<xref ref-type="bibr" rid="B1"><sup>1</sup></xref>', "known[1]"),
        (
            '<sup><xref ref-type="bibr" rid="B1">1</xref>,<xref rid="B2">2</xref></sup>',
            "known[1,2]",
        ),
        (' [<xref ref-type="bibr" rid="B1">1</xref>]', "known [1]"),
        (' (<xref ref-type="bibr" rid="B1">Lee, 2019</xref>)', "known (Lee, 2019)"),
    ],
)
def test_citations(cited: str, shown: str) -> None:
    assert body(f"<p>known{cited}</p>") == [shown]


def test_figures_tables_and_boxes() -> None:
    document = jats(
        '<fig id="F1"><label>Figure 1</label><caption><title>A plot.</title><p>Of <italic>x'
        '</italic>.</p></caption><alt-text>no</alt-text><graphic xlink:href="x"/></fig>'
        "<fig><label>Figure 2.</label></fig>"
        "<table-wrap><label>Table 1</label><caption><p>Scores</p></caption><table><thead><tr><th>"
        'Name</th><th colspan="2">Score</th></tr></thead><tbody><tr><td rowspan="2">Ann</td><td>1'
        '<xref ref-type="table-fn" rid="t1"><sup>a</sup></xref></td><td><p>2</p></td></tr><tr><td>'
        '3</td><td>4</td></tr></tbody></table><table-wrap-foot><fn id="t1"><label>a</label><p>'
        "Guessed.</p></fn></table-wrap-foot></table-wrap><boxed-text><label>Box 1</label><caption>"
        "<title>Key points</title></caption><p>Read twice.</p></boxed-text>"
    )
    assert [(p.kind, document.text[p.start : p.end]) for p in document.paragraphs] == [
        ("caption", "Figure 1. A plot. Of x."),
        ("caption", "Figure 2."),
        ("caption", "Table 1. Scores"),
        ("table", "Name | Score\nAnn | 1[a] | 2\n | 3 | 4"),
        ("note", "[^a]: Guessed."),
        ("caption", "Box 1. Key points"),
        ("text", "Read twice."),
    ]


def test_lists_quotes_code_and_definitions() -> None:
    document = jats(
        '<list list-type="order"><list-item><p>One</p><list list-type="bullet"><list-item><p>Sub'
        "</p></list-item></list></list-item><list-item><p>Two</p></list-item></list>"
        "<disp-quote><p>To be.</p></disp-quote><code>if x:\n  y</code>"
        "<def-list><def-item><term>GM</term><def><p>gist memory</p></def></def-item></def-list>"
        "<list><list-item><label>(a)</label><p>Own</p></list-item></list>"
    )
    assert [(p.kind, document.text[p.start : p.end]) for p in document.paragraphs] == [
        ("list", "1. One\n  - Sub\n2. Two"),
        ("quote", "To be."),
        ("code", "if x:\n  y"),
        ("list", "GM: gist memory"),
        ("list", "(a) Own"),
    ]


# -- formulas -------------------------------------------------------------------------------------

TEX = r"\documentclass{minimal}\usepackage{amsmath}\begin{document}$$x^2$$\end{document}"


def m(name: str, *parts: str) -> str:
    return f"<mml:{name}>{''.join(parts)}</mml:{name}>"


X, Y, TWO = m("mi", "x"), m("mi", "y"), m("mn", "2")


def test_formulas() -> None:
    formula = f"<alternatives><tex-math>{TEX}</tex-math><mml:math>{X}</mml:math></alternatives>"
    document = jats(
        f"<p>So <inline-formula>{formula}</inline-formula> and <inline-formula>z</inline-formula>:"
        f"<disp-formula><label>(1)</label>{formula}</disp-formula> then.</p>"
    )
    assert texts(document) == ["So $x^2$ and $z$:", "$$x^2$$ (1)", "then."]
    assert texts(document, "math") == ["$$x^2$$ (1)"]


@pytest.mark.parametrize(
    ("math", "latex"),
    [
        (m("msup", X, TWO), "x^{2}"),
        (m("mfrac", m("mrow", X, m("mo", "+"), Y), TWO), r"\frac{x+y}{2}"),
        (m("msqrt", X, Y), r"\sqrt{xy}"),
        (m("mroot", X, TWO), r"\sqrt[2]{x}"),
        (m("msubsup", X, Y, TWO), "x_{y}^{2}"),
        (m("munderover", m("mo", "∑"), Y, TWO) + X, "∑_{y}^{2}x"),
        (m("mover", X, m("mo", "¯")), r"\bar{x}"),
        (m("mfenced", X, Y), "(x,y)"),
        (m("mtable", m("mtr", m("mtd", X), m("mtd", Y)), m("mtr", m("mtd", TWO))), r"x & y \\ 2"),
        (m("mrow", X, m("mo", "\u2062"), m("mtext", "if so")), r"x\text{if so}"),
        (m("msup", X), "x"),
        ("<mml:semantics>" + X + '<mml:annotation encoding="application/x-tex">\\x</mml:annotation>'
         "</mml:semantics>", r"\x"),
    ],
)  # fmt: skip
def test_mathml(math: str, latex: str) -> None:
    assert body(f"<p><inline-formula><mml:math>{math}</mml:math></inline-formula></p>") == [
        f"${latex}$"
    ]


# -- notes and back matter ------------------------------------------------------------------------


def test_notes_follow_the_paragraph_that_calls_them() -> None:
    document = jats(
        '<p>Said<xref ref-type="fn" rid="n1">a</xref> twice<xref ref-type="fn" rid="n1"><sup>a'
        "</sup></xref>, x<fn><label>b</label><p>Inline.</p></fn>.</p><p>Next.</p>",
        back='<fn-group><title>Notes</title><fn id="n1"><label>a</label><p>See <xref ref-type="fn"'
        ' rid="n2">c</xref>.</p></fn><fn id="n2"><p>Never called.</p></fn></fn-group>',
    )
    assert [(p.kind, document.text[p.start : p.end]) for p in document.paragraphs] == [
        ("text", "Said[^a] twice[^a], x[^b]."),
        ("note", "[^a]: See [^c]."),
        ("note", "[^b]: Inline."),
        ("text", "Next."),
        ("heading", "Notes"),
        ("note", "Never called."),
    ]


def test_back_matter() -> None:
    document = jats(
        "<sec><title>One</title><p>A.</p></sec>",
        back="<ack><p>Thanks.</p></ack><app-group><app><label>A</label><title>More</title><p>B.</p>"
        "</app></app-group><ref-list><title>References</title><ref><label>1.</label><mixed-citation>"
        "<name><surname>Lee</surname> <given-names>A</given-names></name>. <source>On</source>. "
        "2019.</mixed-citation></ref><ref><element-citation><person-group><name><surname>Roe"
        "</surname><given-names>B</given-names></name><name><surname>Poe</surname></name>"
        "</person-group><article-title>Off</article-title><source>J Read</source><year>2018</year>"
        '<volume>3</volume><issue>1</issue><fpage>1</fpage><lpage>9</lpage><pub-id pub-id-type="doi'
        '">10.2/y</pub-id></element-citation></ref></ref-list>',
    )
    assert located(document) == {
        **{"One": "One", "A.": "One", "Acknowledgments": "Acknowledgments"},
        **{"Thanks.": "Acknowledgments", "A More": "A More", "B.": "A More"},
    }
    assert document.references == (
        "[1] Lee A. On. 2019.\nB Roe, Poe. 2018. Off. J Read. 3(1):1–9. doi:10.2/y."
    )


def test_answers_and_articles_in_one_file_are_read() -> None:
    reply = (
        "<front-stub><title-group><article-title>Reply</article-title></title-group></front-stub>"
        "<body><p>No.</p></body>"
    )
    one = article("<p>Yes.</p>").replace(
        "</article>", f"<sub-article>{reply}</sub-article></article>"
    )
    assert texts(load_bytes(one.encode(), name="a.xml")) == ["Yes.", "Reply", "No."]
    single = article("<p>Yes.</p>", FRONT).partition(DOCTYPE)[2]
    both = load_bytes(f"<pmc-articleset>{single}{single}</pmc-articleset>".encode(), name="all.xml")
    assert (both.title, both.coverage.parts, both.text.count("Yes.")) == ("all", 2, 2)


# -- the file -------------------------------------------------------------------------------------


def test_named_entities_lose_nothing_and_none_is_expanded() -> None:
    assert body(
        "<p>&alpha;&nbsp;&mdash; &lt;b&gt; &amp; &nosuch; &#233; <![CDATA[&alpha;]]></p>"
    ) == ["α\u00a0— <b> & &nosuch; é &alpha;"]
    declared = article("<p>&a;</p>").replace(
        '.dtd">', '.dtd" [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    )
    with pytest.raises(DamagedDocument, match="declares entities"):
        load_bytes(declared.encode(), name="a.xml")


def test_broken_and_hostile_files() -> None:
    for source in (
        article("<p>One"),
        article("<sec>" * 5000 + "</sec>" * 5000),
    ):
        with pytest.raises(DamagedDocument):
            load_bytes(source.encode(), name="a.xml")
    with pytest.raises(EmptyDocument):
        jats()


def test_notes_that_call_each_other_end() -> None:
    notes = "".join(
        f'<fn id="n{k}"><p>{k} <xref ref-type="fn" rid="n{(k + 1) % 2000}">{k}</xref></p></fn>'
        for k in range(2000)
    )
    document = jats(
        '<p>A<xref ref-type="fn" rid="n0">0</xref></p>', back=f"<fn-group>{notes}</fn-group>"
    )
    assert document.text.startswith("A[^0]\n\n[^0]: 0 [^0]")


@pytest.mark.parametrize("name", ["a.xml", "a.nxml", "a", "a.txt"])
def test_articles_are_known_by_content(name: str) -> None:
    assert jats("<p>Words.</p>", name=name).text == "Words."
    bare = b'<article article-type="letter"><body><p>Words.</p></body></article>'
    assert load_bytes(bare, name=name, media_type="text/plain").text == "Words."


def test_other_xml_is_read_as_before() -> None:
    other = b"<?xml version='1.0'?>\n<note><to>Ann</to><body>Words.</body></note>"
    for name, read_as in (("a.xml", "text/x-source"), ("a.nxml", "text/plain")):
        document = load_bytes(other, name=name)
        assert document.media_type == read_as
        assert document.text == other.decode()
    page = b"<article class='post'><p>Words.</p></article>"
    assert load_bytes(page, name="a.html").media_type == "text/html"


def test_encodings() -> None:
    source = article("<p>Caf\u00e9</p>").replace("UTF-8", "ISO-8859-1").encode("latin-1")
    assert load_bytes(source, name="a.xml").text == "Café"
    assert load_bytes(article("<p>Café</p>").encode("utf-16"), name="a.xml").text == "Café"
