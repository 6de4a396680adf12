"""One way of getting the text out of a file, timed; prints a line of JSON.

    python bench/readers.py READER FILE [RUNS]

Runs under whatever Python has the reader installed, so it imports nothing of this project but the
reader asked for. `seconds` are processor seconds of each run, `import_s` those of importing.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

Read = Callable[[Path], str]


def _reread() -> Read:
    from reread.documents import load_bytes

    def read(path: Path) -> str:
        document = load_bytes(path.read_bytes(), name=path.name)
        return f"{document.text}\n\n{document.references}"

    return read


def _pypdfium2() -> Read:
    from pypdfium2 import PdfDocument

    def read(path: Path) -> str:
        with PdfDocument(path) as pdf:
            return "\n\n".join(page.get_textpage().get_text_range() for page in pdf)

    return read


def _pypdf() -> Read:
    from pypdf import PdfReader

    return lambda path: "\n\n".join(page.extract_text() for page in PdfReader(path).pages)


def _pdfplumber() -> Read:
    import pdfplumber

    def read(path: Path) -> str:
        with pdfplumber.open(path) as pdf:
            return "\n\n".join(page.extract_text() or "" for page in pdf.pages)

    return read


def _markitdown() -> Read:
    from markitdown import MarkItDown

    convert = MarkItDown(enable_plugins=False).convert
    return lambda path: str(convert(str(path)).text_content)


READERS: dict[str, Callable[[], Read]] = {
    "reread": _reread,
    "pypdfium2": _pypdfium2,
    "pypdf": _pypdf,
    "pdfplumber": _pdfplumber,
    "markitdown": _markitdown,
}


def main() -> None:
    """Prints {"import_s", "seconds", "text"} of the reader."""
    reader, file, runs = sys.argv[1], Path(sys.argv[2]), int((*sys.argv, "3")[3])
    start = time.process_time()
    read = READERS[reader]()
    import_s = time.process_time() - start
    seconds = []
    text = ""
    for _ in range(runs):
        start = time.process_time()
        text = read(file)
        seconds.append(time.process_time() - start)
    print(json.dumps({"import_s": import_s, "seconds": seconds, "text": text}))


if __name__ == "__main__":
    main()
