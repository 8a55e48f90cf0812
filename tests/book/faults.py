"""Faults that a contributor may make, each with its message and its place in the sources.

`test_faults.py` puts each of them into a small book.
"""

from dataclasses import dataclass

PAGE = "book/index.md"
FIRST = 12  # the line of the small page's title
TEXT = 18  # the first line of what a fault appends to the small page


@dataclass(frozen=True)
class Fault:
    """A fault: its name, its expected message, the faulty text, and the reported file and line."""

    what: str
    message: str
    text: str = ""  # appended to the small page
    line: int = TEXT
    file: str = PAGE
    old: str = ""  # if given, what `text` replaces in the file
    whole: bool = False  # whether `text` is the whole file


def cell(*lines, head="```{code-cell}"):
    return "\n".join([head, *lines, "```"])


def exercise(label):
    return f"```{{exercise}} One\n:label: {label}\n\nDo it.\n```"


def _page(what, message, text, line=0):
    """Return a fault in text that is appended to the small page. Its lines count from 0."""
    return Fault(what, message, text, TEXT + line)


EXAMPLE = "mha/examples/cat-sat.toml"
SOURCE = "mha/audit/sources/mha-tutorial.json"
TWO_HEADS = """title = "Made up"
source = "A test"
tokens = ["a", "b"]
embeddings = [[1], [2]]
[[heads]]
name = "one"
w_q = [[1]]
w_k = [[1]]
w_v = [[1]]
[[heads]]
name = "two"
w_v = [[2]]
w_o = [[1], [1]]
w_q = [[1]]
w_k = [[1]]
"""

CHARACTERS = [
    _page("a merge that was not finished", "<<<<<<< is left from a merge", "<<<<<<< HEAD"),
    _page("a NUL byte", "a NUL byte cannot be seen", "One\x00two."),
    _page("a bidirectional override", "U+202E RIGHT-TO-LEFT OVERRIDE turns", "One \u202etwo."),
    Fault(
        "a bidirectional override in an example",
        "U+2067 RIGHT-TO-LEFT ISOLATE turns",
        "# \u2067 turned\n",
        1,
        EXAMPLE,
        old="title",
    ),
]
MARKUP = [
    _page("a fence that is never closed", "the fence is never closed", "```{note}\nText."),
    _page(
        "a fence that is not closed before the next",
        "the fence is still open where another opens, in line 21",
        "```{code-cell}\nx = 1\n\n```{code-cell}\ny = 2\n```",
    ),
    _page("a row with a cell too many", "this row has 3 cells; 2", "|a|b|\n|-|-|\n|c|d|e|", 2),
    _page("a table without a rule", "a table has no rule below its header", "|a|b|\n|c|d|", 1),
    _page("a heading that leaves a level out", "`###` is wanted", "#### Four"),
    Fault("an empty page", "the page has no title", "", 1, whole=True),
    Fault("a first heading of a lower level", "the first heading is no title", "## A page",
          FIRST, old="# A page"),
    _page("an image without a text", "an image has no alternative text", "![](icon.svg)"),
    _page("a directive of an image without a text", "an image has no alternative text",
          "```{image} ../_config.yml\n```"),
    _page("a script", "<script> in a page", "<script>alert(1)</script>"),
    _page("an attribute that runs code", "the attribute onclick runs code", '<b onclick="x">b</b>'),
    _page("an image from another origin", "https://x.invalid/a.png is loaded from elsewhere",
          "![A dot](https://x.invalid/a.png)"),
    _page("a script in a cell's HTML", "<script> in a page", cell("html = '<script src=a>'"), 1),
    _page("a decimal in prose", "0.73 is typed into the prose", "The weight is 0.73."),
    _page("a decimal in a formula", "0.73 is typed into the prose", "$A_{11} = 0.73$"),
    _page("a decimal in a table", "0.5 is typed into the prose", "| a |\n| - |\n| 0.5 |", 2),
    _page("a decimal in a caption", "0.2 is typed into the prose",
          cell("---", "mystnb:", "  figure:", "    caption: falls to 0.2", "---", "x = 0.1"), 4),
    _page("a percentage in prose", "73 % is typed into the prose", "The weight is 73 %."),
]  # fmt: skip
DATA = [
    Fault("contents that are no YAML", "this is not YAML", "root: [\n", 2, "_toc.yml", whole=True),
    Fault("settings that are no YAML", "this is not YAML", "a: 'b\n", 2, "_config.yml", whole=True),
    Fault("contents without a root", "'root' key not found",
          "format: jb-book\n", 1, "_toc.yml", whole=True),
    Fault("contents that name no page", "there is no page book/lost.md",
          "format: jb-book\nroot: index\nchapters:\n  - file: lost\n", 4, "_toc.yml", whole=True),
    Fault("contents that name a page twice", "used multiple times: 'index'",
          "format: jb-book\nroot: index\nchapters:\n  - file: index\n", 2, "_toc.yml", whole=True),
    Fault("a page that no contents list names", "no contents list names this page",
          "# Alone\n", 1, "book/alone.md", whole=True),
    Fault("front matter that is no YAML", "this is not YAML", "jupytext: [", 4, old="jupytext:"),
    Fault("front matter without an end", "the front matter has no end", "name: python3\n\n", 1,
          old="name: python3\n---\n"),
    Fault("front matter without a kernel", "no kernelspec.name",
          "---\njupytext:\n  text_representation:\n    format_name: myst\n---\n\n# A page\n\n"
          "```{code-cell}\nx = 1\n```\n", 1, whole=True),
    Fault("cells without front matter", "the page has cells but no front matter",
          "# A page\n\n```{code-cell}\nx = 1\n```\n", 1, whole=True),
    _page("a cell's header that is no YAML", "this is not YAML",
          cell("---", "mystnb: [", "---", "x = 1"), 3),
    Fault("a bibliography's entry that is not closed", "not BibTeX: premature end of file",
          "@book{a,\n  title = {B},\n", 3, "book/references.bib", whole=True),
    Fault("an entry without an address", "nothing says where this work is found",
          "@book{a,\n  title = {B},\n}\n", 1, "book/references.bib", whole=True),
    Fault("a key of two entries", "repeated bibliography entry: a", "@book{a,\n}\n@book{a,\n}\n", 3,
          "book/references.bib", whole=True),
    Fault("two works that are cited alike", "b and a are both cited as Ba, 2016",
          "".join(f"@misc{{{key},\n  author = {{Ba, Jimmy}},\n  year = {{2016}},\n"
                  "  eprint = {1607.06450},\n}\n" for key in "ab"), 6, "book/references.bib",
          whole=True),
    Fault("an example that is no TOML", "this is not TOML", "title = [", 1, EXAMPLE, whole=True),
    Fault("an example whose mask is switched by a word",
          "is_causal is 'no'; true or false is wanted", 'is_causal = "no"\ntitle', 1, EXAMPLE,
          old="title"),
    Fault("an example whose concept is a number", "shows is 7; a string is wanted",
          "shows = 7\n#", 3, EXAMPLE, old="shows"),
    Fault("a token that is a number", "a sequence of strings is wanted", "tokens = [1, 2]\n#", 4,
          EXAMPLE, old="tokens"),
    Fault("an invisible token", "visible characters are wanted", 'tokens = ["cat", " "]\n#', 4,
          EXAMPLE, old="tokens"),
    Fault("an output projection below a head",
          "[[heads]] number 2 has an unknown key 'w_o'; it belongs to the whole example",
          TWO_HEADS, 13, EXAMPLE, whole=True),
    Fault("a misspelt matrix of the second head",
          "[[heads]] number 2 has an unknown key 'w_vv'; did you mean 'w_v'?",
          TWO_HEADS.replace("w_v = [[2]]", "w_vv = [[2]]"), 12, EXAMPLE, whole=True),
    Fault("a head without a name", "[[heads]] number 2 has no 'name'",
          TWO_HEADS.replace('name = "two"', "").replace("w_o = [[1], [1]]", ""),
          10, EXAMPLE, whole=True),
    Fault("a misspelt key of an example", "unknown key 'titel'; did you mean 'title'?",
          TWO_HEADS.replace("title", "titel"), 1, EXAMPLE, whole=True),
    Fault("an empty example", "the file has no 'title'", "", 1, EXAMPLE, whole=True),
    Fault("an example without heads", "neither [[heads]] nor query, key and value",
          TWO_HEADS[: TWO_HEADS.index("[[heads]]")], 1, EXAMPLE, whole=True),
    Fault("a transcript that is no JSON", "this is not JSON", "[\n{,\n", 2, SOURCE, whole=True),
]  # fmt: skip
CELLS = [
    _page("a cell that is no Python", "this is not Python", cell("x = 1", "y ="), 2),
    _page("an expression that is no Python", "this is not Python", "It is {eval}`x +`."),
    _page("a cell of sixteen lines", "this cell has 16 lines; at most 15 are wanted",
          cell(*["x = 1"] * 16)),
    _page("random numbers without a seed", "np.random.rand has no seed of its own",
          cell("x = np.random.rand(3)"), 1),
    _page("the clock", "time.time reads the clock", cell("import time", "x = time.time()"), 2),
    _page("an object's address", "id is an object's address", cell("x = id(print)"), 1),
    _page("the network", "import urllib speaks to a network", cell("import urllib.request"), 1),
]  # fmt: skip
SOLUTIONS = [
    _page("a solution to an unknown exercise", "a solution to an unknown exercise, 'lost'",
          "```{solution} lost\nSo.\n```"),
    _page("a solution that does not end", "this solution does not end",
          exercise("one") + "\n\n```{solution-start} one\n```", 6),
    _page("a solution whose program is not printed", "print omits this answer",
          exercise("one") + "\n\n```{solution-start} one\n```\n\n"
          + cell("one = 1", "assert check(one)") + "\n\n```{solution-end}\n```", 9),
    _page("a solution that ends twice", "nothing begins here", "```{solution-end}\n```"),
]  # fmt: skip
WORDING = [
    _page("a score called an attention score", '"attention score" is not the book\'s',
          "The attention score."),
    _page("a chapter told by its place", '"next chapter" is not the book\'s',
          "The next chapter\nhas it."),
]  # fmt: skip

CLAIMS = [
    _page("a number quoted without its source", "a number is quoted without its source",
          "Table {given}`2` gives {given}`0.4`."),
    _page("a claim that the list lacks", "the claim lost is not in book/claims.toml",
          "So it is. {claim}`lost`"),
    Fault("a claim without a kind", "kind is 'sure'; one of proved, computed",
          '[a]\nsays = "So."\nkind = "sure"\nevidence = "{ref}`a`"\n', 1, "book/claims.toml",
          whole=True),
    Fault("a claim with what looks like a tag", r"\\<word\\> is wanted",
          '[a]\nsays = "On *cat <end>*."\nkind = "computed"\nevidence = "{ref}`a`"\n', 1,
          "book/claims.toml", whole=True),
    Fault("a claim without evidence", "evidence with a reference or a citation, are wanted",
          '[a]\nsays = "So."\nkind = "computed"\n', 1, "book/claims.toml", whole=True),
    Fault("a proof that is no proposition", "a proof rests on a proposition or a formula",
          '[a]\nsays = "So."\nkind = "proved"\nevidence = "{ref}`a`"\n', 1, "book/claims.toml",
          whole=True),
    Fault("a quotation from nowhere in its source", "a quotation has a place in its source",
          '[a]\nsays = "So."\nkind = "quoted"\nevidence = "{cite:t}`a2020`"\n', 1,
          "book/claims.toml", whole=True),
    _page("a number without a kind", "512 has no kind; {eval}, {given} or a {claim} is wanted",
          "Heads are at most\n512 wide.", 1),
]  # fmt: skip

SYMBOLS = [
    _page("a symbol with a second meaning", "$m$ means something else here than in Notation",
          "The largest score $m$ is kept."),
]  # fmt: skip

HTML = [
    _page("a comment that does not end", "the comment has no end; --> is wanted", "<!-- Open"),
    _page("a comment in a line that does not end", "the comment has no end", "Text <!-- open"),
    _page("an element that does not end", "<div> has no end; </div> is wanted",
          "<div>\n\nText."),
    _page("a word whose element does not end", "<b> has no end", "Some <b>bold text."),
    _page("an element inside that does not end", "<td> has no end", "<table><tr><td>a</tr>"),
    _page("an element that ends without a start", "</span> ends nothing", "text</span> here"),
    _page("a tag that does not end", "the tag <b has no end; > is wanted", 'Some <b class="a"'),
    _page("an entity that does not exist", "&nbps; is no character of HTML", "A&nbps;B."),
]  # fmt: skip
MARKS = [
    _page("code that does not end", "the code has no end in its paragraph", "The `code is open."),
    _page("a formula that does not end", "the formula has no end in its", "It is $d_k."),
    _page("bold text that does not end", "the text in bold has no", "This is **bold.\nMore.", 0),
    _page("a displayed formula that does not end", "the formula has no", "$$\na = b\n\nText."),
    _page("an {eval} without an expression", "{eval} has no content", "It is {eval}` `."),
    _page("a statement in an {eval}", "is a statement, which has no value", "It is {eval}`x = 1`."),
    _page("a {given} without a number", "{given} has no content", "It is {given}` `."),
    _page("an address with a space", "the address 'b c.md' has a space", "See [a](b c.md)."),
    _page("an image's name with a space", "the address 'b c.png' has a space", "![A](b c.png)"),
    _page("an address without a host", "http:// is no address", "See [a](http://)."),
    _page("a link to a name that is not defined", "[a][nope] has no address", "See [a][nope]."),
    _page("a rule that a merge left", "======= is left from a merge", "One\n\n=======\n\nTwo", 2),
    _page("a note to oneself", "TODO is left over", "TODO: write this."),
    _page("a footnote's mark without a note", "the footnote 1 has no note", "A mark[^1] here."),
    _page("a note without a mark", "no text refers to the footnote a", "[^a]: A note."),
    _page("a footnote that is given twice", "the footnote a is given twice",
          "One[^a].\n\n[^a]: A note.\n\n[^a]: Another.", 4),
    _page("an included file", "{include} is not used", "```{include} _a.md\n```"),
]  # fmt: skip
HEADERS = [
    _page("a misspelt tag", "unknown tag 'remove_input'; did you mean 'remove-input'?",
          cell(":tags: [remove_input]", "", "x = 1"), 1),
    _page("a misspelt key of a cell's header",
          "unknown key 'mystbn' in the cell's header; did you mean 'mystnb'?",
          cell("---", "mystbn:", "  figure:", "    name: fig-a", "---", "x = 1"), 2),
    _page("a misspelt key of a figure",
          "unknown key 'captoin' of figure in the cell's header; did you mean 'caption'?",
          cell("---", "mystnb:", "  figure:", "    captoin: A", "---", "x = 1"), 4),
    _page("keys in another order", "Jupyter would save this line otherwise, as `mystnb:`",
          cell("---", "tags: [remove-input]", "mystnb:", "  figure:", "    name: fig-a", "---",
               "x = 1"), 2),
    _page("a cell without a blank line before it", "save this line otherwise, as a blank line",
          "Text.\n" + cell("x = 1"), 1),
    _page("another label of a figure in its code", "the code names the figure fig-b, but",
          cell("---", "mystnb:", "  figure:", "    name: fig-a", "---", 'show(name="fig-b")')),
    _page("a cell that starts a program", "import subprocess works on the machine of whoever",
          cell("import subprocess"), 1),
    _page("a cell that writes a file", "writes a file into the book's folder",
          cell('with open("a.txt", "w") as file:', '    file.write("a")'), 1),
]  # fmt: skip
LABELS = [
    _page("an exercise without a label", "the exercise has no label",
          "```{exercise} One\n\nDo it.\n```"),
    _page("an exercise with a misspelt label", "the exercise has no label",
          "```{exercise}\n:lable: ex-a\nDo it.\n```"),
    _page("two exercises with one label", "the label ex-a is also that of book/index.md:18",
          exercise("ex-a") + "\n\n" + exercise("ex-a"), 6),
    _page("two questions with one label", "the label who is also that of book/index.md:18",
          "\n\n".join(["```{quiz} who\nWhich?\n\n- [x] A :: a\n- [ ] B :: b\n```"] * 2), 7),
    _page("an answer to an unknown exercise", "no exercise has the label 'ex-a'",
          "```{asked} ex-a\n:answer: 1\n:places: 0\nWhat.\n```"),
]  # fmt: skip
FILES = [
    Fault("an image that is none", "this is not PNG, as its name says", "text", 1,
          "book/a.png", whole=True),
    Fault("a drawing that is none", "this is not SVG: syntax error", "text", 1,
          "book/a.svg", whole=True),
    Fault("a drawing that does not end", "this is not SVG: no element found",
          '<svg xmlns="http://www.w3.org/2000/svg">\n<g>\n', 3, "book/a.svg", whole=True),
    Fault("a drawing with a script", "the image has <script>",
          '<svg xmlns="http://www.w3.org/2000/svg">\n<script>a()</script></svg>', 2, "book/a.svg",
          whole=True),
    Fault("a drawing that runs code", "the attribute onload runs code", '<svg onload="a()"/>', 1,
          "book/a.svg", whole=True),
    Fault("a drawing that loads another", "//x.invalid/a.png is loaded from elsewhere",
          '<svg>\n<image href="//x.invalid/a.png"/></svg>', 2, "book/a.svg", whole=True),
    Fault("a file whose name has a space", "the name 'a b.svg' cannot be part of an address",
          "<svg/>", 1, "book/a b.svg", whole=True),
    Fault("a page whose name has an umlaut", "the name 'ärger.md' cannot be part of an address",
          "# A page\n", 1, "book/ärger.md", whole=True),
    Fault("an example whose name has a space", "the name 'a b.toml' cannot be part of an address",
          TWO_HEADS.replace("w_o = [[1], [1]]\n", ""), 1, "mha/examples/a b.toml", whole=True),
    Fault("a style sheet whose block does not end", "{ has no end; } is wanted",
          "a { color: red; }\nb { color: red;\n", 2, "book/_static/a.css", whole=True),
    Fault("a style sheet with a bracket too many", "} ends nothing", "a { color: red; }\n}\n", 2,
          "book/_static/a.css", whole=True),
    Fault("a style sheet whose comment does not end", "the comment has no end; */ is wanted",
          "/* a\n", 1, "book/_static/a.css", whole=True),
    Fault("a style sheet whose string does not end", "the string has no end",
          'a::before { content: "a; }\n', 1, "book/_static/a.css", whole=True),
    Fault("a declaration without a colon", "this is not CSS", "a {\n  color red;\n}\n", 2,
          "book/_static/a.css", whole=True),
    Fault("a template that is not Jinja", "this is not Jinja: Unexpected end of template",
          "<p>\n{% if a %}\n", 2, "book/_templates/a.html", whole=True),
    Fault("claims that are no TOML", "this is not TOML", "[a\n", 1, "book/claims.toml", whole=True),
    Fault("marking schemes that are no TOML", "this is not TOML", "[a\n", 1, "book/marking.toml",
          whole=True),
    Fault("objectives that are no TOML", "this is not TOML", "[a\n", 1, "book/objectives.toml",
          whole=True),
    Fault("questions left out that are no TOML", "this is not TOML", "[a\n", 1,
          "scripts/packs/bank.toml", whole=True),
    Fault("a claim with a misspelt key", "a claim has no 'sais'; one of says, kind, evidence",
          '[a]\nsays = "So."\nkind = "computed"\nevidence = "{ref}`a`"\nsais = "So."\n', 5,
          "book/claims.toml", whole=True),
    Fault("a claim's key above its label", "says is not part of a claim", 'says = "So."\n', 1,
          "book/claims.toml", whole=True),
    Fault("search data that are no TOML", "this is not TOML", "stop = [\n", 2,
          "book/_ext/byhand/search/ranking.toml", whole=True),
    Fault("a misspelt table of the search", "unknown table 'headingz'; did you mean 'headings'?",
          "stop = []\nsynonyms = []\n[pages]\n[first]\n[headingz]\n[asked]\n", 5,
          "book/_ext/byhand/search/ranking.toml", whole=True),
    Fault("a misspelt `execute:`", "unknown key 'exekute'; did you mean 'execute'?", "exekute:", 23,
          "_config.yml", old="execute:"),
    Fault("a misspelt setting below `execute:`",
          "unknown key 'execute_notebook' of execute; did you mean 'execute_notebooks'?",
          "execute_notebook:", 25, "_config.yml", old="execute_notebooks:"),
    Fault("two examples with one title", "mha/examples/cat-sat.toml has the title 'cat sat' too",
          TWO_HEADS.replace("Made up", "cat sat").replace("w_o = [[1], [1]]\n", ""), 1,
          "mha/examples/dog.toml", whole=True),
    Fault("infinity in an example", "w_q holds inf",
          TWO_HEADS.replace("w_q = [[1]]", "w_q = [[inf]]", 1).replace("w_o = [[1], [1]]\n", ""), 7,
          EXAMPLE, whole=True),
]  # fmt: skip
CHAPTER = "book/mechanism/one.md"
CHAPTERS = [
    Fault("a chapter with too few exercises", "has 0 exercises; at least 4 are wanted",
          "# One\n", 1, CHAPTER, whole=True),
    Fault("a chapter with too few quizzes", "has 0 quizzes; at least 3 are wanted", "# One\n", 1,
          CHAPTER, whole=True),
    Fault("a chapter without a box", "has 0 boxes that ask for a number; at least 1 is wanted",
          "# One\n", 1, CHAPTER, whole=True),
    Fault("a chapter without a wide figure", "no figure of full width", "# One\n", 1,
          CHAPTER, whole=True),
    Fault("a chapter without PyTorch", "has 0 section `## In PyTorch`; one is wanted", "# One\n", 1,
          CHAPTER, whole=True),
    Fault("an exercise without a difficulty", "the exercise has no difficulty",
          "# One\n\n" + exercise("ex-one"), 3, CHAPTER, whole=True),
    Fault("an exercise without a solution", "the exercise has no solution below it",
          "# One\n\n" + exercise("ex-one"), 3, CHAPTER, whole=True),
    *(
        Fault(what, message, f"# Cat sat\n\n{text}", line, "book/examples/cat-sat.md", whole=True)
        for what, message, text, line in (
            ("an example's chapter without a label", "a line (example-cat-sat)= is wanted", "", 1),
            ("an example's chapter with another opening", 'run, show = open_example("cat-sat")',
             cell("from mha.chapters import *", 'run = open("cat-sat")'), 5),
            ("an example's chapter without tables", "no table shows query, key",
             cell("from mha.chapters import *", 'run, show = open_example("cat-sat")'), 1),
            ("an example's chapter without an explorer", "the chapter has no explorer",
             cell("from mha.chapters import *", 'run, show = open_example("cat-sat")'), 1),
            ("an example's chapter without steps", "the chapter has no {read-in-steps}",
             cell("from mha.chapters import *", 'run, show = open_example("cat-sat")'), 1),
            ("an import in an example's chapter", "an example's chapter imports nothing else",
             cell("from mha.chapters import *", 'run, show = open_example("cat-sat")',
                  "import numpy as np"), 6),
        )
    ),
]  # fmt: skip

FAULTS = [
    *(*CHARACTERS, *MARKUP, *DATA, *CELLS, *SOLUTIONS, *SYMBOLS, *CLAIMS, *WORDING),
    *(*HTML, *MARKS, *HEADERS, *LABELS, *FILES, *CHAPTERS),
]

# Broken references, which the build reports all at once: a paragraph of a page, and the message.
LEADS_NOWHERE = [
    ("See {ref}`nowhere`.", "undefined label: 'nowhere'"),
    ("See {numref}`Table %s <tbl-no>`.", "undefined label: 'tbl-no'"),
    ("See {eq}`eq-no`.", "equation not found: eq-no"),
    ("See {doc}`lost`.", "unknown document: 'lost'"),
    ("{cite:p}`nobody2000`", 'could not find bibtex key "nobody2000"'),
    ("See [this](lost.md).", "cross-reference target not found: 'lost.md'"),
    ("See [this](#lost).", "cross-reference target not found: 'lost'"),
    ("![A dot](lost.png)", "image file not readable: lost.png"),
    ("```{literalinclude} lost.py\n```", "Include file 'book/lost.py' not found"),
    ("It is {eval}`__import__('numpy').int64(7)`.", "would show np.int64(7); text or a whole"),
    ("It is {eval}`float('nan')`.", "would show nan; a finite number is wanted"),
    ("It is {eval}`str(float('inf')) + ' m'`.", "would show inf; a finite number is wanted"),
    ("It is {eval}`'a' * 2_000_000`.", "has 2,000,002 characters; at most 2,000 are wanted"),
    ("It is {eval}`1 / 3`.", "would show 0.3333333333333333; text or a whole number"),
    ("It is {eval}`None`.", "would show None; text or a whole number"),
    ("It is {eval}`lambda: 0`.", "would show <function"),
    (cell("from mha.views import figures", "figures.Figure(svg='<svg></svg>', alt='')"),
     "a figure has no alternative text"),
    ("It is $\\frac{1$ and broken.", "TeX `\\frac{1`"),
    ("The weight is {eval}`missing`.", "{eval}`missing`: NameError: name 'missing'"),
    ("(twice)=\n## One\n\n(twice)=\n## Two", 'Duplicate explicit target name: "twice"'),
]  # fmt: skip

# Faults that only a build finds: the fault, the cell's lines, the message, the line in the cell.
IN_CELLS = [
    ("a claim that does not hold", ["x = 1", "assert x == 2"],
     "assert x == 2 raised AssertionError", 1),
    ("a warning of Python", ["import warnings", "warnings.warn('beware')"],
     "warnings.warn('beware') raised UserWarning: beware", 1),
    ("a cell that writes to stderr", ["import sys", "print('oh', file=sys.stderr)"],
     "the cell writes to stderr: oh", 0),
    ("an object's address on the page", ["object()"], "the cell shows an object's address", 0),
    ("a plain figure without a text", ["import matplotlib.pyplot as plt", "plt.plot([1, 2]);"],
     "the cell's image has no alternative text", 0),
    ("a script in what a cell shows",
     ["from IPython.display import HTML", "HTML('<scr' + 'ipt>alert(1)</scr' + 'ipt>')"],
     "the cell shows the script alert(1); scripts go into book/_static", 0),
    ("an image from elsewhere in what a cell shows",
     ["from IPython.display import HTML", "HTML('<img alt=\"a\" sr' + 'c=\"//x.invalid/a.png\">')"],
     "in the output of the cell, //x.invalid/a.png is loaded from elsewhere", 0),
    ("twenty megabytes of output", ["x = 1", "print('a' * 20_000_000)"],
     "print('a' * 20_000_000) raised RuntimeError: the cell prints more than 1,000,000", 1),
    ("a table with what is no number",
     ["from mha.views import tables",
      "tables.array_table([[1.0, float('nan')]], rows=['a'], columns=['b', 'c'], caption='A')"],
     "a table shows nan; finite numbers, or the tag not-finite, are wanted", 0),
    ("an element of a cell's HTML that does not end",
     ["from IPython.display import HTML", "HTML('<b>One')"],
     "in the output of the cell, <b> has no end", 0),
    ("a cell that asks its reader", ["input()"], "input() raised EOFError", 0),
    ("a recursion without an end", ["def f():", "    return f()", "f()"],
     "f() raised RecursionError", 2),
    ("a process that ends", ["import os", "os.kill(os.getpid(), 9)"], "its process ended", 0),
]  # fmt: skip
