"""What a chapter is made of besides text, figures and questions.

It opens with one sentence, what its reader will be able to do, and in how many minutes: `openings`.
`section_folds` folds away what a first reading can do without, "Deeper", "All numbers" and "In
PyTorch", and `code_folds` the code of each section; `in_pytorch` has the same calculation for
PyTorch. `difficulty` marks exercises, `asked` says which number of one can be marked by a machine,
and `teaching` counts them and the minutes for the page that teachers read. `on_site` names files
that are downloaded from the site. `claims` marks the claims and lists them in the ledger.
`numbered_boxes` hold the algorithms and the propositions, `counted` says their numbers where they
are referred to.
`printed_switch` shows what a source prints beside the numbers, and `on_sheet` leads from such a
number to its document under the red pencil.

Each is an extension of its own: a directive or a role, a node where the page and paper write it in
two ways, and the change that is made to the page once all pages have been read. The role
``{given}`` writes a number that is typed because it is given, not computed; `byhand.checking`
refuses other decimals and percentages that are typed into prose.
"""

from docutils import nodes
from sphinx.application import Sphinx

PARTS = (
    "claims",
    "numbered_boxes",
    "counted",
    "printed_switch",
    "in_pytorch",
    "code_folds",
    "section_folds",
    "openings",
    "difficulty",
    "asked",
    "teaching",
    "on_site",
    "on_sheet",
)


def given_role(
    name: str, rawtext: str, text: str, *context: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return a typed number, on one line with its per cent sign."""
    whole = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return [nodes.inline(rawtext, whole, classes=["given"])], []


def setup(app: Sphinx) -> None:
    """Load every part."""
    app.add_role("given", given_role)
    for part in PARTS:
        app.setup_extension(f"{__name__}.{part}")
