"""Invalid examples, runs, places and numbers to show are refused, each with its message."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import (
    MASK,
    QUERIES,
    example,
    example_from_embeddings,
    example_with_block,
    example_with_positions,
    raises,
    random_layer,
)

import mha
from mha.examples.names import draw_story
from mha.examples.recorded import (
    recorded_head,
    recorded_heads,
    recorded_maps,
    recorded_next_tokens,
    recorded_sentences,
)
from mha.examples.trained import load_model
from mha.runs.attention_variants import SWITCHES, attention_plan, evaluate_plan
from mha.runs.changed_examples import with_swapped_tokens, without_head
from mha.runs.computations import OPERATIONS, Computation
from mha.runs.logit_attribution import logit_shares
from mha.runs.random_examples import draw_example
from mha.runs.random_numbers import Draws
from mha.runs.rounding import at_least, at_most_percent, percent, shown
from mha.runs.stages import STAGES
from mha.runs.worked_example import Refinements

RNG = np.random.default_rng(3)
ones = np.ones
CAT_SAT, THE_CAT_SAT = mha.load_example("cat-sat"), mha.load_example("the-cat-sat")
PROJECTED = example_from_embeddings(RNG)
EVEN = np.full((1, QUERIES, QUERIES), 1 / QUERIES)
LAYER = random_layer(RNG, 6, d_model=11)
SENTENCES = ", ".join(recorded_sentences())


def with_weights(**changed):
    return replace(PROJECTED, layer=replace(PROJECTED.layer, **changed))


def traced(layer=LAYER, **options):
    return mha.trace_layer(layer, **{"x": ones((5, 11))} | options)


def drawn(words="the tired cat", **options):
    return draw_example(words, **options)


def computation():
    return Computation().given("x", [[1, 2, 3], [4, 5, 6]])


REFUSED = [
    # The inputs of an example, and its parts
    (lambda: example(value=None, embeddings=ones((5, 17))),
     "the example has embeddings, query, key; embeddings with layer, or query, key and value"
     " are wanted"),
    (lambda: example(query=None, key=None, value=None),
     "the example has no arrays; embeddings with layer, or query, key and value are wanted"),
    (lambda: example(tokens=["cat", "s\0at"]),
     "tokens has 's\\x00at'; visible characters are wanted"),
    (lambda: example(query=ones((2, 3, 5, 11))),
     "query has shape (2, 3, 5, 11); a row for each of the 5 tokens is wanted"),
    (lambda: example(head_names=["a", "b"]),
     "head_names has 2 names for 1 heads; one per head is wanted"),
    (lambda: example(key=ones((5, 13))),
     "query has shape (1, 5, 11) but key has (1, 5, 13); they must match"),
    (lambda: example(value=ones((3, 5, 13))),
     "query has 1 heads but value has 3; they must match"),
    (lambda: example(query=np.full((5, 11), np.nan)),
     "query holds nan at index (0, 0); finite numbers are wanted"),
    (lambda: example(focus=5), "focus is 5; an index from 0 to 4 is wanted"),
    (lambda: example_with_positions(RNG, positions=ones((5, 2))),
     "positions has shape (5, 2); (5, 17) is wanted"),
    (lambda: example_with_positions(RNG, angles=ones((5, 22))),
     "angles has shape (5, 22); (5, 11) is wanted"),
    (lambda: example_with_positions(RNG, positions=np.full((5, 17), np.inf)),
     "positions holds inf at index (0, 0); finite numbers are wanted"),
    (lambda: example_with_block(RNG, unembedding=ones((17, 3))),
     "unembedding reads a block of attention alone, normalised before; one is wanted"),
    (lambda: mha.trace(with_weights(w_k=1e308 * PROJECTED.layer.w_k)),
     "embeddings and the weights overflow float64 when multiplied; smaller numbers are wanted"),
    # Weights that a source draws
    (lambda: example(target_weights=EVEN[0]),
     "target_weights has shape (5, 5); (1, 5, 5) is wanted"),
    (lambda: example(target_weights=EVEN * 1.001),
     "target_weights has a row that does not sum to 1"),
    (lambda: example(target_weights=EVEN * np.nan),
     "target_weights holds nan at index (0, 0, 0); finite numbers are wanted"),
    # Variations
    (lambda: without_head(THE_CAT_SAT, -1), "head is -1; an index from 0 to 1 is wanted"),
    (lambda: without_head(with_weights(b_q=ones((3, 11))), 0),
     "layer has the bias b_q; a layer without biases is wanted here"),
    *((lambda masked=masked: with_swapped_tokens(example(**masked), 0, 1),
       "made-up has a mask; an example without one is wanted")
      for masked in ({"mask": MASK}, {"is_causal": True})),
    # A layer of one's own
    (lambda: traced(x=ones((2, 5, 11))),
     "x has shape (2, 5, 11); one sequence, (n, 11), is wanted"),
    (lambda: traced(mha.MultiHeadWeights(*(ones((1, n, 2)) for n in (11, 3, 3)))),
     "layer has d_context=3 but d_model=11; they must match, because a trace holds self-attention"
     " alone"),
    (lambda: traced(mha.AttentionLayer(
        random_layer(RNG, 6, 2, d_model=11, d_k=4), query_norm=ones(4), key_norm=ones((2, 4)))),
     "one of query_norm and key_norm is over each head, the other over all heads together; both"
     " must be of one kind"),
    (lambda: mha.trace(replace(THE_CAT_SAT, refinements=Refinements(sinks=ones(3)))),
     "sinks has shape (3,); (2,) is wanted"),
    (lambda: mha.trace(replace(
        THE_CAT_SAT, keys_at_once=2, refinements=Refinements(sinks=ones(2)))),
     "keys_at_once is 2, but a running softmax keeps no sinks; None is wanted with them"),
    (lambda: Refinements(query_norm=ones(4)), "query_norm has shape (4,); 2 axes are wanted"),
    (lambda: Refinements(softcap=0.0), "softcap is 0.0; a number above 0 is wanted"),
    (lambda: traced(tokens=["a"]), "tokens has 1 names for 5 rows of x; one each is wanted"),
    (lambda: traced(mask=ones((2, 2), bool)),
     "mask has shape (2, 2); one that broadcasts to the scores' (6, 5, 5) is wanted"),
    # Drawn examples
    (lambda: drawn(""), "words is empty; at least one is wanted"),
    (lambda: drawn("a " * 13), "words has 13 words; at most 12 are wanted"),
    (lambda: drawn("x" * 17), f"words has '{'x' * 17}'; at most 16 characters are wanted"),
    (lambda: drawn(num_heads=5), "num_heads is 5; 1 to 4 is wanted"),
    (lambda: drawn(numbers="big"), "numbers is 'big'; one of meanings, whole, tenths is wanted"),
    *((lambda draw=draw: draw(seed=2**32), "seed is 4294967296; at most 4294967295 is wanted")
      for draw in (drawn, Draws)),  # a browser could not hold it
    # Places
    *((lambda text=text: mha.Place.parse(text),
       f"place is {text!r}; an address such as scores.0.1.2 is wanted")
      for text in (
          "", "scores.", "scores.0.1.", "scores..0.1", "scores.00.1.2", "scores.0.1.2:",
          "scores.0.1.2:01", "scores.0.1.2:-1", "scores.-1.0.0", "scores.0.1.2 ",
          "scores.0.1.2\n", "Scores.0.1.2", "scores 0 1 2", "scores.0.1.2:1:2", "scores.0.1.²",
          "scores.٣.1.2",
      )),
    (lambda: mha.Place.parse("scores.0.1"), "scores has head, row, column; 2 indices are given"),
    (lambda: mha.Place.parse("root.0"), "root has no index; 1 index is given"),
    (lambda: mha.Place.parse("nonsense.0"),
     f"stage is 'nonsense'; one of {', '.join(STAGES)} is wanted"),
    *((lambda text=text: mha.origin(mha.trace(CAT_SAT), mha.Place.parse(text)), sentence)
      for text, sentence in (
          ("scores.0.0.2", "scores has shape (1, 2, 2); index (0, 0, 2) is outside it"),
          ("scores.0.0.1:4", "scores.0.0.1 has 4 terms; term 4 is none"),
          ("output.0.0", "cat-sat has no output; another stage is wanted"))),
    (lambda: mha.arithmetic(mha.trace(THE_CAT_SAT), "scores", 3, -1),
     "column is -1; a number of at least 0 is wanted"),
    # Recorded and trained
    *((lambda read=read: read("Hi"), f"sentence is 'Hi'; one of {SENTENCES} is wanted")
      for read in (recorded_maps, recorded_next_tokens, lambda text: recorded_head(24, 5, text))),
    (lambda: recorded_head(31, 1, recorded_sentences()[0]),
     f"layer and head are (31, 1); one of {', '.join(map(str, recorded_heads()))} is wanted"),
    (lambda: load_model("gpt"), "name is 'gpt'; \"names\" is wanted"),
    (lambda: draw_story(RNG, 0), "length is 0; a whole number of at least 1 is wanted"),
    (lambda: logit_shares([mha.trace(CAT_SAT)], 0),
     "cat-sat has no logits; runs of a model are wanted"),
    # Sheets
    (lambda: computation().then("y", "product", "x", "x"),
     "y: product of (2, 3) and (2, 3) cannot be; shapes that fit are wanted"),
    (lambda: computation().then("y", "twist", "x"),
     f"operation is 'twist'; one of {', '.join(OPERATIONS)} is wanted"),
    (lambda: computation().then("y", "product", "x"), "product has 1 tables; 2 are wanted"),
    (lambda: computation().then("y", "exponential", "z"),
     "table is 'z'; one of the computation's is wanted: x"),
    (lambda: computation().given("x", [[1]]),
     "name is 'x', which the computation has; another one is wanted"),
    (lambda: computation().given("z", [1, 2]), "z has shape (2,); at least 2 axes are wanted"),
    (lambda: computation().origin("x", 0, 7), "x has no number 0, 7; its shape is (2, 3)"),
    (lambda: computation().then("y", "times number", "x", number=1e400),
     "number holds inf at index (); finite numbers are wanted"),
    (lambda: evaluate_plan(attention_plan(4), {}, ("twist",)),
     f"on has 'twist'; of {', '.join(SWITCHES)} some are wanted"),
    # Numbers that are shown
    *((lambda write=write: write(0.5, places=-1),
       "places is -1; a whole number of at least 0 is wanted")
      for write in (at_least, at_most_percent)),
    *((lambda write=write, bad=bad: write(bad), f"value is {bad}; a finite number is wanted")
      for write in (at_least, at_most_percent) for bad in (np.inf, np.nan)),
]  # fmt: skip
OF_ANOTHER_KIND = [
    (lambda: traced(np.eye(2)),
     "layer is a ndarray; MultiHeadWeights or an AttentionLayer is wanted"),
    *((lambda write=write, value=value: write(value), f"value is {value!r}; a number is wanted")
      for write in (shown, percent, at_least) for value in ("much", [1, 2])),
]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "call", "sentence"),
    [*((ValueError, *each) for each in REFUSED), *((TypeError, *each) for each in OF_ANOTHER_KIND)],
)
def test_invalid_runs_and_examples_are_refused_in_one_sentence(error, call, sentence):
    with raises(error, sentence):
        call()
