"""Fetching through the public door, against a real server on this machine."""

from __future__ import annotations

import gzip
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpcore2 as httpcore
import pytest

from documents_fixtures import Answer, Site, site
from reread.documents import Limits, arxiv, fetch, load
from reread.errors import FetchError, SourceNotFound, TooLarge
from reread.types import Document

PAGE = b"<!DOCTYPE html><title>Ducks</title><p>They swim.</p>"


@pytest.fixture
def web() -> Iterator[Site]:
    with site() as running:
        running.pages["/"] = Answer(PAGE)
        yield running


def get(url: str, cache_dir: Path | None = None, **limits: Any) -> Document:
    return load(url, cache_dir=cache_dir, allow_private=True, limits=Limits(**limits))


# -- pages --------------------------------------------------------------------------------------


def test_a_page(web: Site) -> None:
    document = get(web.url + "/#part")
    assert (document.title, document.text) == ("Ducks", "They swim.")
    assert document.origin == web.url + "/#part"
    assert web.asked == ["/"]


def test_the_declared_encoding_is_used(web: Site) -> None:
    web.pages["/a.txt"] = Answer(
        "αβγ δε".encode("iso-8859-7"), headers={"Content-Type": "text/plain; charset=iso-8859-7"}
    )
    assert get(web.url + "/a.txt").text == "αβγ δε"


def test_content_is_believed_before_the_declared_type(web: Site) -> None:
    web.pages["/x"] = Answer(PAGE, headers={"Content-Type": "application/pdf"})
    web.pages["/y.md"] = Answer(b"# A\n\nb", headers={"Content-Type": "text/plain"})
    assert get(web.url + "/x").media_type == "text/html"
    assert get(web.url + "/y.md").media_type == "text/markdown"


def test_compressed_pages(web: Site) -> None:
    web.pages["/z"] = Answer(gzip.compress(PAGE), headers={"Content-Encoding": "gzip"})
    assert get(web.url + "/z").text == "They swim."


# -- redirects and private addresses ------------------------------------------------------------


def test_redirects_are_followed(web: Site) -> None:
    web.pages["/old"] = Answer(status=301, headers={"Location": "/new?x=1"})
    web.pages["/new?x=1"] = Answer(status=307, headers={"Location": web.url + "/"})
    assert get(web.url + "/old").text == "They swim."
    assert web.asked == ["/old", "/new?x=1", "/"]


def test_redirects_end(web: Site) -> None:
    web.pages["/loop"] = Answer(status=302, headers={"Location": "/loop"})
    with pytest.raises(FetchError, match="redirects more than 5 times"):
        get(web.url + "/loop")
    assert len(web.asked) == 6


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
def test_redirects_lead_nowhere_else(web: Site, target: str) -> None:
    web.pages["/out"] = Answer(status=302, headers={"Location": target})
    with pytest.raises(FetchError, match="is not a web address"):
        get(web.url + "/out")


def test_private_addresses_are_refused_before_anything_is_sent(web: Site) -> None:
    port = web.url.rpartition(":")[2]
    for host in ("127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]", "0x7f.1", "0"):
        with pytest.raises(FetchError) as caught:
            load(f"http://{host}:{port}/")
        assert "private network" in str(caught.value), host
    assert web.asked == []


def test_a_redirect_into_the_network_is_refused(web: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first host resolves to a public address, the one it sends on to does not."""
    inside = web.url.replace("127.0.0.1", "localhost")
    web.pages["/go"] = Answer(status=302, headers={"Location": inside})
    resolve, connect = socket.getaddrinfo, httpcore.SyncBackend.connect_tcp

    def resolved(host: str, port: int, *more: int, **named: int) -> Any:
        if host != "public.test":
            return resolve(host, port, *more, **named)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", port))]

    def connected(self: httpcore.SyncBackend, host: str, *more: Any) -> httpcore.NetworkStream:
        assert host == "93.184.216.34"  # the checked address, never a name to resolve again
        return connect(self, "127.0.0.1", *more)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", connected)
    with pytest.raises(FetchError, match="localhost is an address inside a private network"):
        load(web.url.replace("127.0.0.1", "public.test") + "/go")
    assert web.asked == ["/go"]


def test_one_private_address_among_public_ones_refuses_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    found = [(*entry, ("93.184.216.34", 80)), (*entry, ("10.0.0.1", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: found)
    with pytest.raises(FetchError, match=r"mixed\.test is an address inside a private network"):
        load("http://mixed.test/")


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("64:ff9b::5db8:d822", True),
        ("10.1.2.3", False), ("172.16.0.1", False), ("192.168.1.1", False), ("127.0.0.2", False),
        ("169.254.169.254", False), ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False),
        ("255.255.255.255", False), ("::1", False), ("::", False), ("fe80::1%eth0", False),
        ("fd00::1", False), ("::ffff:10.0.0.1", False), ("64:ff9b::a00:1", False),
        ("2002:a00:1::", False), ("ff02::1", False), ("240.0.0.1", False),
    ],
)  # fmt: skip
def test_public_addresses(address: str, public: bool) -> None:
    assert fetch.is_public(address) is public


# -- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [True, False])
def test_the_size_limit(web: Site, length: bool) -> None:
    web.pages["/big"] = Answer(b"words " * 1000, chunks=100, length=length)
    with pytest.raises(TooLarge, match=r"/big is larger than 0\.1 MB"):
        get(web.url + "/big", fetch_bytes=100_000)
    assert get(web.url + "/big", fetch_bytes=600_000).words == 100_000


def test_a_compressed_bomb_ends_at_the_limit(web: Site) -> None:
    bomb = gzip.compress(bytes(30_000_000))
    web.pages["/bomb"] = Answer(bomb, headers={"Content-Encoding": "gzip"})
    web.pages["/nested"] = Answer(gzip.compress(bomb), headers={"Content-Encoding": "gzip, gzip"})
    with pytest.raises(TooLarge):
        get(web.url + "/bomb", fetch_bytes=1_000_000)
    with pytest.raises(FetchError, match="encoding that was not asked for"):
        get(web.url + "/nested", fetch_bytes=1_000_000)


def test_a_silent_server_times_out(web: Site) -> None:
    web.pages["/slow"] = Answer(b"x" * 10, chunks=2, pause_s=1.0)
    started = time.monotonic()
    with pytest.raises(FetchError, match=r"127\.0\.0\.1 did not answer in time"):
        get(web.url + "/slow", read_timeout_s=0.2)
    assert time.monotonic() - started < 0.9


def test_a_dripping_server_meets_the_deadline(web: Site) -> None:
    web.pages["/drip"] = Answer(b"x", chunks=100, pause_s=0.05)
    started = time.monotonic()
    with pytest.raises(FetchError, match="did not answer in time"):
        get(web.url + "/drip", total_timeout_s=0.4)
    assert 0.3 < time.monotonic() - started < 1.5


# -- failures -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "said", "retryable"),
    [
        (404, "/p does not exist (404)", False),
        (403, "/p may not be fetched (403)", False),
        (401, "/p asks for a login", False),
        (429, "/p was asked for too often (429)", True),
        (500, "/p was answered with the status 500", True),
        (204, "/p was answered with the status 204", False),
    ],
)
def test_a_status_is_one_line(web: Site, status: int, said: str, retryable: bool) -> None:
    web.pages["/p"] = Answer(status=status)
    with pytest.raises(FetchError) as caught:
        get(web.url + "/p")
    assert str(caught.value) == web.url + said
    assert caught.value.retryable is retryable
    assert not isinstance(caught.value, SourceNotFound)


def test_no_connection() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(FetchError, match=r"127\.0\.0\.1 refuses the connection"):
        get(f"http://127.0.0.1:{port}/")


def test_no_such_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(FetchError, match=r"there is no host nowhere\.test") as caught:
        get("http://nowhere.test/")
    assert caught.value.retryable


def test_no_secure_connection(web: Site) -> None:
    with pytest.raises(FetchError, match=r"no secure connection to 127\.0\.0\.1"):
        get(web.url.replace("http:", "https:"))


def test_a_broken_answer(web: Site) -> None:
    web.pages["/cut"] = Answer(gzip.compress(PAGE)[:-6], headers={"Content-Encoding": "gzip"})
    web.pages["/short"] = Answer(PAGE, headers={"Content-Length": "999"}, length=False)
    with pytest.raises(FetchError, match="incomplete"):
        get(web.url + "/cut")
    with pytest.raises(FetchError, match="broke off"):
        get(web.url + "/short")


@pytest.mark.parametrize("url", ["ftp://example.org/x", "http://", "http://[::1"])
def test_what_is_no_web_address(url: str) -> None:
    with pytest.raises(FetchError, match="is not a web address"):
        load(url)


# -- the cache ----------------------------------------------------------------------------------


def test_a_kept_page_is_not_asked_for_again(web: Site, tmp_path: Path) -> None:
    first = get(web.url + "/", tmp_path)
    web.pages["/"] = Answer(b"<p>changed")
    assert get(web.url + "/", tmp_path) == first
    assert web.asked == ["/"]
    assert get(web.url + "/", tmp_path, max_age_s=-1).text == "changed"
    assert get(web.url + "/").text == "changed"


def test_different_addresses_are_kept_apart(web: Site, tmp_path: Path) -> None:
    web.pages["/?a=1"] = Answer(b"<p>one")
    assert get(web.url + "/", tmp_path).text == "They swim."
    assert get(web.url + "/?a=1", tmp_path).text == "one"
    assert len(list(tmp_path.iterdir())) == 2


def test_failures_are_not_kept(web: Site, tmp_path: Path) -> None:
    web.pages["/"] = Answer(status=500)
    with pytest.raises(FetchError):
        get(web.url + "/", tmp_path)
    assert list(tmp_path.iterdir()) == []
    web.pages["/"] = Answer(PAGE)
    assert get(web.url + "/", tmp_path).text == "They swim."


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "junk", "other", "list"])
def test_a_damaged_entry_is_fetched_again(web: Site, tmp_path: Path, damage: str) -> None:
    get(web.url + "/", tmp_path)
    (entry,) = tmp_path.iterdir()
    data = entry.read_bytes()
    head, _, body = data.partition(b"\n")
    entry.write_bytes(
        {
            "cut": data[:-3],
            "flip": data.replace(b"swim", b"sink"),
            "empty": b"",
            "junk": bytes(range(256)),
            "other": json.dumps(json.loads(head) | {"asked": "http://x/"}).encode() + b"\n" + body,
            "list": b"[]\n" + body,
        }[damage]
    )
    assert get(web.url + "/", tmp_path).text == "They swim."
    assert web.asked == ["/", "/"]
    assert entry.read_bytes().endswith(body)


def test_an_entry_is_whole_or_absent(
    web: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", fail)
        assert get(web.url + "/", tmp_path).text == "They swim."
    assert list(tmp_path.iterdir()) == []
    assert get(web.url + "/", tmp_path).text == "They swim."
    (entry,) = tmp_path.iterdir()
    assert not entry.name.endswith(".part")


def test_a_cache_that_cannot_be_written_does_no_harm(web: Site, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("x")
    assert get(web.url + "/", in_the_way / "cache").text == "They swim."


def test_an_old_copy_is_read_where_the_web_is_away(tmp_path: Path) -> None:
    with site() as web:
        web.pages["/"] = Answer(PAGE)
        url = web.url + "/"
        get(url, tmp_path)
    assert get(url, tmp_path, max_age_s=-1).text == "They swim."


# -- arXiv --------------------------------------------------------------------------------------

ARTICLE = b'<!DOCTYPE html><article class="ltx_document"><p class="ltx_p">We flow.</p></article>'


@pytest.mark.parametrize(
    ("said", "paper"),
    [
        ("1307.8133", "1307.8133"),
        ("arXiv:1307.8133v2", "1307.8133v2"),
        (" arxiv: 2402.09727 ", "2402.09727"),
        ("https://arxiv.org/abs/1307.8133", "1307.8133"),
        ("http://www.arxiv.org/abs/1307.8133v1?context=cond-mat", "1307.8133v1"),
        ("https://export.arxiv.org/pdf/2402.09727v3.pdf", "2402.09727v3"),
        ("https://arxiv.org/pdf/2402.09727#page=3", "2402.09727"),
        ("https://arxiv.org/html/2402.09727v3", "2402.09727v3"),
        ("arxiv.org/abs/2402.09727", "2402.09727"),
        ("https://ar5iv.labs.arxiv.org/html/2402.09727", "2402.09727"),
        ("https://ar5iv.org/abs/2402.09727", "2402.09727"),
        ("https://doi.org/10.48550/arXiv.2402.09727", "2402.09727"),
        ("hep-th/9901001", "hep-th/9901001"),
        ("hep-th/9901001v1", "hep-th/9901001v1"),
        ("math.GT/0309136", "math/0309136"),
        ("https://arxiv.org/abs/math.GT/0309136", "math/0309136"),
        ("https://arxiv.org/pdf/cond-mat/0309136v2.pdf", "cond-mat/0309136v2"),
        ("1399.8133", None),
        ("1307.813", None),
        ("1307.8133.txt", None),
        ("https://arxiv.org/list/cs.CL/new", None),
        ("https://example.org/abs/1307.8133", None),
        ("https://arxiv.org.example.org/abs/1307.8133", None),
        ("notes/1234567.txt", None),
    ],
)
def test_arxiv_ids(said: str, paper: str | None) -> None:
    assert arxiv.parse_id(said) == paper


def bases(web: Site) -> tuple[str, str]:
    return web.url + "/html/", web.url + "/five/"


@pytest.mark.parametrize("said", ["arXiv:1307.8133v2", "https://arxiv.org/pdf/1307.8133v2.pdf"])
def test_a_paper_comes_from_the_first_place_that_has_it(
    web: Site, tmp_path: Path, said: str
) -> None:
    web.pages["/five/1307.8133v2"] = Answer(ARTICLE)

    def paper() -> Document:
        return load(said, cache_dir=tmp_path, allow_private=True, arxiv_bases=bases(web))

    document = paper()
    assert (document.title, document.text) == ("1307.8133v2", "We flow.")
    assert document.origin == "https://arxiv.org/abs/1307.8133v2"
    assert web.asked == ["/html/1307.8133v2", "/five/1307.8133v2"]
    web.pages["/html/1307.8133v2"] = Answer(ARTICLE.replace(b"flow", b"drift"))
    assert paper().text == "We drift."


def test_a_page_that_is_no_rendering_is_passed_over(web: Site) -> None:
    web.pages["/html/hep-th/9901001"] = Answer(b"<html><body>Abstract page of the paper")
    with pytest.raises(SourceNotFound, match="arXiv has no HTML of hep-th/9901001"):
        load("hep-th/9901001", allow_private=True, arxiv_bases=bases(web))
    assert web.asked == ["/html/hep-th/9901001", "/five/hep-th/9901001"]


def test_a_refusal_of_arxiv_is_said_as_such(web: Site) -> None:
    web.pages["/html/1307.8133"] = Answer(status=429)
    with pytest.raises(FetchError, match="too often"):
        load("1307.8133", allow_private=True, arxiv_bases=bases(web))


def test_a_file_with_the_name_of_a_paper_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "1307.8133").write_text("my own notes")
    assert load("1307.8133").text == "my own notes"
