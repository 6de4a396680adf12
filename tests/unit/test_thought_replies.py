"""What a model's reply to a request for a thought means."""

from __future__ import annotations

import pytest

from making import said
from reread.errors import MalformedReply
from reread.thoughts.replies import Distilled, distilled, questions


@pytest.mark.parametrize(
    ("reply", "text", "confident"),
    [
        (
            '{"thought": "The lamp was lit in 1862.", "confidence": 1}',
            "The lamp was lit in 1862.",
            True,
        ),
        ('{"thought": "The lamp was lit.", "confidence": 0}', "The lamp was lit.", False),
        ('{"thought": "The lamp was lit.", "confidence": "1"}', "The lamp was lit.", True),
        ('{"thought": "The lamp was lit.", "confidence": true}', "The lamp was lit.", True),
        ('{"thought": "The lamp was lit.", "confidence": "high"}', "The lamp was lit.", False),
        ('{"thought": "The lamp was lit.", "confidence": 0.9}', "The lamp was lit.", False),
        ('{"thought": "The lamp was lit."}', "The lamp was lit.", False),
        ('{"thought": "", "confidence": 1}', "", False),
        (
            '```json\n{"thought": "The lamp was lit.", "confidence": 1}\n```',
            "The lamp was lit.",
            True,
        ),
        ("Thought: The lamp was lit.\nConfidence: 1", "The lamp was lit.", True),
        (
            '{"thought": "The question and answer teach that four people drowned.", '
            '"confidence": 1}',
            "Four people drowned.",
            True,
        ),
        ("This answer shows that Anna left.\nConfidence: 1", "Anna left.", True),
        (
            "The question of who owned the mill was settled.\nConfidence: 1",
            "The question of who owned the mill was settled.",
            True,
        ),
        ("The lamp was lit.\n**Confidence:** 1", "The lamp was lit.", True),
        ("The lamp was lit.\nConfidence: 0", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence: perhaps", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence:", "The lamp was lit.", False),
        ("The lamp was lit.", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence: 1/10", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence: 1 out of 5", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence: 1 %", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence: 1%", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence: 1.5", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence: -1", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence: 10", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence: yes and no", "The lamp was lit.", False),
        ("The lamp was lit.\nConfidence: 1.", "The lamp was lit.", True),
        ("The lamp was lit.\n(Confidence: 1)", "The lamp was lit.", True),
        ("The lamp was lit.\nConfidence is True", "The lamp was lit.", True),
        ("The lamp was lit.\nConfidence - Yes", "The lamp was lit.", True),
        ("The lamp was lit.\n**Confidence**\n1", "The lamp was lit.", True),
        ('{"thought": "The lamp was lit.", "confidence": "1/10"}', "The lamp was lit.", False),
        ('{"thought": "The lamp was lit.", "confidence": "1 %"}', "The lamp was lit.", False),
        ('{"thought": "The lamp was lit.", "confidence": null}', "The lamp was lit.", False),
        (
            'Sure! Here is the JSON: {"thought": "The lamp was lit.", "confidence": 1}',
            "The lamp was lit.",
            True,
        ),
        (
            '{"thought": "The lamp was lit.", "confidence": 1}\nI hope {this} helps.',
            "The lamp was lit.",
            True,
        ),
        (
            'Here:\n```json\n{"thought": "The lamp was lit.", "confidence": 0}\n```\nConfidence: 1',
            "The lamp was lit.",
            False,
        ),
        (
            '{"thought": "A draft.", "confidence": 1} Better: '
            '{"thought": "The lamp was lit.", "confidence": 0}',
            "The lamp was lit.",
            False,
        ),
        ('{"thought": "The lamp\nwas lit.", "confidence": 1}', "The lamp was lit.", True),
        ("The set {a, b} was lit.\nConfidence: 1", "The set {a, b} was lit.", True),
        ('{"thought": "None", "confidence": 1}', "None", False),
        ('{"thought": "I\'m sorry, but no.", "confidence": 1}', "I'm sorry, but no.", False),
    ],
)
def test_a_thought_and_its_confidence(reply: str, text: str, confident: bool) -> None:
    assert distilled(said(reply)) == Distilled(text, confident)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "  \n",
        "---",
        "[]",
        '{"thought": "The lamp was lit by To',
        '{"thought": "The lamp was lit.", "confidence": 1',
        '```json\n{"thought": "The lamp was lit.", "conf',
        'Sure! Here is the JSON: {"thought": "The lamp was lit by To',
        '{"thou',
        "{'thought': 'The lamp was lit.', 'confidence': 1}",
    ],
)
def test_no_thought_and_a_broken_object_are_malformed(reply: str) -> None:
    with pytest.raises(MalformedReply):
        distilled(said(reply))


@pytest.mark.parametrize(
    "reply",
    [
        "Who lit the lamp?\nWhen was it lit?\nWho lit the lamp?",
        "1. Who lit the lamp?\n2) When was it lit?",
        'Here are some:\n- "Who lit the lamp?"\n- When was it lit?',
        '{"questions": ["Who lit the lamp?", "When was it lit?"]}',
    ],
)
def test_questions_come_each_once(reply: str) -> None:
    assert questions(said(reply), 5) == ["Who lit the lamp?", "When was it lit?"]
    assert questions(said(reply), 1) == ["Who lit the lamp?"]


def test_a_reply_without_a_question_is_malformed() -> None:
    with pytest.raises(MalformedReply):
        questions(said("I cannot."), 3)
