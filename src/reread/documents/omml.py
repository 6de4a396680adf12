"""Formulas of word processors in a line of LaTeX-like text."""

from __future__ import annotations

from lxml import etree

from reread.documents.archive import Element

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def latex_of(element: Element) -> str:
    """A formula as text: fractions, roots, scripts and brackets written as LaTeX writes them."""
    return " ".join(_said(element).split())


def _said(element: Element) -> str:
    name = str(element.tag).rpartition("}")[2]
    if name == "t":
        return element.text or ""
    if name.endswith("Pr"):
        return ""
    form = _FORMS.get(name)
    if form is None:
        return "".join(_said(child) for child in element.iterchildren(etree.Element))
    parts = {
        k: _child(element, k) for k in ("num", "den", "e", "sub", "sup", "deg", "fName", "lim")
    }
    return form.format(**parts) if name not in _BRACKETED else _bracketed(element, name)


def _child(element: Element, name: str) -> str:
    child = element.find(f"{M}{name}")
    return _said(child).strip() if child is not None else ""


def _bracketed(element: Element, name: str) -> str:
    """Brackets around one or more expressions, and sums and integrals with their bounds."""
    if name == "nary":
        sign = _property(element, "naryPr", "chr", "∫")
        below, above = _child(element, "sub"), _child(element, "sup")
        bounds = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
        return f"{sign}{bounds} {_child(element, 'e')}"
    inner = _property(element, "dPr", "sepChr", "|").join(
        _said(e).strip() for e in element.iterchildren(f"{M}e")
    )
    begin, end = (_property(element, "dPr", k, d) for k, d in (("begChr", "("), ("endChr", ")")))
    return f"{begin}{inner}{end}"


def _property(element: Element, group: str, name: str, default: str) -> str:
    found = element.find(f"{M}{group}/{M}{name}")
    return found.get(f"{M}val", "") if found is not None else default


_BRACKETED = frozenset({"d", "nary"})
_FORMS = {
    "d": "",
    "nary": "",
    "f": r"\frac{{{num}}}{{{den}}}",
    "rad": r"\sqrt[{deg}]{{{e}}}",
    "sSup": "{e}^{{{sup}}}",
    "sSub": "{e}_{{{sub}}}",
    "sSubSup": "{e}_{{{sub}}}^{{{sup}}}",
    "sPre": "_{{{sub}}}^{{{sup}}}{e}",
    "func": "{fName} {e}",
    "limLow": "{e}_{{{lim}}}",
    "limUpp": "{e}^{{{lim}}}",
}
