"""What a journal article says about itself and about what it cites, in lines for people."""

from __future__ import annotations

from lxml import etree

from reread.documents.html import Element

_CITATIONS = ("mixed-citation", "element-citation", "citation", "nlm-citation", "product")


def said(element: Element | None) -> str:
    """All text of an element on one line."""
    return " ".join("".join(map(str, element.itertext())).split()) if element is not None else ""


def authors_of(meta: Element) -> str:
    """The names of the authors, parted by commas; editors are left out."""
    names = []
    for contributor in meta.iter("contrib"):
        if contributor.get("contrib-type", "author") == "author":
            name = contributor.find(".//name")
            if name is None:
                name = contributor.find(".//string-name")
            if name is None:
                name = contributor.find("collab")
            names.append(_name(name) if name is not None else "")
    return ", ".join(dict.fromkeys(filter(None, names)))


def _name(name: Element) -> str:
    if name.tag == "collab":
        return " ".join(
            " ".join([name.text or "", *(c.tail or "" for c in name.iterchildren())]).split()
        )
    if name.find("surname") is None:
        return said(name)
    parts = [said(name.find(k)) for k in ("given-names", "surname", "suffix")]
    if name.get("name-style") == "eastern":
        parts = [parts[1], parts[0], parts[2]]
    return " ".join(filter(None, parts))


def published(front: Element, meta: Element) -> str:
    """Where and when it appeared: journal, year, volume, pages, DOI."""
    journal = said(front.find("journal-meta//journal-title"))
    date = next((d for d in meta.iter("pub-date") if d.find("year") is not None), None)
    doi = next((i for i in meta.iterchildren("article-id") if i.get("pub-id-type") == "doi"), None)
    year = said(date.find("year")) if date is not None else ""
    parts = [journal, year, _extent(meta), f"doi:{said(doi)}" if doi is not None else ""]
    return ", ".join(filter(None, parts))


def _extent(element: Element) -> str:
    """Volume, issue and pages as journals write them: `12(3):4–5`."""
    volume, issue, first, last = (
        said(element.find(k)) for k in ("volume", "issue", "fpage", "lpage")
    )
    first = first or said(element.find("elocation-id"))
    pages = f"{first}–{last}" if last and last != first else first
    return f"{volume}{f'({issue})' if issue else ''}{f':{pages}' if pages and volume else pages}"


def reference(entry: Element) -> str:
    """One line of the list of references."""
    texts = []
    for citation in entry.iter(*_CITATIONS):
        children = list(citation.iterchildren(etree.Element))
        loose = (citation.text or "") + "".join(child.tail or "" for child in children)
        texts.append(said(citation) if loose.strip() or not children else _listed(citation))
    label = said(entry.find("label")).strip("[]. ")
    head = f"[{label}] " if label else ""
    text = " ".join(filter(None, texts)) or said(entry.find("note"))
    return f"{head}{text}" if text else ""


def _listed(citation: Element) -> str:
    """A citation given as fields, in the order journals set them."""
    names = [_name(n) for n in citation.iter("name", "string-name")]
    names += [said(c) for c in citation.iter("collab")]
    fields = [", ".join(names), *(said(citation.find(k)) for k in _FIELDS)]
    fields.append(_extent(citation))
    fields += [f"{i.get('pub-id-type', 'id')}:{said(i)}" for i in citation.iter("pub-id")]
    fields += [said(k) for k in citation.iterchildren("ext-link", "uri", "comment")]
    return ". ".join(text.rstrip(".") for text in fields if text) + "."


_FIELDS = (
    "year", "article-title", "chapter-title", "data-title", "part-title", "source", "edition",
    "publisher-name", "publisher-loc", "conf-name",
)  # fmt: skip
