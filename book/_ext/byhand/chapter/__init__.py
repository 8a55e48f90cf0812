"""Elements of a chapter besides text, figures and questions.

- `lead_and_aims`: the opening sentence, the aims, the minutes, and the difficulty of exercises.
- `section_folds`: folded sections ("Deeper", "All numbers", "In PyTorch").
- `code_folds`: folded code.
- `checked_blocks`: PyTorch code and machine-marked answers, both checked against the page's run.
- `indexes`: tables from the sources of all chapters: claims, and exercises with their minutes.
- `numbered_boxes`: algorithms and propositions, and references by number.
- `published_tables`: tables of facts about published models.
- `roles`: roles for given numbers, files of the site and minutes.

`byhand.checking` refuses decimals and percentages that are typed into prose without a role.
"""

from sphinx.application import Sphinx

from byhand.chapter import (
    checked_blocks,
    code_folds,
    indexes,
    lead_and_aims,
    numbered_boxes,
    published_tables,
    roles,
    section_folds,
)
from byhand.quiz.elements import FRAMED


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    for name, role in (roles.ROLES | {"claim": indexes.claim_role}).items():
        app.add_role(name, role)
    for module in (checked_blocks, indexes, lead_and_aims, published_tables, roles):
        for name, directive in module.DIRECTIVES.items():
            app.add_directive(name, directive)
    for kind, node in numbered_boxes.KINDS.items():
        app.add_directive(kind, numbered_boxes.NumberedBox)
        app.add_enumerable_node(node, kind, html=numbered_boxes.AS_ADMONITION)
    for framed in lead_and_aims.FRAMES:
        app.add_node(framed, html=FRAMED)
    app.add_post_transform(numbered_boxes.ResolveNumbers)
    app.connect("doctree-read", lead_and_aims.count_minutes)
    app.connect("doctree-resolved", roles.insert_minutes_and_links)
    app.connect("doctree-resolved", lead_and_aims.mark_difficulty)
    app.connect("doctree-resolved", code_folds.fold_code)
    app.connect("doctree-resolved", section_folds.fold_sections)  # the code has been folded
    app.connect("html-page-context", section_folds.finish_page)
