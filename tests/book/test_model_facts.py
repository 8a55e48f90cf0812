"""Facts about published models: their file, and the sentences and tables that state them."""

import re
from datetime import date

import pytest
from book_site import ROOT
from explained_fields import explained_fields
from helpers import raises
from pybtex.database import parse_file

from byhand.chapter.published_tables import FILES, PROBLEMS, lines, write_value
from byhand.checking.claims import sentences
from byhand.checking.sources import Page
from mha.examples.published_models import published_models, read_models

MODELS = published_models()
FILE = ROOT / "mha/examples/models/models.toml"
PAGES = [
    f"book/transformer/{name}.md"
    for name in ("cost", "decoding", "depth", "order", "since-2023", "since-2023.slides")
]
GIVEN = re.compile(r"\{given\}`([^`]+)`")
# Numbers that are no property of a model: parts of names, dates, places in a source.
NOT_OF_MODELS = re.compile(
    r"(?:sections?|tables?|figures?|version|vLLM)(?:,?\s+(?:and\s|to\s)?(?:\{given\}`[^`]+`|\d))+"
    r"|(?:GLM-|DeepSeek-V|Llama |MiniMax-|gpt-oss-)\{given\}`[^`]+`"
    r"|\{given\}`\d+` November \{given\}`\d+`",
    re.IGNORECASE,
)
ALIASES = {
    "gpt-oss-120b": ("gpt-oss",), "DeepSeek-V3.2": ("DeepSeek-V3",), "Gemma 2 27B": ("Gemma 2",),
    "Gemma 3 27B": ("Gemma 3",), "Gemma 3n E4B": ("Gemma 3n",), "Gemma 4 31B": ("Gemma 4",),
    "Llama 3 70B": ("Llama 3 ",), "Llama 4 Scout": ("Llama 4",), "Mistral 7B v0.1": ("Mistral",),
    "OLMo 2 7B": ("OLMo 2",), "Qwen3 8B": ("Qwen3 ",), "MiniMax-Text-01": ("MiniMax-01",),
}  # fmt: skip

# Fields on attention in published files `config.json` of a hybrid, a latent and a sparse model.
# The classes of `transformers`, which the tests against frameworks read, have other names for some.
OF_LATENT = """attention_bias attention_dropout hidden_size kv_lora_rank max_position_embeddings
num_attention_heads num_hidden_layers num_key_value_heads q_lora_rank qk_nope_head_dim
qk_rope_head_dim rope_scaling type factor beta_fast beta_slow mscale mscale_all_dim
original_max_position_embeddings rope_theta use_cache v_head_dim"""
PUBLISHED_FIELDS = {
    "Qwen3-Next": """attention_dropout full_attention_interval head_dim hidden_size
linear_conv_kernel_dim linear_key_head_dim linear_num_key_heads linear_num_value_heads
linear_value_head_dim max_position_embeddings num_attention_heads num_hidden_layers
num_key_value_heads partial_rotary_factor rope_scaling rope_theta use_cache use_sliding_window""",
    "DeepSeek-V3": OF_LATENT,
    "DeepSeek-V3.2": f"{OF_LATENT} index_head_dim index_n_heads index_topk",
}


def test_each_fact_has_a_source_with_a_date_and_a_place():
    works = parse_file(str(ROOT / "book/references.bib"), encoding="utf-8").entries
    for source in dict.fromkeys(fact.source for fact in MODELS.facts):
        assert re.fullmatch(r"\d{4}-\d{2}(-\d{2})?", source.published), source
        assert source.paper == (source.key in works), source
        compared = date.fromisoformat(source.fetched)  # each source has been opened
        assert source.published[:7] <= compared.isoformat()[:7], source
        if eprint := source.paper and works[source.key].fields.get("eprint"):
            assert source.published == f"20{eprint[:2]}-{eprint[2:4]}", source
    for fact in MODELS.facts:
        assert fact.where, fact
        assert re.search(r"[^.]$", fact.meaning), fact
        assert bool(fact.source.paper) != fact.where.endswith(FILES), fact


def test_the_file_has_nothing_unused():
    text = FILE.read_text(encoding="utf-8")
    keys = {kind: re.findall(rf'^\[{kind}\.(?:"([^"]+)"|([\w-]+))\]', text, re.M)
            for kind in ("sources", "fields")}  # fmt: skip
    assert {a or b for a, b in keys["sources"]} == {fact.source.key for fact in MODELS.facts}
    assert {a or b for a, b in keys["fields"]} == {fact.field for fact in MODELS.facts}
    assert all(MODELS.with_change(change) for change in MODELS.changes)
    assert {change.problem for change in MODELS.changes.values()} == set(PROBLEMS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("field =", "fields ="), "the file of facts has no 'field'; it is wanted"),
        (('"kimi2025"', '"kimi"'), "the file of facts has no 'kimi'; it is wanted"),
        (
            ('"sliding_window", value', '"num_key_value_heads", value'),
            "Mistral 7B v0.1 has two facts about num_key_value_heads; one is wanted",
        ),
    ],
)
def test_faulty_files_are_refused(change, message):
    text = FILE.read_text(encoding="utf-8")
    with raises(ValueError, message):
        read_models(text.replace(*change, 1))


def test_unknown_models_and_changes_are_refused():
    with pytest.raises(KeyError, match="no facts about 'Gemma 9'; known models: Mistral 7B "):
        MODELS["Gemma 9"]
    with pytest.raises(ValueError, match=r"^change is 'lora'; one of groups, latent, "):
        MODELS.with_change("lora")


@pytest.mark.parametrize("name", PAGES)
def test_each_given_number_about_a_model_is_a_fact(name):
    page = Page(name, (ROOT / name).read_text(encoding="utf-8"))
    for number, sentence in sentences(page):
        plain = GIVEN.sub(r"\1", sentence)
        of = [m for m in MODELS if any(n in plain for n in (m, *ALIASES.get(m, ())))]
        if not of:
            continue
        known = {write_value(value) for model in of for value in MODELS[model].values()}
        for given in GIVEN.findall(NOT_OF_MODELS.sub("", sentence)):
            assert given in known, f"{name}:{number}: {given} is no fact about {', '.join(of)}"


def test_the_tables_have_each_model_and_each_field_once():
    rows = [line for line in lines("published-models", "", []) if line.startswith("* - ")]
    assert rows == ["* - Model", *(f"* - {model}" for model in MODELS)]
    written = list(lines("published-fields", "", ["gpt-oss-120b"]))
    fields = [line[5:-1] for line in written if line.startswith("* - `")]
    assert fields == [f.field for f in MODELS.facts if f.model == "gpt-oss-120b" and f.named]
    assert "  - gpt-oss-120b 131,072" in written


@pytest.mark.parametrize("model", PUBLISHED_FIELDS)
def test_the_chapter_explains_each_field_on_attention_of_a_published_configuration(model):
    assert set(PUBLISHED_FIELDS[model].split()) - explained_fields() == set()
