"""What stands under “All numbers” is built late: nothing that a reader answers may stand there."""

import re

import pytest
from one_book import build

CONFIG = {
    "extensions": [
        *("myst_nb", "sphinx_exercise", "byhand.quiz"),
        *("byhand.chapter.code_folds", "byhand.chapter.section_folds"),
    ]
}
REFUSED = {
    "an exercise": "```{exercise}\n:label: ex-a\nWhat?\n```",
    "a dropdown": "```{admonition} A\n:class: dropdown\nB\n```",
    "a question": "```{quiz} q\nWhich?\n\n- [x] A :: a\n- [ ] B :: b\n```",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_reader_answers_may_not_stand_under_all_numbers(what, tmp_path):
    page = f"# Page\n\n## All numbers\n\n{REFUSED[what]}\n"
    warnings = build(tmp_path, {"index": page}, **CONFIG)
    wanted = "an exercise, a question or a dropdown cannot stand under “All numbers”"
    assert wanted in warnings
    assert re.search(r"index\.md:\d+", warnings)
    allowed = page.replace("## All numbers", "## Deeper: all")
    assert build(tmp_path, {"index": allowed}, **CONFIG) == ""
