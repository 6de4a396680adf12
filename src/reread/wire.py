"""Answers and memories as the JSON that users and programs rely on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reread.estimating import Estimate, Total
from reread.evidence import Note, Suspicion
from reread.types import Answer, Citation, Collection, Document, GistMemory, Thought, Usage, Work

if TYPE_CHECKING:
    from reread.remembering.tree import Root


def answer(a: Answer, *, trace: bool = False) -> dict[str, Any]:
    """The object that `reread ask --json` prints, with its trace where asked for.

    Page numbers count from 1.
    """
    return {
        "answer": a.text,
        "grounded": a.grounded,
        "sentences": [asdict(s) | {"citations": list(s.citations)} for s in a.sentences],
        "strategy": a.strategy,
        "citations": [_of_document(c) for c in a.citations],
        "pages_read": [number for _, number in _read(a)],
        "thoughts_used": list(a.thoughts_used),
        "thought_kept": a.thought_kept,
        **({"elsewhere": [_elsewhere(note) for note in a.elsewhere]} if a.elsewhere else {}),
        "document": document(a.document) | {"pages": len(a.memory.pages)},
        "compression_rate": round(a.compression_rate, 2),
        "usage": usage(a.usage),
        "model": a.model,
        "coverage": asdict(a.document.coverage),
        "warnings": [_of_document(w) for w in a.warnings],
        **({"documents": _documents(a)} if isinstance(a.memory, Collection) else {}),
        **(_provisional(a.memory) if a.memory.provisional else {}),
        **({"choice": a.choice} if a.choice is not None else {}),
        **({"fallbacks": [asdict(f) for f in a.fallbacks]} if a.fallbacks else {}),
        **({"trace": _trace(a)} if trace else {}),
    }


def _provisional(m: GistMemory) -> dict[str, Any]:
    """That a document was not read to its end, and how far it was."""
    read = [page for page, gist in zip(m.pages, m.gists, strict=True) if gist]
    so_far = {"pages": len(read), "words": sum(page.words for page in read)}
    return {"provisional": True, "read_so_far": so_far}


def _elsewhere(note: Note) -> dict[str, Any]:
    """A thought that was used and the other documents that it rests on, too or alone."""
    documents = [{"id": document_id, "title": title} for document_id, title in note.elsewhere]
    return {"thought": note.id, "text": note.text, "documents": documents}


def _trace(a: Answer) -> dict[str, Any]:
    """How an answer came about; spans are [first, last] pages, numbered through all documents."""
    t = a.trace
    return {
        "gists": [list(span) for span in t.gists],
        "sections": [list(span) for span in t.sections],
        "opened": [_place(a, o.page) | {"by": list(o.by)} for o in t.opened],
        **({} if t.chance is None else {"chance": round(t.chance, 4)}),
        "calls": [asdict(c) | {"seconds": round(c.seconds, 3)} for c in t.calls],
    }


def _place(a: Answer, number: int) -> dict[str, Any]:
    """A page by its number, of its document where there are several."""
    if not isinstance(a.memory, Collection):
        return {"page": number}
    member, own = a.memory.located(number)
    return {"page": own, "document": member.document.id}


def _of_document(c: Citation | Suspicion) -> dict[str, Any]:
    """A citation or a warning; the document is named where there are several."""
    return {k: v for k, v in asdict(c).items() if k != "document" or v is not None}


def _read(a: Answer) -> list[tuple[GistMemory, int]]:
    """The pages read in full, each with the memory it is of and its number there."""
    if isinstance(a.memory, Collection):
        return [a.memory.located(number) for number in a.pages_read]
    return [(a.memory, number) for number in a.pages_read]


def _documents(a: Answer) -> list[dict[str, Any]]:
    """The documents that pages were read of, or that are cited."""
    assert isinstance(a.memory, Collection)
    cited = {c.document for c in a.citations}
    entries = []
    for m in a.memory.members:
        pages = [number for member, number in _read(a) if member is m]
        if pages or m.document.id in cited:
            entries.append(document(m.document) | {"pages": len(m.pages), "pages_read": pages})
    return entries


def thought(t: Thought) -> dict[str, Any]:
    """A thought with the ids of what it rests on and the places of its root sources."""
    return asdict(t)


def tree(root: Root) -> dict[str, Any]:
    """A thought and, under `sources`, what it rests on, down to quotes of pages.

    An item whose sources were told before has `above` instead.
    """
    flat: dict[str, Any] = {"id": root.id, "kind": root.kind, "level": root.level}
    if root.kind == "page":
        keys = ("title", "document", "start", "end", "quote", "current")
        return flat | {key: getattr(root, key) for key in keys}
    about = {"thought": thought(root.thought)} if root.thought else {}
    below = {"above": True} if root.above else {"sources": [tree(s) for s in root.sources]}
    return flat | {"text": root.text, **about, **below}


def document(d: Document) -> dict[str, Any]:
    """Which document is meant."""
    return {"id": d.id, "title": d.title, "words": d.words}


def usage(u: Usage) -> dict[str, Any]:
    """What was consumed, with the same by phase."""
    flat = {k: v for k, v in asdict(u).items() if k != "phases"} | {"seconds": round(u.seconds, 3)}
    if u.phases:
        flat["phases"] = {name: usage(part) for name, part in u.phases.items()}
    return flat


def spent(ledger: Sequence[Work]) -> dict[str, Any]:
    """What a document took so far, in all and by each reading and question."""
    return usage(sum((work.usage for work in ledger), Usage())) | {
        "by": [
            {"question": w.question, "model": w.model, "at": w.at, "usage": usage(w.usage)}
            for w in ledger
        ]
    }


def estimate(e: Estimate) -> dict[str, Any]:
    """An estimate; each figure is [at least, at most], equal where it is exact."""
    return {
        "document": document(e.document) | {"pages": list(e.pages)},
        "reading": asdict(e.reading),
        "question": asdict(e.question),
        "price": asdict(e.price) if e.price else None,
        "model": e.model,
    }


def estimates(results: Sequence[Mapping[str, Any]], together: Total | None) -> dict[str, Any]:
    """Estimates of several sources with their total, null where none could be estimated."""
    return {"sources": list(results), "total": asdict(together) if together else None}


def memory(m: GistMemory, *, pages: bool = False) -> dict[str, Any]:
    """A memory, with the text of its pages where asked for."""
    out: dict[str, Any] = {
        "document": document(m.document) | {"pages": len(m.pages)},
        "coverage": asdict(m.document.coverage),
        "compression_rate": round(m.compression_rate, 2),
        "levels": [len(level) for level in m.levels],
        "settings": asdict(m.settings),
        "prompts": list(m.prompts),
        "model": m.model,
        "fallbacks": [asdict(f) for f in m.fallbacks],
        "warnings": [_of_document(w) for w in m.warnings],
        "usage": usage(m.usage),
    }
    if pages:
        out["pages"] = [
            asdict(page) | {"gist": gist} for page, gist in zip(m.pages, m.gists, strict=True)
        ]
    return out
