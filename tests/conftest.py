"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# Time is measured in the bench; a busy machine must not fail a test.
settings.register_profile("reread", deadline=None)
settings.load_profile("reread")
