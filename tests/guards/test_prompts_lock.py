"""A prompt's text changes only together with its version: kept replies name both.

`prompts.lock` holds name, version and digest of every shipped prompt. After a change of wording
raise the prompt's version and run:  python tests/guards/test_prompts_lock.py
"""

from __future__ import annotations

from pathlib import Path

from reread.prompts import Prompts

LOCK = Path(__file__).with_name("prompts.lock")
MEND = "raise its version, then run: python tests/guards/test_prompts_lock.py"


def shipped() -> dict[str, tuple[int, str]]:
    prompts = Prompts()
    return {name: (prompts[name].version, prompts[name].id.digest) for name in prompts.names()}


def locked() -> dict[str, tuple[int, str]]:
    rows = [line.split() for line in LOCK.read_text(encoding="utf-8").splitlines()]
    return {name: (int(version), digest) for name, version, digest in rows}


def test_no_prompt_changed_without_its_version() -> None:
    now, then = shipped(), locked()
    changed = [n for n in now if n in then and now[n][1] != then[n][1] and now[n][0] <= then[n][0]]
    assert not changed, f"the text of {changed} changed: {MEND}"


def test_the_lock_is_current() -> None:
    assert shipped() == locked(), "run: python tests/guards/test_prompts_lock.py"


if __name__ == "__main__":
    lines = [f"{name} {version} {digest}\n" for name, (version, digest) in shipped().items()]
    LOCK.write_text("".join(lines), encoding="utf-8")
