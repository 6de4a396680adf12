"""Damaged files of every format: documents or our own errors, nothing else (`bench/fuzz.py`)."""

from __future__ import annotations

import contextlib
import random

import pytest

from documents_fixtures import assert_whole
from reread.documents import load_bytes
from reread.documents.registry import LOADERS
from reread.errors import Error
from seeds import mutated, seeds

SEEDS = seeds()


@pytest.mark.parametrize("name", SEEDS)
def test_every_seed_is_read(name: str) -> None:
    document = load_bytes(SEEDS[name], name=name)
    assert_whole(document)


def test_every_loader_for_text_has_a_seed() -> None:
    """A format that is added is fuzzed too."""
    read = {load_bytes(data, name=name).media_type for name, data in SEEDS.items()}
    assert {t for t in LOADERS if not t.startswith("image/")} - read == set()


FOUND = (13407, 22814)  # numbers that failed once, of the bench's files


@pytest.mark.parametrize("number", FOUND)
def test_what_failed_once(number: int) -> None:
    rng = random.Random(number)
    name = rng.choice(list(SEEDS))
    with contextlib.suppress(Error):
        load_bytes(mutated(SEEDS[name], rng), name=name)


@pytest.mark.parametrize("share", range(8))
def test_damaged_files_give_documents_or_our_errors(share: int) -> None:
    for number in range(share, 1_600, 8):
        rng = random.Random(number)
        name = rng.choice(list(SEEDS))
        data = mutated(SEEDS[name], rng)
        try:
            document = load_bytes(data, name=name)
        except Error:
            continue
        assert_whole(document)
