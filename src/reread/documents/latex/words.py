"""What single LaTeX commands stand for: accents, signs, and how many arguments show nothing."""

from __future__ import annotations

import unicodedata

ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "c": "\u0327", "v": "\u030c", "H": "\u030b", "u": "\u0306", "k": "\u0328",
    "r": "\u030a", "b": "\u0331", "d": "\u0323", "t": "\u0361",
}  # fmt: skip
SIGNS = {
    "ss": "ß", "SS": "ẞ", "o": "ø", "O": "Ø", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð",
    "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ",
    "dag": "†", "dagger": "†", "ddag": "‡", "ddagger": "‡", "S": "§", "P": "¶", "pounds": "£",
    "copyright": "©", "textcopyright": "©", "textregistered": "®", "texttrademark": "™",
    "textdegree": "°", "degree": "°", "textmu": "µ", "euro": "€", "texteuro": "€",
    "textsterling": "£", "textyen": "¥", "textcent": "¢", "textsection": "§",
    "ldots": "…", "dots": "…", "textellipsis": "…", "textendash": "–", "textemdash": "—",
    "textquoteleft": "‘", "textquoteright": "’", "textquotedblleft": "“",
    "textquotedblright": "”", "textquotesingle": "'", "quotedblbase": "„", "glqq": "„",
    "grqq": "“", "guillemotleft": "«", "guillemotright": "»", "flqq": "«", "frqq": "»", "lq": "‘",
    "rq": "’", "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^",
    "textunderscore": "_", "textless": "<", "textgreater": ">", "textbar": "|",
    "textbraceleft": "{", "textbraceright": "}", "textdollar": "$", "textbullet": "•",
    "textperiodcentered": "·", "textpm": "±", "texttimes": "×", "textdiv": "÷",
    "textonehalf": "½", "textonequarter": "¼", "textthreequarters": "¾", "textordfeminine": "ª",
    "textordmasculine": "º", "textexclamdown": "¡", "textquestiondown": "¿", "checkmark": "✓",
    "cmark": "✓", "xmark": "✗", "LaTeX": "LaTeX", "LaTeXe": "LaTeX2e", "TeX": "TeX",
    "BibTeX": "BibTeX", "XeTeX": "XeTeX", "AmS": "AMS", "slash": "/", "space": " ", "quad": " ",
    "KwTo": "to ", "TO": "to ", "qquad": " ", "hfill": " ", "enspace": " ", "enskip": " ",
    "thinspace": " ", "hspace": " ",
   
    "textvisiblespace": "␣", "newline": "\n",
    "and": "\n", "And": "\n", "AND": "\n", "linebreak": "\n", "tabularnewline": "\n",
    "lbrace": "{", "rbrace": "}", "&": "&", "%": "%", "$": "$", "#": "#", "_": "_", "{": "{",
    "}": "}", " ": " ", "\n": " ", "\t": " ", ",": " ", ";": " ", ":": " ", "\\": "\n",
}  # fmt: skip
# How many arguments in braces are not shown; options in brackets are not shown either.
_UNSEEN = {
    0: "centering raggedright raggedleft noindent clearpage newpage maketitle tableofcontents"
    " listoffigures listoftables fbox mbox hbox makebox framebox pagebreak nopagebreak hline"
    " toprule midrule bottomrule",
    1: "vspace hspace includegraphics usepackage RequirePackage documentclass pagestyle"
    " thispagestyle pagenumbering bibliographystyle bibliography addbibresource theoremstyle"
    " hypersetup color phantom hphantom vphantom index rotatebox scalebox raisebox parbox"
    " cline captionsetup geometry graphicspath lstset hyphenation newlength newcounter"
    " DeclareGraphicsExtensions enlargethispage markright special usetikzlibrary pgfplotsset"
    " tikzset pdfbookmark setstretch linespread cellcolor rowcolor columncolor includepdf"
    " textcolor colorbox selectlanguage foreignlanguage refstepcounter stepcounter hypertarget"
    " hyperlink crefname newif thanksref orcidlink orcid urlstyle includesvg"
    " title author affil affiliation address institute institution email date icmltitle"
    " icmlaffiliation icmltitlerunning titlerunning authorrunning shorttitle"
    " shortauthors running fontfamily fontseries fontshape tikz"
    " lhead rhead chead lfoot cfoot rfoot ccsdesc acmDOI acmISBN copyrightyear acmYear"
    " setcopyright received preprint pageref glsresetall newacronym",
    2: "setlength addtolength setcounter addtocounter fontsize rule resizebox markboth"
    " fcolorbox settowidth newcolumntype crefformat counterwithout counterwithin setlist"
    " multirow multicolumn icmlauthor",
    3: "definecolor addcontentsline newenvironment renewenvironment crefname Crefname",
    4: "titlespacing",
    5: "titleformat",
}
UNSEEN = {name: count for count, names in _UNSEEN.items() for name in names.split()}
STEPS = {  # what the commands of algorithms are set as
    **dict.fromkeys(("State", "STATE", "Statex", "Comment", "COMMENT"), ""),
    **dict.fromkeys(("Require", "REQUIRE"), "Require:"),
    **dict.fromkeys(("Ensure", "ENSURE"), "Ensure:"),
    **dict.fromkeys(("Input", "INPUT", "KwIn", "KwData"), "Input:"),
    **dict.fromkeys(("Output", "OUTPUT", "KwOut", "KwResult"), "Output:"),
    **dict.fromkeys(("For", "FOR", "ForAll", "FORALL", "ForEach"), "for"),
    **dict.fromkeys(("While", "WHILE"), "while"),
    **dict.fromkeys(("If", "IF", "uIf", "eIf"), "if"),
    **dict.fromkeys(("ElsIf", "ELSIF", "ElseIf", "uElseIf"), "else if"),
    **dict.fromkeys(("Else", "ELSE", "uElse"), "else"),
    **dict.fromkeys(("EndFor", "ENDFOR", "EndForEach"), "end for"),
    **dict.fromkeys(("EndWhile", "ENDWHILE"), "end while"),
    **dict.fromkeys(("EndIf", "ENDIF"), "end if"),
    **dict.fromkeys(("Repeat", "REPEAT"), "repeat"),
    **dict.fromkeys(("Until", "UNTIL"), "until"),
    **dict.fromkeys(("Return", "RETURN", "KwRet"), "return"),
    **dict.fromkeys(("Procedure", "Function"), "procedure"),
    **dict.fromkeys(("EndProcedure", "EndFunction"), "end procedure"),
}
CONDITIONS = frozenset(  # steps whose argument is the rest of their line
    "For FOR ForAll FORALL ForEach While WHILE If IF uIf eIf ElsIf ELSIF ElseIf uElseIf".split()
)


def accented(base: str, accent: str) -> str:
    """A letter with an accent over or under it, as one character where there is one."""
    base = {"ı": "i", "ȷ": "j"}.get(base, base)
    if not base.strip():
        return {"~": "~", "^": "^"}.get(accent, "")
    return unicodedata.normalize("NFC", base[0] + ACCENTS[accent]) + base[1:]
