"""A thought stands by its words: any one of them changed for a strange one makes it fall."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from reread.thoughts.grounding import Evidence, grounded

TRUE = {  # a question, the evidence, and words of it that say something by themselves
    "Who kept the light?": (
        "In the spring of 1871 the keeper Tobias Wrenfield carried seven barrels of oil from the "
        "harbour to the lantern, but he never asked the council for money.",
        "spring 1871 keeper Tobias Wrenfield carried seven barrels oil from harbour to lantern "
        "never asked council for money",
    ),
    "Wer baute den Turm?": (
        "Der Baumeister Ludwig Ahrens errichtete den Turm im Herbst mit zwanzig Arbeitern, und die "
        "Stadt bezahlte ihn nicht.",
        "Baumeister Ludwig Ahrens errichtete Herbst mit zwanzig Arbeitern Stadt bezahlte nicht",
    ),
    "Кто построил маяк?": (
        "Старый мастер Николай Орлов построил маяк осенью и не получил денег от города.",
        "Старый мастер Николай Орлов осенью не получил денег от города",
    ),
    "誰が？": ("老船長は八月に港の灯台を修理した。", "老船 長は 八月 港の 灯台 修理"),
}
STRANGE = {
    "latin": st.text(alphabet="qxzjvwk", min_size=5, max_size=9),
    "cyrillic": st.text(alphabet="щжцфэъ", min_size=5, max_size=9),
    "kanji": st.text(alphabet="鯨猫虹砂鍋笛", min_size=2, max_size=2),
}


def stands(thought: str, question: str, text: str) -> bool:
    return not grounded(thought, question, [Evidence(item=1, text=text)]).reason


@given(st.sampled_from(sorted(TRUE)), st.data())
def test_a_strange_word_for_any_word_is_refused(question: str, data: st.DataObject) -> None:
    text, words = TRUE[question]
    assert stands(text, question, text)
    word = data.draw(st.sampled_from(words.split()))
    script = "kanji" if "。" in text else "cyrillic" if re.search("[а-я]", text) else "latin"
    strange = data.draw(STRANGE[script])
    invented = text.replace(word, strange.title() if word.istitle() else strange, 1)
    assert not stands(invented, question, text)


@given(st.data())
def test_a_strange_word_added_anywhere_is_refused(data: st.DataObject) -> None:
    question = "Who kept the light?"
    words = TRUE[question][0].split()
    at = data.draw(st.integers(0, len(words)))
    words.insert(at, data.draw(STRANGE["latin"]))
    assert not stands(" ".join(words), question, TRUE[question][0])


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=80))
def test_nothing_breaks(thought: str, text: str, question: str) -> None:
    verdict = grounded(thought, question, [Evidence(item=1, text=text)])
    assert bool(verdict.items) != bool(verdict.reason)
