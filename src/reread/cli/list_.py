"""`reread list`: what the library holds."""

from __future__ import annotations

from reread.cli import common


def list_(as_json: common.AsJson = False, library: common.LibraryPath = None) -> None:
    """List the documents in the library."""
    with common.opened(library) as opened:
        entries = opened.documents()
    if as_json:
        common.out_json(entries)
        return
    for e in entries:
        memories = ", ".join(
            f"{common.many(m['pages'], 'page')} by {m['model']}" for m in e["memories"]
        )
        words = common.many(e["words"], "word")
        common.out(f"{e['id']}  {e['title']}: {words}, {memories or 'not read yet'}")
    if not entries:
        common.say("the library is empty; `reread read FILE` adds to it")
