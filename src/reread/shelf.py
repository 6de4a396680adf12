"""What a library holds: documents come in, are found by their names, and go.

No model is asked here.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from reread import documents
from reread.config import Config
from reread.documents import Recognition
from reread.errors import SourceNotFound, UsageError
from reread.ports import Progress
from reread.types import Document
from reread.workshop import Workshop


class Shelf(Workshop):
    """The documents of a library; see there for the arguments."""

    def load(self, source: str | Path, *, password: str | None = None) -> Document:
        """The document behind a path, URL, arXiv id, `-`, or an id or title in the library.

        `password` opens a locked file.

        Raises:
            DocumentError: nothing is there, or it cannot be read.
        """
        try:
            return documents.load(
                source,
                cache_dir=self.config.fetched,
                allow_private=self.config.allow_private,
                password=password,
                recognition=recognition(self.config, self.progress),
            )
        except SourceNotFound:
            known = self._known(str(source))
            if known is None:
                raise
            return known

    def find(self, name: str) -> Document:
        """The one document of the library with this id, beginning of an id, title or origin.

        Raises:
            SourceNotFound: there is none.
            UsageError: several could be meant.
        """
        known = self._known(name)
        if known is None:
            raise SourceNotFound(f"the library holds no {name!r}", hint="See `reread list`")
        return known

    def _known(self, name: str) -> Document | None:
        found = self.store.find(name) or self.store.find(documents.resolved(name))
        if len(found) > 1:
            listed = "; ".join(f"{i} {title}" for i, title in found[:5])
            raise UsageError(
                f"{name!r} could mean {len(found)} documents: {listed}", hint="Use an id"
            )
        return self.store.document(found[0][0]) if found else None

    def documents(self) -> list[dict[str, Any]]:
        """One entry a document, in the order they came."""
        return self.store.overview()

    def other_names(self, document: Document) -> list[str]:
        """The other names that the same content came by before, sorted."""
        return [o for o in self.store.origins(document.id) if o != document.origin]

    def replaced(self, document: Document) -> str | None:
        """The id of the other content that its name stood for before; None when there was none."""
        before = self.store.by_origin(document.origin)
        return before[0][0] if before and before[0][0] != document.id else None

    def sources(self, name: str) -> list[str]:
        """What a folder or a pattern stands for, file by file; else the name itself.

        Raises:
            SourceNotFound: the folder holds no file, or nothing matches the pattern.
        """
        from reread.documents.folders import expand

        try:
            return expand(name)
        except SourceNotFound:
            if self._known(name) is None:  # a title may look like a pattern
                raise
            return [name]

    def remove(self, name: str) -> Document:
        """Removes a document, its memories and every remembered call about it."""
        document = self.find(name)
        # First what can be had again, so that whoever dies here has forgotten too much, not too
        # little. Fetched pages are not kept by document.
        self.forget_states()
        shutil.rmtree(self.config.fetched, ignore_errors=True)
        self.store.remove(document.id)
        return document

    def forget_states(self) -> None:
        """Removes what the embedded model keeps of the prompts it was shown."""
        from reread.llm.local import forget_states

        forget_states(self.config.states)


def recognition(config: Config, progress: Progress | None = None) -> Recognition:
    """How text is read from pictures."""
    return Recognition(languages=config.ocr, progress=progress, cache_dir=config.recognised)
