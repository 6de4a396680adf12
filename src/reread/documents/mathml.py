"""Formulas in MathML as a line of LaTeX: fractions, roots, scripts, brackets and matrices."""

from __future__ import annotations

from lxml import etree

from reread.documents.html import Element
from reread.documents.html import latex_of as given_latex

_DEEPEST = 60  # what is nested deeper is read without its structure
_FORMS = {
    "mfrac": r"\frac{{{0}}}{{{1}}}",
    "mroot": r"\sqrt[{1}]{{{0}}}",
    "msup": "{0}^{{{1}}}",
    "mover": "{0}^{{{1}}}",
    "msub": "{0}_{{{1}}}",
    "munder": "{0}_{{{1}}}",
    "msubsup": "{0}_{{{1}}}^{{{2}}}",
    "munderover": "{0}_{{{1}}}^{{{2}}}",
}
_OVER = {
    **dict.fromkeys("¯‾ˉ―_", r"\bar"),
    **dict.fromkeys("^ˆ̂", r"\hat"),
    **dict.fromkeys("~˜", r"\tilde"),
    **dict.fromkeys("→⃗", r"\vec"),
    **{"˙": r"\dot", ".": r"\dot", "¨": r"\ddot"},
}
_UNSEEN = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064"))


def latex_of(math: Element) -> str:
    """The LaTeX of a formula: what it carries itself, else what its elements say."""
    return given_latex(math) or " ".join(_said(math, 0).split())


def _said(element: Element, depth: int) -> str:
    name = str(element.tag)
    if name in _UNSEEN:
        return ""
    children = list(element.iterchildren(etree.Element))
    if not children or depth > _DEEPEST:
        text = "".join(map(str, element.itertext())).translate(_INVISIBLE)
        text = " ".join(text.split())
        return rf"\text{{{text}}}" if name == "mtext" and text else text
    parts = [_said(child, depth + 1) for child in children]
    if name == "mover" and len(parts) == 2 and parts[1] in _OVER:
        return f"{_OVER[parts[1]]}{{{parts[0]}}}"
    form = _FORMS.get(name)
    if form is not None and len(parts) == form.replace("{{", "").count("{"):
        return form.format(*parts)
    if name == "msqrt":
        return rf"\sqrt{{{''.join(parts)}}}"
    if name == "mfenced":
        inside = (element.get("separators") or ",").strip()[:1].join(parts)
        return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"
    if name in ("mtable", "mtr", "mlabeledtr"):
        return (r" \\ " if name == "mtable" else " & ").join(parts)
    return "".join(parts)
