"""What a chapter's own blocks refuse, each with its line; all of it is told by one build."""

from book_site import FRONT
from one_book import build

from byhand.reading import results
from byhand.reading.steps import Step

EXTENSIONS = ["myst_nb", "sphinx_exercise", "byhand.quiz", "byhand.chapter"]
HEAD = (
    FRONT
    + """# A page

```{code-cell}
import numpy as np
x = np.array([[2.0, 0], [-1, 5]])
```

"""
)
PYTORCH = """\
```{pytorch}
:given: x
:prints: x / 3, np.nan
import torch

x = torch.tensor([[2.0, 0], [-1, 5]])
print(x / 3, torch.nan)
---
tensor([[ 0.6667,  0.0000],
        [-0.3333,  1.6667]]) nan
```
"""
ASKED = "```{asked} ex-one\n:answer: x.sum()\n:places: 1\nThe sum.\n```\n"


def quiz(content, options="", label="q"):
    return f"```{{quiz}} {label}\n{options}Which?\n\n{content}\n```\n"


def below_all_numbers(block):
    return f"## All numbers\n\n{block}\n"


UNASKABLE = "an exercise, a question or a dropdown cannot stand under “All numbers”"

# The block, where it is told in lines of the block, and what is said.
REFUSED = [
    (quiz("- [ ] a :: b\n- [ ] c :: d"), 1, "0 options are right; one is wanted"),
    (quiz("- [x] a :: b\n- [x] c :: d"), 1, "2 options are right; one is wanted"),
    (quiz("- [ ] a :: b\n- [ ] c :: d", ":multiple:\n\n"), 1, "at least one is wanted"),
    (quiz("- [x] a :: b\n- [ ] c"), 5, "option `c` has no feedback after `::`"),
    (quiz("- [x] a :: b\n- c :: d"), 5, "an option begins with `[x]` or `[ ]`"),
    (quiz("- [x] :: b\n- [ ] c :: d"), 4, "an option has no text"),
    (quiz("- [x] a :: b"), 4, "at least two options are wanted"),
    (quiz("No list."), 1, "a question and a list of options are wanted"),
    (quiz("- [x] a :: b\n- [ ] c :: d", label="Q1"), 1, "its label is not lower-case words"),
    (quiz("- [x] a :: b\n- [ ] c :: d") * 2, 7, "another quiz of this page has this label"),
    (quiz("- [x `x.size > 9`] a :: b\n- [ ] c :: d"), 4, "right, but `x.size > 9` is False"),
    (quiz("- [x] a :: b\n- [ `x.size == 4`] c :: d"), 5, "wrong, but `x.size == 4` is True"),
    (quiz("- [x `m`] a :: b\n- [ ] c :: d"), 4, "NameError: name 'm' is not defined"),
    (ASKED.replace("x.sum()", "y.sum()"), 1, "{asked} ex-one: NameError: name 'y'"),
    (ASKED.replace(":places: 1\n", ""), 1, ":answer:, :places: and what is asked for are wanted"),
    (PYTORCH.replace("1.6667]]", "1.6666]]"), 1, "1.6666 stands where :prints: has 1.66666"),
    (PYTORCH.replace("5]])\nprint", "6]])\nprint"), 1, "6.0 stands where :given: has 5.0"),
    (PYTORCH.replace(", np.nan", ""), 1, "5 numbers, but :prints: has 4"),
    (PYTORCH.replace(":given: x\n", ""), 1, "the code types numbers that no :given: names"),
    (PYTORCH.replace("x / 3, np", "y / 3, np"), 1, "NameError: name 'y' is not defined"),
    (PYTORCH.replace(":prints: x / 3, np.nan\n", ""), 1, "and :prints: are wanted"),
    ("```{exercise}\n:label: ex-b\n:class: difficulty-9\nWhat?\n```", 1, "1 to 3, not 9"),
    (below_all_numbers("```{exercise}\n:label: ex-a\nWhat?\n```"), 3, UNASKABLE),
    (below_all_numbers("```{admonition} A\n:class: dropdown\nB\n```"), 3, UNASKABLE),
    (below_all_numbers(quiz("- [x] A :: a\n- [ ] B :: b")), 3, UNASKABLE),
]


def test_what_is_refused_is_told_with_its_line(tmp_path):
    text, places = HEAD, []
    for number, (block, line, _) in enumerate(REFUSED):
        places.append(f"index.md:{text.count(chr(10)) + line}: ")
        text += block.replace("{quiz} q\n", f"{{quiz}} q{number}\n") + "\n"
    text += "## More\n\n" + "\n".join([quiz("- [x] a :: b\n- [ ] c :: d"), ASKED, PYTORCH])
    told = build(tmp_path, {"index": text}, extensions=EXTENSIONS).splitlines()
    for place, (_, _, sentence) in zip(places, REFUSED, strict=True):
        assert [one for one in told if place in one and sentence in one], "\n".join(
            [place, sentence, *told]
        )
    assert len(told) == len(REFUSED), told


def test_a_cell_that_never_ends_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "ROOT", tmp_path)
    (tmp_path / "book").mkdir()
    steps = [Step("cell", 0, 7, "while True: pass")]
    found = results.compute(tmp_path / "book" / "page.md", steps, "now", 1)
    assert found.faults == [(7, "it did not end within 1 seconds")]
