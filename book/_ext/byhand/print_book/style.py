"""How the printed book looks: paper, fonts, title page."""

from pathlib import Path

from sphinx.config import Config

from byhand.document import Document

PREAMBLE = Path(__file__).with_name("preamble.tex")
PAPERS = {"a4": "a4paper", "letter": "letterpaper"}


SPECIAL = str.maketrans(
    {c: rf"\{c}" for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def escape(text: str) -> str:
    """Return a text as LaTeX, also for a PDF's description of itself."""
    return text.translate(SPECIAL)


def elements(document: Document, config: Config) -> dict[str, str]:
    """Return Sphinx's ``latex_elements`` for a document."""
    return {
        "papersize": PAPERS[document.paper],
        "pointsize": "10pt",
        "extraclassoptions": "openany",
        "figure_align": "H",
        "fncychap": "",
        "tocdepth": r"\setcounter{tocdepth}{1}",
        "secnumdepth": r"\setcounter{secnumdepth}{1}",
        "sphinxsetup": "hmargin={25mm,25mm}, vmargin={25mm,28mm}, verbatimwithframe=false,"
        " VerbatimColor={gray}{0.955}, noteborder=0.4pt, InnerLinkColor={rgb}{0.07,0.25,0.5},"
        " OuterLinkColor={rgb}{0.07,0.25,0.5}, TitleColor={rgb}{0,0,0}",
        "fontpkg": FONTS,
        "fvset": r"\fvset{fontsize=\footnotesize}",
        "printindex": r"\footnotesize\raggedright\printindex",
        "preamble": PREAMBLE.read_text(encoding="utf-8") + metadata(document, config),
        "maketitle": title_page(document, config),
    }


FONTS = r"""
\usepackage{unicode-math}
\setmathfont{texgyretermes-math.otf}
\setmainfont{FreeSerif}[Extension=.otf, UprightFont=*, ItalicFont=*Italic,
  BoldFont=*Bold, BoldItalicFont=*BoldItalic]
\setsansfont{FreeSans}[Extension=.otf, UprightFont=*, ItalicFont=*Oblique,
  BoldFont=*Bold, BoldItalicFont=*BoldOblique]
\setmonofont{DejaVuSansMono}[Extension=.ttf, Scale=0.82, UprightFont=*,
  ItalicFont=*-Oblique, BoldFont=*-Bold, BoldItalicFont=*-BoldOblique]
"""


def metadata(document: Document, config: Config) -> str:
    """Return what a PDF says about itself."""
    subject = document.subtitle
    return (
        r"\hypersetup{pdflang={en}, pdfdisplaydoctitle=true,"
        f" pdftitle={{{escape(document.title)}}}, pdfauthor={{{escape(config.author)}}},"
        f" pdfsubject={{{escape(subject)}}},"
        r" pdfkeywords={attention, multi-head attention, transformer, softmax, worked examples}}"
    )


def title_page(document: Document, config: Config) -> str:
    """Return the title page and, on its back, who may do what with the book."""
    people = (
        [document.course, document.instructor, document.date]
        if document.is_reader
        else [config.author]
    )
    lines = "".join(rf"{{\Large {escape(text)}\par}}\vskip 3mm" + "\n" for text in people if text)
    return rf"""
\begin{{titlepage}}
\hypersetup{{pageanchor=false}}
\vspace*{{0.16\textheight}}
{{\noindent\rule{{\textwidth}}{{1pt}}\par}}
\vskip 12mm
\begin{{flushright}}
\sffamily\bfseries
{{\Huge {escape(document.title)}\par}}
\vskip 6mm
{{\Large\normalfont\itshape {escape(document.subtitle)}\par}}
\vskip 24mm
\normalfont
{lines}\end{{flushright}}
\vfill
\end{{titlepage}}
\thispagestyle{{empty}}
\vspace*{{\fill}}
\begingroup\small\raggedright\setlength{{\parindent}}{{0pt}}\setlength{{\parskip}}{{1.2ex}}
{colophon(document, config)}
\endgroup
\clearpage
\hypersetup{{pageanchor=true}}
"""


def colophon(document: Document, config: Config) -> str:
    """Return the text on the back of the title page."""
    paragraphs = [f"Copyright {config.copyright} {config.author}."]
    paragraphs += [
        "Text and figures: Creative Commons Attribution 4.0. Code: MIT.",
        "Every result of a worked example was computed when the book was built.",
    ]
    if document.is_reader:
        paragraphs.insert(
            0,
            "This reader holds some chapters of the book Attention by Hand. Chapters, sections,"
            " equations, figures, tables and exercises have the numbers that they have in the"
            " whole book. What a sentence refers to and this reader leaves out is named there.",
        )
    return "\n\n".join(map(escape, paragraphs))
