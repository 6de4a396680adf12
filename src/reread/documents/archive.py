"""Zip archives and XML from strangers, opened so that neither can exhaust the machine.

Sizes are counted while unpacking: what an archive declares about itself is never believed. Names of
members are keys and never paths; nothing is written to disk. XML is parsed without entities,
without fetching, and only where its tags are few enough for the tree to stay small.

Two kinds of failure are kept apart: a `DocumentError` ends the loading (a bomb, a lock, no archive
at all), `Damaged` concerns one member, and the rest can still be read.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from reread.documents.source import MEGABYTE
from reread.errors import DamagedDocument, TooLarge

Element = etree._Element


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What an archive may unpack to; sizes are bytes.

    `ratio` is how many times larger than its packed form a member may be, and all members together
    than the archive; it counts from `ratio_from_bytes` on (for all together from twice as many),
    since small texts may repeat themselves.
    """

    members: int = 20_000
    member_bytes: int = 48 * MEGABYTE
    total_bytes: int = 400 * MEGABYTE
    ratio: int = 120
    ratio_from_bytes: int = 8 * MEGABYTE


LIMITS = Limits()
_CHUNK_BYTES = 256 * 1024
_CENTRAL_ENTRY = b"PK\x01\x02"
_NO_INDEX = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError)
_LOCKED = 0x1  # the flag of a member that is encrypted with a password
_TAGS = 150_000  # so many are harmless; more must have text between them
_BYTES_PER_TAG = 6
_MOST_TAGS = 4_000_000
_ENTITY = re.compile(rb"<!ENTITY|<\x00!\x00E\x00N\x00T\x00I\x00T\x00Y", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d][\w.-]*")


class Damaged(Exception):
    """One member or one piece of XML cannot be read; `str` says why, in a few words."""


class TooDeep(Damaged):
    """XML that is nested deeper than any document needs."""


class Archive:
    """The members of a zip file in memory, by name; `names` are all, in the order of the index.

    Raises:
        DamagedDocument: it is no zip file, or one locked with a password.
        TooLarge: it has more members than the limits allow.
    """

    def __init__(self, data: bytes, origin: str, *, limits: Limits = LIMITS) -> None:
        self._origin = origin
        self._limits = limits
        self._packed_bytes = len(data)
        self._read_bytes = 0
        # Counted before the index is parsed, which makes an object of each entry.
        if data.count(_CENTRAL_ENTRY) > limits.members:
            raise TooLarge(f"{origin} holds more than {limits.members} files")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _NO_INDEX as error:
            raise DamagedDocument(
                f"{origin} is damaged: its index cannot be read", hint="Get the file again"
            ) from error
        if any(member.flag_bits & _LOCKED for member in self._zip.infolist()):
            raise DamagedDocument(
                f"{origin} is locked with a password", hint="Unpack it and pack it without one"
            )
        self.names = tuple(self._zip.namelist())
        self._exact = frozenset(self.names)
        # Windows and macOS made books whose references differ from the names in case.
        self._folded = {name.casefold(): name for name in reversed(self.names)}

    def spelled(self, name: str) -> str:
        """The member that is called so, in this or another case; the name itself where none is."""
        return name if name in self._exact else self._folded.get(name.casefold(), name)

    def read(self, name: str) -> bytes:
        """The content of a member.

        Raises:
            Damaged: it is missing, or its content is broken.
            TooLarge: it unpacks to more than the limits allow.
        """
        return b"".join(self._unpacked(name, self._limits.member_bytes))

    def stream(self, name: str) -> Iterator[bytes]:
        """The content of a member piece by piece, for what is not kept: only the total is limited.

        Raises:
            Damaged: it is missing, or its content is broken.
            TooLarge: it unpacks to more than the limits allow.
        """
        return self._unpacked(name, self._limits.total_bytes)

    def _unpacked(self, name: str, most_bytes: int) -> Iterator[bytes]:
        try:
            member = self._zip.getinfo(name)
        except KeyError as error:
            raise Damaged("it is not in the file") from error
        size = 0
        try:
            with self._zip.open(member) as file:
                while piece := file.read(_CHUNK_BYTES):
                    size += len(piece)
                    self._check(name, size, member.compress_size, most_bytes)
                    yield piece
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            raise Damaged(_reason(error)) from error
        except NotImplementedError as error:
            raise Damaged("it is packed with an unknown method") from error
        except RuntimeError as error:
            raise Damaged("it is locked with a password") from error
        self._read_bytes += size

    def _check(self, name: str, size: int, packed: int, most_bytes: int) -> None:
        """Refuses a member that grows beyond what any document needs."""
        limits, total = self._limits, self._read_bytes + size
        # Both ratios: entries may lie about their packed size or share the same bytes.
        bomb = size > limits.ratio_from_bytes and size > limits.ratio * min(
            packed, self._packed_bytes
        )
        bomb = bomb or (
            total > 2 * limits.ratio_from_bytes and total > limits.ratio * self._packed_bytes
        )
        if bomb or size > most_bytes or total > limits.total_bytes:
            raise TooLarge(
                f"{self._origin} unpacks to far more than its size ({name[:100]})",
                hint="A file like this is made to exhaust memory and is not read",
            )


def _reason(error: Exception) -> str:
    if "CRC" in str(error):
        return "its checksum is wrong (bad CRC)"
    return "its packed data is damaged"


def names(data: bytes) -> tuple[str, ...]:
    """The names in a zip file's index; none where it cannot be read or is too long."""
    if data.count(_CENTRAL_ENTRY) > LIMITS.members:
        return ()
    try:
        return tuple(zipfile.ZipFile(io.BytesIO(data)).namelist())
    except _NO_INDEX:
        return ()


def parse_xml(data: bytes | str) -> Element:
    """The root of an XML document. Entities are refused, nothing is fetched, nothing is huge.

    Raises:
        TooDeep: its elements stand in each other beyond all measure.
        Damaged: it is not well formed, declares entities, or is all tags and no text.
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    check_xml(raw)
    parser = etree.XMLParser(
        encoding="utf-8" if isinstance(data, str) else None,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(raw, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        if "depth" in str(error):
            raise TooDeep("its XML is nested too deeply") from error
        raise Damaged(f"its XML is broken ({error})") from error
    if root is None:
        raise Damaged("it holds no XML")
    return root


def check_xml(raw: bytes) -> None:
    """Refuses markup that is made to exhaust memory, before anything is built from it.

    Raises:
        Damaged: it declares entities, or is all tags and no text.
    """
    if _ENTITY.search(raw):
        raise Damaged("it declares entities, which are not expanded")
    if raw.count(b"<") > min(_TAGS + len(raw) // _BYTES_PER_TAG, _MOST_TAGS):
        raise Damaged("it is all tags and hardly any text")


def plain(root: Element, *, kept: tuple[str, ...] = ()) -> Element:
    """The tree with local names, but for those whose namespace ends in one of `kept`."""
    for element in root.iter(etree.Element):
        space, _, name = str(element.tag).rpartition("}")
        if not kept or not space.endswith(kept):
            local = name.rpartition(":")[2]  # a prefix stays in the name where nothing declares it
            element.tag = local if _NAME.fullmatch(local) else "unknown"
    return root
