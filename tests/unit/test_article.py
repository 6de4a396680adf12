"""The article of a page and what stands around it; what is hidden by styles."""

from __future__ import annotations

import time

import pytest

from documents_fixtures import assert_whole, html, shared, texts
from reread.documents import load, load_bytes
from reread.errors import EmptyDocument
from reread.types import Document

STORY = (
    "The old bridge over the river was opened again on Monday, two years after the flood had "
    "carried away its middle arch."
)
AFTER = "Traffic will be counted until autumn, and then the council decides on a second lane."


def page(body: str, head: str = "") -> Document:
    text = f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"
    document = load_bytes(text.encode(), name="page.html")
    assert_whole(document)
    return document


# -- articles -----------------------------------------------------------------------------------

NEWS = f"""<a class="skip-link" href="#c">Skip to content</a>
<div id="cookie-banner"><p>We use cookies to learn how you read.</p><button>Accept</button></div>
<header class="site-header"><a href="/">The Valley Post</a>
<nav><ul><li><a href="/n">News</a></ul></nav><form role="search"><button>Find</button></form>
</header>
<main><article><header><h1>Bridge reopens</h1><p>The mayor cut the ribbon.</p>
<div class="share-buttons"><a href="#">Share</a> <a href="#">Mail</a></div></header>
<p>{STORY}</p>
<figure><img src="b.jpg" alt=""><figcaption>The bridge. Photograph: J. Berg</figcaption></figure>
<h2>What it cost</h2><p>Nine million<sup><a href="#fn1">1</a></sup>.</p>
<table><caption>Costs by year</caption><tr><th>Year<th>Million<tr><td>2021<td>3</table>
<ul><li>New railings</li><li>Lamps</li></ul>
<aside class="pullquote"><p>“I can walk to school again.”</p></aside>
<aside class="related"><h3>Related</h3><ul><li><a href="/1">Flood came</a><li><a href="/2">Money
asked for</a></ul></aside>
<div class="ad-slot">Buy the finest shoes</div><p>{AFTER}</p>
<div class="newsletter-signup"><p>Get our letter.</p><button>Sign up</button></div>
<section class="footnotes"><ol><li id="fn1">By the council's report.</li></ol></section>
<footer>Corrected on 4 May.</footer></article>
<section class="comments"><h2>1 comment</h2><p>At last!</p>
<form class="comment-form"><label>Yours<textarea name="comment"></textarea></label></form></section>
</main><aside class="sidebar"><h2>Most read</h2><ol><li><a href="/3">Cat found</a></ol></aside>
<footer class="site-footer">© The Valley Post, imprint and terms of use.</footer>"""


def test_of_a_news_page_the_article_is_read_and_nothing_of_it_is_lost() -> None:
    document = page(NEWS)
    assert [(p.kind, document.text[p.start : p.end]) for p in document.paragraphs] == [
        ("heading", "Bridge reopens"),
        ("text", "The mayor cut the ribbon."),
        ("text", STORY),
        ("caption", "The bridge. Photograph: J. Berg"),
        ("heading", "What it cost"),
        ("text", "Nine million[1]."),
        ("caption", "Costs by year"),
        ("table", "Year | Million\n2021 | 3"),
        ("list", "- New railings\n- Lamps"),
        ("text", "“I can walk to school again.”"),
        ("text", AFTER),
        ("note", "1. By the council's report."),
        ("text", "Corrected on 4 May."),
        ("heading", "1 comment"),
        ("text", "At last!"),
    ]


def test_what_was_left_out_is_said() -> None:
    coverage = page(NEWS).coverage
    assert coverage.complete
    assert coverage.left_out == (
        ("navigation", "3 words"),
        ("cookie notice", "9 words"),
        ("page header", "5 words"),
        ("sharing", "2 words"),
        ("related links", "6 words"),
        ("advertisement", "4 words"),
        ("subscription", "5 words"),
        ("form", "1 word"),
        ("sidebar", "4 words"),
        ("footer", "9 words"),
    )


def test_an_old_blog_tells_its_parts_by_their_names() -> None:
    document = page(
        f"<div id=wrapper class=with-sidebar><div id=header><a href=/>My blog</a></div>"
        f"<ul id=menu><li><a href=/a>About</a></ul><div id=content><h2>The bridge</h2>"
        f"<div class=entry-content><p>{STORY}</p><p>{AFTER}</p><p>{STORY}</p>"
        f"<div class=sharedaddy>Share: <a href=#>F</a></div></div>"
        f"<div id=comments><h3>Comments</h3><ol><li>Well told.</ol>"
        f"<form id=commentform><textarea name=comment></textarea></form></div></div>"
        f"<p>Between the parts.</p><div id=sidebar><p>Who I am</p></div>"
        f"<div id=footer>Imprint</div></div>"
    )
    assert texts(document) == [
        "The bridge", STORY, AFTER, STORY, "Comments", "1. Well told.", "Between the parts.",
    ]  # fmt: skip


def test_posts_of_a_thread_are_all_read_and_what_stands_between_them() -> None:
    posts = "<p>Closed.</p>".join(
        f"<article><header>{who}</header><p>{STORY}</p><footer>{who}'s mark</footer></article>"
        for who in ("Anna", "Bert", "Carl")
    )
    document = page(f"<header><h1>What now?</h1></header>{posts}<aside>5 guests</aside>")
    assert texts(document) == [
        "What now?", "Anna", STORY, "Anna's mark", "Closed.", "Bert", STORY, "Bert's mark",
        "Closed.", "Carl", STORY, "Carl's mark",
    ]  # fmt: skip


def test_articles_within_an_article_belong_to_it_and_cards_beside_it_do_not() -> None:
    document = page(
        f"<main><article><h1>T</h1><p>{STORY}</p><article class=comment><p>Nice.</p></article>"
        f"</article><section><h2>More from us</h2><article class=card><a href=/1>One day</a>"
        f"</article><article class=card><a href=/2>Two days</a></article></section></main>"
    )
    assert texts(document) == ["T", STORY, "Nice."]


def test_a_manual_may_speak_of_cookies_and_have_boxes_at_its_side() -> None:
    document = page(
        f"<div class=sidebar><a href=a>Intro</a></div><div role=main><div class=section id=cookies>"
        f"<h1>Cookies<a class=headerlink href=#>¶</a></h1><p>{STORY}</p>"
        f"<div class=section id=related><h2>Related names</h2><ul><li><a href=x>get</a></ul></div>"
        f"<div class=sidebar><p>{AFTER}</p></div><pre>x = 1</pre></div></div><div>Built.</div>"
    )
    assert texts(document) == ["Cookies", STORY, "Related names", "- get", AFTER, "x = 1"]
    assert document.coverage.left_out == (("sidebar", "1 word"), ("other parts", "1 word"))


def test_the_only_title_is_read_though_it_stands_above_the_article() -> None:
    document = page(f"<header><p>Post</p><h1>T</h1></header><main><p>{STORY}</p></main>")
    assert texts(document) == ["T", STORY]


def test_from_right_to_left_in_the_order_of_speech() -> None:
    story = "افتتح صباح الاثنين الجسر القديم فوق النهر بعد عامين من الفيضان (2021)."
    document = page(f"<nav>الرئيسية</nav><main dir=rtl><p>{story}</p></main><footer>حقوق</footer>")
    assert document.text == story


# -- pages that are no article ------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "<header>SEEN</header><p>a b</p><aside>SEEN</aside><footer>SEEN</footer>",
        "<header>SEEN</header><main><table><tr><td>a<td>b</table></main><footer>SEEN SEEN</footer>",
        "<form><p>SEEN</p><label>SEEN <input></label><button>SEEN</button></form>",
        "<main><form id=login><p>SEEN</p><p>SEEN</p></form></main><footer>SEEN</footer>",
        f"<main><h1>SEEN</h1><p>SEEN</p></main><footer>SEEN {AFTER}</footer>",
        f"<div class=sidebar>SEEN {STORY}</div><div class=related>SEEN</div><div id=ad>SEEN</div>",
        f"<article><p>SEEN {AFTER}</p></article><div>SEEN {STORY} {STORY}</div><aside>SEEN</aside>",
    ],
)
def test_of_every_other_page_nothing_is_lost(body: str) -> None:
    assert page(body).text.count("SEEN") == body.count("SEEN")


def test_navigation_is_read_where_there_is_nothing_else() -> None:
    assert page("<nav><a href=/a>One</a> <a href=/b>Two</a></nav>").text == "One Two"
    assert page("<nav>One</nav>Text").coverage.left_out == (("navigation", "1 word"),)


def test_a_form_shows_what_is_filled_in() -> None:
    document = page(
        "<form><input value=Ada> <input type=checkbox checked> Yes <input type=radio> No"
        "<input type=hidden value=HIDDEN><input type=password value=HIDDEN>"
        "<p><input type=submit value=Send></p></form>"
    )
    assert texts(document) == ["Ada [x] Yes [ ] No", "Send"]


# -- hidden text --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("style", "hidden"),
    [
        (".a{display:none}", True),
        ("p.a.b { color: red; DISPLAY : none !important }", True),
        ("x,#i{visibility:hidden}", True),
        ("/* } */ .z{} .a{display:none}", True),
        (".a{display:none} .b{display:block}", False),
        ("#i{display:none} .b{display:block}", True),
        (".b{display:block} .a{display:none}", True),
        (".a{display:none} .tabs .b{display:flex}", False),
        ("@media print{.a{display:none}}", False),
        ("@media print{.z{color:red}} .a{display:none}", True),
        (".a .b{display:none} .a:hover{display:none} .a>p{display:none}", False),
        (".other{display:none} .a.c{display:none}", False),
        ("body{display:none}", False),
    ],
)
def test_the_pages_own_styles_hide(style: str, hidden: bool) -> None:
    document = page("before <p class='a b' id=i>TEXT</p> after", f"<style>{style}</style>")
    assert ("TEXT" not in document.text) == hidden


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("<span class=sr-only>TEXT</span>", False),
        ("<span class=visually-hidden>TEXT</span>", False),
        ("<div popover>TEXT</div>", False),
        ("<div hidden=until-found>TEXT</div>", True),
        ("<div style='position:absolute;left:-9999px'>TEXT</div>", False),
        ("<div style='position:relative;left:-120px'>TEXT</div>", True),
        ("<div style='opacity:0'>TEXT</div>", True),  # so do pages begin that scripts fade in
        ("<div aria-hidden=true>TEXT</div>", True),
        ("<x-y><template shadowrootmode=open>TEXT</template></x-y>", True),
        ("<details><summary>s</summary>TEXT</details>", True),
        ("<div class=paywall style='display:none'><p>TEXT</div>", False),
    ],
)
def test_what_counts_as_shown(body: str, seen: bool) -> None:
    assert ("TEXT" in html(f"before {body} after").text) == seen


def test_a_page_that_its_styles_hide_until_scripts_run_is_read() -> None:
    assert page("<div id=app>Words</div>", "<style>#app{display:none}</style>").text == "Words"


def test_a_page_that_scripts_make_says_so() -> None:
    with pytest.raises(EmptyDocument) as caught:
        html("<div id=root></div><noscript>Turn on scripts</noscript><script>x()</script>")
    assert caught.value.hint == "Its text is made by scripts; save it from a browser that shows it"


def test_hostile_styles_cost_little() -> None:
    started = time.process_time()
    sheet = "{" * 50_000 + "}" * 20_000 + "a" * 200_000 + "/*" * 100_000
    assert page("Words", f"<style>{sheet}</style>").text == "Words"
    assert page(f"<p class='{'x ' * 20_000}'>Words", "<style>.x{color:red}</style>").text == "Words"
    assert time.process_time() - started < 5


# -- real pages ---------------------------------------------------------------------------------


def test_of_a_real_wiki_page_the_article_is_read() -> None:
    document = load(shared("readerfiles/html-other/wiki_duck.html"))
    assert document.text.startswith("Duck\n\nFrom Wikipedia, the free encyclopedia")
    assert texts(document, "heading")[-1] == "External links"
    assert "Pacific black duck displaying" in document.text
    for noise in ("Jump to content", "Afrikaans", "Privacy policy", "CS1: long volume value"):
        assert noise not in document.text
    assert document.words == 3672


def test_a_real_standard_is_read_whole() -> None:
    document = load(shared("readerfiles/html-other/fhs-3.0.html"))
    assert document.coverage.left_out == ()
    assert document.words == 15255


def test_a_note_within_a_navigation_is_navigation() -> None:
    note = '<div role="note"><h3>This page</h3><a href="#">Source</a></div>'
    menu = f'<div role="navigation">{note}</div>'
    body = f"<div role='main'><h1>Scope</h1><p>{STORY}</p><p>{AFTER}</p></div>{menu}"
    assert page(body).text == f"Scope\n\n{STORY}\n\n{AFTER}"
