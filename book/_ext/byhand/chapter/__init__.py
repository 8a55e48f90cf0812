"""What a chapter is made of besides text, figures and questions.

It opens with one sentence, what its reader will be able to do, and in how many minutes; exercises
are marked by difficulty: `openings`. `section_folds` folds away what a first reading can do
without, "Deeper", "All numbers" and "In PyTorch", and `code_folds` the code of each section. `held`
has what the page's run must bear out: the same calculation in PyTorch, and which number of an
exercise can be marked by a machine. `listings` are made of the sources of all chapters: the ledger
of claims, and the exercises with their minutes for the page that teachers read. `numbered` are the
boxes of algorithms and propositions, and the numbers wherever something is referred to. `roles` are
words that stand for something else: a number that is given, a file of the site, minutes.

`byhand.checking` refuses decimals and percentages that are typed into prose without a role.
"""

from sphinx.application import Sphinx

from byhand.chapter import code_folds, held, listings, numbered, openings, roles, section_folds
from byhand.quiz.elements import FRAMED


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    for name, role in (roles.ROLES | {"claim": listings.mark}).items():
        app.add_role(name, role)
    for module in (held, listings, openings, roles):
        for name, directive in module.DIRECTIVES.items():
            app.add_directive(name, directive)
    for kind, node in numbered.KINDS.items():
        app.add_directive(kind, numbered.NumberedBox)
        app.add_enumerable_node(node, kind, html=numbered.AS_ADMONITION)
    for framed in openings.FRAMES:
        app.add_node(framed, html=FRAMED)
    app.add_post_transform(numbered.SayNumbers)
    app.connect("doctree-read", openings.count_minutes)
    app.connect("doctree-resolved", roles.say)
    app.connect("doctree-resolved", openings.mark_difficulty)
    app.connect("doctree-resolved", code_folds.fold_code)
    app.connect("doctree-resolved", section_folds.fold_sections)  # the code has been folded
    app.connect("html-page-context", section_folds.finish_page)
