"""How the printed book looks: paper, fonts, title page."""

from pathlib import Path

from sphinx.config import Config

from byhand.document import Document
from byhand.print_book import cover

PREAMBLE = Path(__file__).with_name("preamble.tex")
PAPERS = {"a4": "a4paper", "letter": "letterpaper"}
PAPER_WIDTHS = {"a4": 210, "letter": 216}  # millimetres


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
        "extraclassoptions": "openany,oneside",
        "figure_align": "htb",
        "fncychap": "",
        "tocdepth": r"\setcounter{tocdepth}{1}",
        "secnumdepth": r"\setcounter{secnumdepth}{1}",
        "sphinxsetup": f"hmargin={{{LEFT},{right(document.paper)}}}, vmargin={{{TOP},{BOTTOM}}},"
        " verbatimwithframe=false, verbatimvisiblespace={}, verbatimcontinued={},"
        " VerbatimColor={gray}{0.955},"
        r" HeaderFamily=\rmfamily\bfseries,"
        " InnerLinkColor={rgb}{0.40,0.14,0.08}, OuterLinkColor={rgb}{0.40,0.14,0.08},"
        " TitleColor={rgb}{0,0,0}",
        "fontpkg": TYPEFACES,
        "fvset": r"\fvset{fontsize=\footnotesize}",
        "tableofcontents": r"\bookcontents",
        "printindex": r"\printindex",
        "preamble": lengths() + PREAMBLE.read_text(encoding="utf-8") + metadata(document, config),
        "maketitle": title_page(document, config),
    }


LEFT, TOP, BOTTOM = "25mm", "23mm", "17mm"
MEASURE, MARGIN = 115, 47
"""How many millimetres a line of text is long, and how far wide blocks may stand out beyond it."""
SCALE = 1.05  # of the fonts: STIX Two is small for its size


def right(paper: str) -> str:
    """Return the margin that leaves the measure, wide blocks' share of it included."""
    return f"{PAPER_WIDTHS[paper] - int(LEFT[:-2]) - MEASURE}mm"


def lengths() -> str:
    """Return the page's lengths under the names that `preamble.tex` uses."""
    values = {"left": LEFT, "top": TOP, "bottom": BOTTOM, "margin": f"{MARGIN}mm"}
    return "".join(rf"\newcommand*{{\book{name}}}{{{v}}}" + "\n" for name, v in values.items())


TYPEFACES = rf"""
\newcommand*{{\bookscale}}{{{SCALE}}}
\defaultfontfeatures+{{Path=./, Extension=.ttf, Scale=\bookscale}}
\usepackage{{unicode-math}}
\setmathfont{{STIXTwoMath-Regular}}
\setmainfont{{STIXTwoText}}[UprightFont=*-Regular, ItalicFont=*-Italic,
  BoldFont=*-Bold, BoldItalicFont=*-BoldItalic]
% Italics are tokens, which the pages set in the text's face wherever they stand.
\setsansfont{{SourceSans3}}[UprightFont=*-Regular, BoldFont=*-Bold,
  ItalicFont=STIXTwoText-Italic, BoldItalicFont=STIXTwoText-BoldItalic]
\setmonofont{{JetBrainsMono-Regular}}[Scale=0.82, AutoFakeBold=1.5, AutoFakeSlant=0.2]
\defaultfontfeatures{{}}
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
    """Return the cover, which `cover` makes, and on its back who may do what with the book."""
    return rf"""
\hypersetup{{pageanchor=false}}
\includepdf{{{cover.FILE}}}
\thispagestyle{{empty}}
\vspace*{{\fill}}
\begingroup\small\raggedright\setlength{{\parindent}}{{0pt}}\setlength{{\parskip}}{{1.2ex}}
{colophon(document, config)}
\endgroup
\clearpage
"""


def colophon(document: Document, config: Config) -> str:
    """Return the text on the back of the title page."""
    paragraphs = [
        f"Copyright {config.copyright} {config.author}.",
        "Text and figures: Creative Commons Attribution 4.0. Code: MIT.",
        "Every result of a worked example was computed when the book was built: an example is a"
        " few given numbers, one program works them out step by step, and each table, figure and"
        " line of arithmetic shows numbers of that calculation. They are kept to sixteen digits"
        " and rounded only to be printed. Each claim with a number is checked by a line of"
        " program beside it; a claim that does not hold stops the printing.",
        "Left out on paper, and free to read on the screen: the code that makes the numbers, the"
        " tables headed “All numbers”, and what can be tried only there.",
        "Set in STIX Two and Source Sans 3.",
    ]
    if document.is_reader:
        paragraphs.insert(
            0,
            "This reader holds some chapters of the book Attention by Hand. Chapters, sections,"
            " equations, figures, tables and exercises have the numbers that they have in the"
            " whole book. What a sentence refers to and this reader leaves out is named there.",
        )
    paragraphs += cover.edition(config)
    return "\n\n".join(map(escape, paragraphs))
