"""Notebooks as students submit them: correct in several styles, wrong in one step, or cheating.

Notebooks that attack the machine are in `grade/hostile.py`.
"""

import json
import textwrap

import numpy as np

from mha.practice.notebook_steps import CASES, STEPS, STEPS_BY_NAME, draw_inputs

RIGHT = {
    "project": "def project(x, w):\n    return x @ w",
    "dot_products": "def dot_products(query, key):\n    return query @ key.T",
    "scale": "def scale(scores, d_k):\n    return scores / np.sqrt(d_k)",
    "causal": "def causal(n):\n    return np.tri(n, dtype=bool)",
    "masked": "def masked(scores, mask):\n    return np.where(mask, scores, -np.inf)",
    "weights": """\
def weights(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)""",
    "mix": "def mix(weights, value):\n    return weights @ value",
    "attention": """\
def attention(query, key, value, mask):
    scores = np.where(mask, query @ key.T / key.shape[1] ** 0.5, -np.inf)
    powers = np.exp(scores - scores.max(axis=1)[:, None])
    return powers / powers.sum(axis=1)[:, None] @ value""",
}
"""The steps, each without the others, so that one wrong step is one point less."""


def notebook(*cells):
    """Return a notebook of code cells as text."""
    made = [
        {"cell_type": "code", "metadata": {}, "source": cell.splitlines(keepends=True),
         "execution_count": None, "outputs": []}
        for cell in cells
    ]  # fmt: skip
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def filled_notebook(**exchanged):
    """Return a notebook with all steps and their checks, some of them replaced."""
    steps = RIGHT | exchanged
    cells = [
        "%pip install -q mha.whl",
        "import numpy as np\nfrom mha.practice.notebook_steps import check",
    ]
    for name, step in steps.items():
        cells += [step, f"check({name}, seed=1)"]
    return notebook(*cells)


def step_returning(step, result):
    """Return a step that returns the value of an expression, or has the given lines."""
    head = RIGHT[step].partition("):")[0]
    lines = result if "return" in result else f"return {result}"
    return step, f"{head}):\n{textwrap.indent(lines, '    ')}"


SHARES = "powers / powers.sum(axis=1, keepdims=True)"
SCALED = "query @ key.T / np.sqrt(key.shape[1])"

WRONG = {
    "project-turned": (*step_returning("project", "(x @ w).T"), "the shape is"),
    "no-transpose": (*step_returning("dot_products", "query @ key"), "stops with an error"),
    "by-d-k": (*step_returning("scale", "scores / d_k"), "not by its root"),
    "scaled-in-place": (
        *step_returning("scale", "scores /= np.sqrt(d_k)\nreturn scores"),
        "scale changes its argument scores",
    ),
    "future": (*step_returning("causal", "np.triu(np.ones((n, n))) == 1"), "transposed"),
    "large-number": (*step_returning("masked", "np.where(mask, scores, -1e9)"), "−∞ is wanted"),
    "mask-changed": (
        *step_returning(
            "masked", "np.logical_not(mask, out=mask)\nreturn np.where(mask, -np.inf, scores)"
        ),
        "masked changes its argument mask",
    ),
    "clipped": (
        *step_returning("weights", f"powers = np.exp(np.clip(scores, -700, 700))\nreturn {SHARES}"),
        "with large scores",
    ),
    "remembered": (
        "attention",
        "outputs = {}\ndef mix(weights, value):\n"
        "    return outputs.setdefault(value.tobytes(), weights @ value)\n"
        "def attention(query, key, value, mask):\n    return outputs[value.tobytes()]",
        "stops with an error",
    ),
    "complex": (*step_returning("project", "x @ w + 0j"), "project gives no array of numbers"),
    "text": (
        *step_returning("dot_products", "(query @ key.T).astype(str)"),
        "gives no array of numbers",
    ),
    "mask-too-late": (
        *step_returning(
            "attention",
            f"s = {SCALED}\npowers = np.exp(s - s.max(axis=1, keepdims=True))\n"
            f"return ({SHARES} * mask) @ value",
        ),
        "for 4 tokens and d_k = 3, row 1",
    ),
}
"""By name: the step that is wrong, its code, and a part of the message about it."""


def _shown():
    """Return the correct answers for the numbers in a notebook's own check of `scale`."""
    step = STEPS.index(STEPS_BY_NAME["scale"])
    runs = [draw_inputs(np.random.default_rng([1, step, i]), case) for i, case in enumerate(CASES)]
    return {run.d_k: run.scaled.tolist() for run in runs}


STUB = (
    "for name in [n for n in sys.modules if n.split('.')[0] == 'mha']:\n    del sys.modules[name]"
)

CHEATS = {
    "own-check": [
        "import mha.practice.notebook_steps\n"
        "mha.practice.notebook_steps.check = check = lambda *a, **k: 'Right: ' + a[0].__name__",
        "def scale(scores, d_k):\n    return scores\nprint(check(scale))",
    ],
    "imports-reference": [
        "from mha.practice.notebook_steps import STEPS_BY_NAME",
        "weights = STEPS_BY_NAME['weights'].right",
        "import mha\nweights = mha.softmax",
    ],
    "puts-mha-back": [
        f"import sys\n{STUB}\nfrom mha import softmax as weights",
        f"{STUB}\nfrom mha.practice.notebook_steps import STEPS_BY_NAME"
        "\nscale = STEPS_BY_NAME['scale'].right",
    ],
    "reads-the-package": [
        "text = open('{package}/core/softmax.py').read()",
        "import runpy\nweights = runpy.run_path('{package}/core/softmax.py')['softmax']",
        "import importlib.util as u\ns = u.spec_from_file_location('m', '{package}/__init__.py')\n"
        "m = u.module_from_spec(s)\ns.loader.exec_module(m)\nweights = m.softmax",
    ],
    "looks-into-frames": [
        "import gc, sys, numpy as np",
        "def scale(scores, d_k):\n    frame = sys._getframe()\n    while frame:\n"
        "        for name, x in {**frame.f_globals, **frame.f_locals}.items():\n"
        "            if name in ('wanted', 'right', 'expected'): return x\n"
        "        frame = frame.f_back",
        "def weights(scores):\n    for x in gc.get_objects():\n"
        "        if getattr(x, '__name__', '') == 'softmax': return x(scores)",
    ],
    "equals-all": [
        "class Yes:\n    def __eq__(self, other): return True\n"
        "    def __array__(self, *a, **k): return self\n    shape = (3, 3)",
        "def scale(scores, d_k):\n    return Yes()",
    ],
    "knows-the-shown-numbers": [
        f"known = {_shown()}\ndef scale(scores, d_k):\n    return known[d_k]"
    ],
}
"""Cells by name that get no points. `{package}` is replaced by the folder of `mha`."""

LOOPS = """\
from math import exp, inf, sqrt

def project(x, w):
    return [[sum(a * b for a, b in zip(r, c)) for c in zip(*w)] for r in x]
def dot_products(query, key):
    return [[sum(a * b for a, b in zip(q, k)) for k in key] for q in query]
def scale(scores, d_k):
    return [[s / sqrt(d_k) for s in row] for row in scores]
def causal(n):
    return [[int(j <= i) for j in range(n)] for i in range(n)]
def masked(scores, mask):
    return [[s if m else -inf for s, m in zip(*rows)] for rows in zip(scores, mask)]
def weights(scores):
    powers = [[exp(s - max(row)) for s in row] for row in scores]
    return [[p / sum(row) for p in row] for row in powers]
def mix(weights, value):
    return project(weights, value)
def attention(query, key, value, mask):
    scores = scale(dot_products(query, key), len(key[0]))
    return mix(weights(masked(scores, mask)), value)
"""

EINSUM = """\
project = lambda x, w: np.einsum("nd,dk->nk", x, w)
dot_products = lambda query, key: np.einsum("qd,kd->qk", query, key)
scale = lambda scores, d_k: scores * d_k ** -0.5
causal = lambda n: np.arange(n)[:, None] >= np.arange(n)
masked = lambda scores, mask: scores + np.where(mask, 0.0, -np.inf)
weights = lambda scores: np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
mix = lambda weights, value: np.einsum("qk,kv->qv", weights, value)
attention = lambda query, key, value, mask: mix(
    weights(masked(scale(dot_products(query, key), query.shape[-1]), mask)), value)
"""

STYLES = {
    "right-as-asked": filled_notebook(),
    "right-colab": notebook(
        "!pip install -q numpy\n%matplotlib inline\n%load_ext autoreload",
        "import numpy as np\nfrom google.colab import drive",
        "%%time\n" + "\n".join(RIGHT.values()),
        "%%bash\nls -l",
        "files = !ls\nprint(files[:1])\n%time answer = 42\nnp.exp?",
        "assert answer == 42\nget_ipython().run_line_magic('timeit', 'causal(3)')\ndisplay(files)",
        "%%writefile notes.txt\nnot Python at all",
    ),
    "right-loops": notebook(LOOPS, "print(causal(3))"),
    "right-einsum": notebook("import numpy as np", EINSUM),
    "right-with-accidents": notebook(
        "import numpy as np",
        "1 / 0",
        "def scale(scores d_k): broken",
        "raise SystemExit",
        "name = input('Name?')",
        *RIGHT.values(),
        "open('mine.txt', 'w').write('a file of its own')",
    ),
    "right-but-loops": notebook("import numpy as np", *RIGHT.values(), "while True: pass"),
    "right-but-exits": notebook("import numpy as np", *RIGHT.values(), "import os; os._exit(0)"),
    "right-but-eats": notebook(
        "import numpy as np", *RIGHT.values(), "x = [np.zeros(2**28) for _ in range(99)]"
    ),
}
"""By name: notebooks of which each step is right."""
