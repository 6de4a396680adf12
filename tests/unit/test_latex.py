"""LaTeX source: what a reader of the printed paper sees, with its numbers, and nothing else."""

from __future__ import annotations

import pytest

from documents_fixtures import assert_whole, located, texts
from reread.documents import load_bytes
from reread.errors import EmptyDocument
from reread.types import Document


def tex(body: str, preamble: str = "", *, name: str = "paper.tex") -> Document:
    source = (
        f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}"
    )
    document = load_bytes(source.encode(), name=name)
    assert_whole(document)
    return document


# -- front matter and sections --------------------------------------------------------------------

FRONT = r"""\title{Reading \\ Slowly\thanks{Paid by nobody.}}
\author{Ann Lee \and Jos\'e \c{C}elik\\ \texttt{x@example.org}}
\date{May 2020}"""


def test_front_matter_and_headings() -> None:
    document = tex(
        r"\maketitle \begin{abstract}We read.\end{abstract} \section{Why} A. \subsection{How}"
        r" B. \subsubsection*{Now} C. \paragraph{Then} D. \section[Short]{What \emph{else}} E.",
        FRONT,
    )
    assert document.title == "Reading Slowly"
    assert located(document) == {
        "Reading Slowly": "Reading Slowly",
        "Paid by nobody.": "Reading Slowly",
        "Ann Lee, José Çelik, x@example.org": "Reading Slowly",
        "May 2020": "Reading Slowly",
        "Abstract": "Abstract",
        "We read.": "Abstract",
        "1 Why": "1 Why",
        "A.": "1 Why",
        "1.1 How": "1 Why › 1.1 How",
        "B.": "1 Why › 1.1 How",
        "Now": "1 Why › 1.1 How › Now",
        "C.": "1 Why › 1.1 How › Now",
        "Then": "1 Why › 1.1 How › Now › Then",
        "D.": "1 Why › 1.1 How › Now › Then",
        "2 What else": "2 What else",
        "E.": "2 What else",
    }


def test_the_title_may_follow_the_beginning_or_be_missing() -> None:
    assert tex(r"\title{Late}\author{A}\maketitle Words.").title == "Late"
    assert tex("Words.").title == "paper"
    part = load_bytes(rb"\section{One} Words.", name="chapter.tex")
    assert (part.title, part.text) == ("chapter", "1 One\n\nWords.")


def test_books_count_in_chapters_and_appendices_in_letters() -> None:
    document = tex(
        r"\chapter{A}\label{c}\section{B}\begin{figure}\caption{F}\end{figure}"
        r"\appendix\chapter{C}\section{D}See \ref{c}."
    )
    assert texts(document) == [
        *("Chapter 1 A", "1.1 B", "Figure 1.1: F", "Chapter A C", "A.1 D", "See 1.")
    ]


# -- running text ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"na\"{\i}ve \'{e}l\`eve \^o \~n \c{c} \v{s} \H{o}", "naïve élève ô ñ ç š ő"),
        (r"\aa{} \ss \o{} \L \'\i", "å ßø Łí"),
        (r"5\% of \$3 \& \#1 a\_b \{x\} \S 4 \copyright", "5% of $3 & #1 a_b {x} §4 ©"),
        ("``Yes''---it's 1--2 `no'", "“Yes”—it’s 1–2 ‘no’"),
        ("a~b\\,c\\ d\\quad e", "a b c d e"),
        (r"\textbf{b} {\it i} \emph{\textsc{n}}ew \textcolor{red}{r} \mbox{m}", "b i new r m"),
        (r"one\\ two\newline three", "one\ntwo\nthree"),
        ("one% gone\n  two 5\\% % gone\nthree", "onetwo 5% three"),
        (r"\LaTeX{} and \TeX\ too\ldots", "LaTeX and TeX too…"),
        (r"\href{http://a.org/x}{here} \url{http://b.org/a_b%20c}", "here http://b.org/a_b%20c"),
        (r"x\vspace{2mm} \hspace*{1em}y \includegraphics[width=3cm]{z}\index{q}", "x y"),
        (r"10\textsuperscript{5} H\textsubscript{2}O \SI{10}{\km}", "10^5 H_2O 10 km"),
        (r"\verb|x_1 % \y| and \unknown{kept} \unknown[gone]{kept}", "x_1 % \\y and kept kept"),
        (r"\iffalse gone \ifx a b\fi gone \else kept \fi on", "kept on"),
        (r"It costs $5 and no more", "It costs $5 and no more"),
        (r"\ensuremath{x} \(y\) $ a  + % c" + "\n b $", "$x$ $y$ $a + b$"),
    ],
)  # fmt: skip
def test_running_text(source: str, shown: str) -> None:
    assert tex(source).text == shown


def test_macros_of_the_author_are_expanded() -> None:
    document = tex(
        r"\eg this, \eg, \net{} \both{a}{b} \opt{x} \opt[q]{x} \old{z}"
        r" $\R^n \argmin \loss(\hat\theta)$",
        r"\newcommand{\eg}{e.g.\xspace} \newcommand\net{\textsc{Net}}"
        r"\newcommand*{\both}[2]{#2 and #1} \newcommand{\opt}[2][d]{#1#2} \def\old#1{old #1}"
        r"\renewcommand{\R}{\mathbb{R}} \DeclareMathOperator*{\argmin}{arg\,min}"
        r"\newcommand{\loss}{\mathcal{L}} \let\that\loss",
    )
    assert document.text == (
        r"e.g. this, e.g., Net b and a dx qx old z"
        r" $\mathbb{R}^n \operatorname{arg\,min}\mathcal{L}(\hat\theta)$"
    )


def test_full_stops_of_abbreviations() -> None:
    preamble = (
        r"\DeclareRobustCommand\onedot{\futurelet\@let@token\@onedot}"
        r"\def\@onedot{\ifx\@let@token.\else.\null\fi\xspace}\def\ie{\emph{i.e}\onedot}"
    )
    assert tex(r"One, \ie two, \ie. Three", preamble).text == "One, i.e. two, i.e. Three"


def test_macros_that_never_end_do() -> None:
    assert tex(r"\x{} z", r"\def\x{\x\x y}").text == "y z"
    laughs = "".join(
        f"\\newcommand{{\\l{chr(98 + k)}}}{{{f'{chr(92)}l{chr(97 + k)} ' * 10}}}" for k in range(20)
    )
    assert len(tex(r"\lu Words.", rf"\newcommand{{\la}}{{lol}}{laughs}").text) < 2_000_000


@pytest.mark.parametrize(
    "nested", ["{", r"\textbf{", r"\footnote{", r"\section{", "\\'{", r"\begin{tabular}{c}x&"]
)
def test_deep_nesting_is_read(nested: str) -> None:
    assert "Words" in tex("Words. " + nested * 5000).text


# -- mathematics ----------------------------------------------------------------------------------


def test_displayed_mathematics() -> None:
    document = tex(
        r"By \eqref{b} and \ref{a}:"
        r"\begin{equation}\label{a} x = \text{if $y$} \end{equation}"
        r"\begin{align} a &= b \label{b} \\ c &= \begin{pmatrix}1 & 2\\3 & 4\end{pmatrix} \nonumber"
        r"\\ d &= e \tag{*} \end{align}"
        r"\[ z \] $$w$$ \begin{equation*}v\end{equation*} Then."
    )
    assert texts(document) == [
        "By (2) and 1:",
        r"$$x = \text{if $y$}$$ (1)",
        "$$a = b$$ (2)",
        r"$$c = \begin{pmatrix}1 & 2\\3 & 4\end{pmatrix}$$",
        "$$d = e$$ (*)",
        *("$$z$$", "$$w$$", "$$v$$", "Then."),
    ]
    assert len(texts(document, "math")) == 7


def test_equations_within_sections() -> None:
    document = tex(
        r"\section{A}\begin{equation}x\end{equation}\section{B}\begin{equation}y\end{equation}",
        r"\usepackage{amsmath}",
    )
    assert texts(document, "math") == ["$$x$$ (1)", "$$y$$ (2)"]
    counted = tex(
        r"\numberwithin{equation}{section}\section{A}\section{B}\begin{equation}y\end{equation}"
    )
    assert texts(counted, "math") == ["$$y$$ (2.1)"]


# -- lists, quotes, code, theorems ----------------------------------------------------------------


def test_lists() -> None:
    document = tex(
        r"\begin{itemize}\item One \item[$\bullet$] Two \begin{enumerate}\item A \begin{enumerate}"
        r"\item In\end{enumerate}\item B\end{enumerate}\end{itemize}"
        r"\begin{description}\item[Gist] A summary.\end{description}"
    )
    assert document.text == ("- One\n$\\bullet$ Two\n  1. A\n    (a) In\n  2. B\n\nGist A summary.")
    assert {p.kind for p in document.paragraphs} == {"list"}


def test_environments_of_the_author() -> None:
    document = tex(
        r"\begin{tight}\item One \item Two\end{tight}After.",
        r"\newenvironment{tight}{\begin{itemize}\setlength{\itemsep}{0pt}}{\end{itemize}}",
    )
    assert [(p.kind, document.text[p.start : p.end]) for p in document.paragraphs] == [
        *(("list", "- One\n- Two"), ("text", "After."))
    ]


def test_quotes_and_code() -> None:
    document = tex(
        "Said:\n\\begin{quote}To be.\\end{quote}\n\\begin{verbatim}\nif x % y:\n    \\z\n"
        "\\end{verbatim}\n\\begin{lstlisting}[language=C]\nint x;\n\\end{lstlisting}\nEnd."
    )
    assert texts(document, "quote") == ["To be."]
    assert texts(document, "code") == ["if x % y:\n    \\z", "int x;"]


def test_algorithms_have_lines() -> None:
    document = tex(
        r"\begin{algorithm}\caption{Read}\begin{algorithmic}[1]\Require $n$ \For{$i<n$}"
        r"\State $x \gets i$ \EndFor \Return $x$\end{algorithmic}\end{algorithm}"
    )
    assert texts(document, "caption") == ["Algorithm 1: Read"]
    assert texts(document, "code") == ["Require: $n$\nfor $i<n$\n$x \\gets i$\nend for\nreturn $x$"]


def test_theorems_are_named_and_counted() -> None:
    document = tex(
        r"\begin{thm}[Main]\label{t}All.\end{thm}\begin{proof}Clear.\end{proof}\begin{lem}Some."
        r"\end{lem}\begin{rem}None.\end{rem}See Theorem~\ref{t}.",
        r"\newtheorem{thm}{Theorem}\newtheorem{lem}[thm]{Lemma}\newtheorem*{rem}{Remark}",
    )
    assert texts(document) == [
        *("Theorem 1 (Main). All.", "Proof. Clear.", "Lemma 2. Some.", "Remark. None."),
        "See Theorem 1.",
    ]


# -- figures, tables, notes -----------------------------------------------------------------------


def test_figures_and_tables() -> None:
    document = tex(
        r"See \cref{f,t}. \begin{figure}[t]\centering\includegraphics{a}\caption[S]{A picture."
        r"}\label{f}\end{figure}"
        r"\begin{table}\caption{Scores}\label{t}\begin{tabular}{l|c@{ }c}\toprule"
        r" Name & \multicolumn{2}{c}{Score} & All\\[2pt] \cmidrule(lr){2-3}"
        r" Ann & 1 & $2 \pm 1$ & \textbf{3} \\ \multirow{2}{*}{Bo} & & \\ \bottomrule"
        r"\end{tabular}\end{table}"
    )
    assert texts(document) == [
        "See Figure 1 and Table 1.",
        "Figure 1: A picture.",
        "Table 1: Scores",
        "Name | Score |  | All\nAnn | 1 | $2 \\pm 1$ | 3\nBo",
    ]
    assert [p.kind for p in document.paragraphs] == ["text", "caption", "caption", "table"]


def test_parts_of_figures_have_letters() -> None:
    part = (
        r"\begin{subfigure}{0.4\linewidth}\includegraphics{a}\caption{%s}\label{%s}\end{subfigure}"
    )
    document = tex(
        r"\begin{figure}" + part % ("Left.", "l") + part % ("Right.", "r") + r"\caption{Both.}"
        r"\label{f}\end{figure}See \ref{r} and \ref{f}."
    )
    assert texts(document) == ["(a) Left.", "(b) Right.", "Figure 1: Both.", "See 1b and 1."]


def test_captions_of_long_tables_stand_before_them() -> None:
    document = tex(
        r"\begin{longtable}{ll}\caption{All}\\ \hline a & b \\ \endhead c & d \\ \end{longtable}"
    )
    assert texts(document) == ["Table 1: All", "a | b\nc | d"]


def test_notes_follow_the_paragraph_that_calls_them() -> None:
    document = tex(
        "Said\\footnote{First \\emph{note}.} twice\\footnotemark.\\footnotetext{Second.}\n\nNext."
    )
    assert texts(document) == ["Said[^1] twice[^2].", "[^1]: First note.", "[^2]: Second.", "Next."]
    assert [p.kind for p in document.paragraphs] == ["text", "note", "note", "text"]


def test_drawings_show_no_source() -> None:
    assert tex(r"A\begin{tikzpicture}\draw (0,0);\end{tikzpicture} b").text == "A b"


# -- citations and references ---------------------------------------------------------------------


def test_citations_by_number() -> None:
    document = tex(
        r"See \cite{roe,lee}, \cite[p.~5]{lee}, \cite{none}.\nocite{x}"
        r"\begin{thebibliography}{9}\bibitem{lee} A. Lee. \newblock \emph{On}. "
        r"\bibitem{roe} B. Roe. Off.\end{thebibliography}"
    )
    assert document.text == "See [2, 1], [1, p. 5], [none]."
    assert document.references == "[1] A. Lee. On.\n[2] B. Roe. Off."


def test_citations_by_author_and_year() -> None:
    document = tex(
        r"\citet{lee} and \citep[see][p. 5]{lee} and \citeauthor{lee} in \citeyear{lee},"
        r" \citep{x,lee}."
        r"\begin{thebibliography}{9}\bibitem[{Lee et~al.(2020)Lee, Roe}]{lee} A. Lee."
        r"\end{thebibliography}"
    )
    assert document.text == (
        "Lee et al. (2020) and (see Lee et al., 2020, p. 5) and Lee et al. in 2020,"
        " [x; Lee et al., 2020]."
    )
    assert document.references == "[Lee et al., 2020] A. Lee."


# -- other files ----------------------------------------------------------------------------------


def test_included_files_are_named_and_not_opened() -> None:
    body = r"A. \input{/etc/passwd} B. \include{two} \input three" + "\n" + r"\input{two} C."
    document = tex(body, r"\input{macros}")
    reason = "it stands in another file, which is not read with this one"
    assert document.text == "A. B. C."
    assert document.coverage.failed == tuple(
        (name, reason) for name in ("macros", "/etc/passwd", "two", "three")
    )
    assert (document.coverage.parts, document.coverage.read) == (5, 1)


def test_a_document_that_includes_everything_is_empty() -> None:
    with pytest.raises(EmptyDocument):
        tex(r"\input{one}")


def test_latex_is_known_by_content() -> None:
    source = b"% a paper\n\\documentclass[12pt]{article}\\begin{document}Words.\\end{document}"
    for name in ("paper", "paper.txt", "paper.tex"):
        assert load_bytes(source, name=name).text == "Words."
    about = b"Write \\documentclass{article} first."
    assert load_bytes(about, name="howto.txt").text == about.decode()


def test_old_encodings() -> None:
    source = "\\documentclass{article}\\begin{document}Café déjà vu.\\end{document}"
    assert load_bytes(source.encode("latin-1"), name="a.tex").text == "Café déjà vu."
