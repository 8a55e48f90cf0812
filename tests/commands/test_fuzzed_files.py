"""Whatever stands in a file of data or a class list: it is read, or one sentence says why not."""

import json
import re
from importlib import resources
from unittest.mock import patch

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import mha.examples
from mha import trace
from mha.audit import judging
from mha.audit.claims import claims_from
from mha.audit.report import report
from mha.audit.sources import numbers_from
from mha.audit.sources.transcribe import transcribed
from mha.examples import example_from
from mha.practice.worksheets.class_list import read_class

SENTENCE = re.compile(r"[^\n]{10,}")
APPLE = resources.files(mha.examples).joinpath("apple.toml").read_text("utf-8")
SOURCES = resources.files("mha.audit.sources")
PRINTED = json.loads(SOURCES.joinpath("aiayn-part-2.json").read_text("utf-8"))[:60]
CLAIMS = SOURCES.joinpath("claims.toml").read_text("utf-8")[:3000].rpartition("\n[[")[0]
DEEP = 100_000  # brackets, one in another

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
TOML_VALUES = st.sampled_from(
    (
        *("0", "-1", "2", "1.5", "1e400", "-inf", "nan", "true", '""', '"a"', "'*'", "1979-05-27"),
        *("9" * 400, "[]", "[[]]", "[1]", "[[1], [1, 2]]", '["a", "a"]', '["a", 1]', "{}", "{a=1}"),
        *("[[1.0, 0.0], [0.0, 1.0]]", '["a", "b"]', '"-inf"', "[[nan, 1], [1, 1]]", '"\\u202e"'),
    )
)
KEYS = (
    *("title", "source", "shows", "tokens", "focus", "embeddings", "w_o", "heads", "readings"),
    *("head_names", "query", "key", "value", "target_weights", "mask", "is_causal", "scale"),
    *("positions", "angles", "name", "layer", "odd"),
)
HEAD = ("name", "w_q", "w_k", "w_v", "odd")


@st.composite
def edited(draw, text):
    """Draw a text of which pieces are cut out, doubled or replaced, as a bad edit does it."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        new = draw(TOML_VALUES | st.text(max_size=8) | st.sampled_from(("\n", "[[", "]", "=", '"')))
        text = text[:start] + draw(st.sampled_from((new, text[start:end] * 2))) + text[end:]
    return text


@st.composite
def toml_examples(draw):
    """Draw a data file of an example whose entries are any values."""
    entries = draw(st.dictionaries(st.sampled_from(KEYS), TOML_VALUES, max_size=9))
    lines = [f"{key} = {value}" for key, value in entries.items()]
    for _ in range(draw(st.integers(0, 2))):
        of_head = draw(st.dictionaries(st.sampled_from(HEAD), TOML_VALUES))
        lines += ["[[heads]]", *(f"{key} = {value}" for key, value in of_head.items())]
    return "\n".join(lines)


def said_by(function, *arguments):
    """Return the sentence by which something is refused, None where it is not."""
    try:
        function(*arguments)
    except ValueError as error:
        return str(error)
    return None


@given(edited(APPLE) | toml_examples() | st.text())
@example("a = " + "[" * DEEP)
@example('title = "a"\ntokens = ["a"]\nfocus = 1' + "0" * 400)
def test_a_data_file_of_an_example_is_read_or_refused_with_its_name(text):
    said = said_by(lambda: trace(example_from("odd", text)))
    assert said is None or SENTENCE.fullmatch(said), said
    read = said_by(example_from, "odd", text)
    assert read is None or read.startswith("mha/examples/odd.toml: "), read


@st.composite
def records(draw):
    """Draw the file of a document's numbers, with fields that are anything."""
    found = [dict(record) for record in PRINTED]
    for _ in range(draw(st.integers(1, 3))):
        field = draw(st.sampled_from(("line", "printed", "kind", "example", "place", "intended")))
        record = draw(st.sampled_from(found))
        odd = st.sampled_from(("root", "scores.9.9.9", "scores.0.0.0:99", "nan", "1e999", "apple"))
        record[draw(st.just(field) | st.text(max_size=5))] = draw(JSON | odd)
    return json.dumps(found)


def judged(name, text):
    """Judge the numbers of a document whose file holds this text, and tell of them."""
    judging.judgements.cache_clear()
    try:
        with patch.object(judging, "load_source", lambda name: numbers_from(name, text)):
            list(report([name]))
    finally:
        judging.judgements.cache_clear()


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(records() | edited(json.dumps(PRINTED)) | JSON.map(json.dumps) | st.text())
@example("[" * DEEP)
def test_the_numbers_of_a_document_are_judged_or_refused(text):
    read = said_by(numbers_from, "aiayn-part-2", text)
    assert read is None or read.startswith("mha/audit/sources/aiayn-part-2.json: "), read
    said = said_by(judged, "aiayn-part-2", text)
    assert said is None or SENTENCE.fullmatch(said), said


@given(edited(CLAIMS) | st.text())
@example("claims = " + "[" * DEEP)
@example("claims = 3")
def test_claims_are_read_or_refused_with_the_file(text):
    said = said_by(claims_from, text)
    assert said is None or said.startswith("mha/audit/sources/claims.toml"), said
    assert said is None or SENTENCE.fullmatch(said), said


@given(st.binary(max_size=60) | st.text("name,id;\t\"'\n\r\0 ab", max_size=60).map(str.encode))
@example(b'"' + b"a" * 200_000)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_class_list_is_read_or_refused(tmp_path, data):
    path = tmp_path / "class.csv"
    path.write_bytes(data)
    said = said_by(read_class, path)
    assert said is None or SENTENCE.fullmatch(said), said
    assert said is None or "class.csv" in said


RULES = st.fixed_dictionaries(
    {"lines": st.dictionaries(st.text("123-/ +.", max_size=5), st.text("[]i=0-3 dervinput.root:"))},
    optional={"example": st.sampled_from(("cat-sat", ""))},
)


@given(st.text("root is 2.5\n", max_size=40), st.lists(RULES, max_size=2))
def test_a_rule_fits_its_document_or_is_refused(text, parts):
    said = said_by(transcribed, text, {"parts": parts})
    assert said is None or SENTENCE.fullmatch(said), said
