"""`python -m reread` is the same as `reread`."""

from __future__ import annotations

from reread.cli import main

if __name__ == "__main__":
    main()
