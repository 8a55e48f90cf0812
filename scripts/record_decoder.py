"""Record the attention of SmolLM2-135M on a few sentences, for the chapter on a model people use.

It takes a few minutes on two cores and overwrites the data in mha/examples/smollm2.
Another processor rounds sums of float32 in another order, so a number may differ in its last digit.
The weights and the packages that read them are in the environment of requirements-frameworks.lock.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mha.command_line import Parser
from mha.core.checks import Array
from mha.core.decoder import Decoder, DecoderRun
from mha.core.norm import rms_norm
from mha.core.softmax import softmax

FOLDER = Path(__file__).resolve().parent.parent / "mha" / "examples" / "smollm2"

WORDS = (
    "apple", "river", "window", "music", "doctor", "garden", "paper", "winter", "table", "horse",
    "king", "market", "stone", "island", "letter", "bread", "mountain", "silver", "village",
    "engine", "flower", "hammer", "ocean", "pencil", "rabbit", "school", "tower", "uncle",
    "valley", "water", "bridge", "camera", "dinner", "eagle", "finger", "guitar", "hotel",
    "insect", "jacket", "kitchen", "lemon", "mirror", "needle", "onion", "pocket", "queen",
    "ribbon", "shadow", "ticket", "wagon",
)  # fmt: skip
"""Words of one token each, for the repeated sequences."""

SENTENCES = (
    "The animal didn't cross the street because it was too",
    "The cat sat on the mat because it was",
    "The capital of France is",
    "When Mary and John went to the store, John gave a drink to",
    "Mr Dursley met Mrs Dursley. Mr D",
    " ".join(("", *WORDS[:8], *WORDS[:8])),
    "The bank near the river",
    "He put his money in the bank",
)
"""The sentences whose attention is recorded."""

HEADS = ((14, 9), (17, 1), (19, 7), (19, 9), (24, 5), (30, 2))
"""The heads whose queries, keys and values are recorded, counted from 1."""

WITHOUT_EACH = (SENTENCES[2], SENTENCES[5])
"""The sentences that are also run without each single head."""

WITH_KEPT_LAYER = (SENTENCES[2], (30, 2))
"""A sentence, and a head of the last block; the feed-forward layer after it is kept."""

LIKELIEST = 20
"""The number of next tokens that are recorded per run."""

NUM_SEQUENCES, LENGTH, SEED = 4, 25, 61
"""The repeated sequences: their number, the number of words of one half, and the seed."""

NUM_REMOVED = 4
"""The number of previous-token heads without which the induction heads are scored."""

PAIRS = (
    ("animal", "didn't cross", "street"), ("cat", "sat on", "mat"), ("dog", "ran around", "house"),
    ("bird", "left", "tree"), ("horse", "jumped over", "fence"), ("mouse", "hid in", "box"),
    ("robot", "could not open", "door"), ("truck", "drove over", "bridge"),
    ("boat", "passed", "island"), ("baby", "fell off", "chair"), ("cow", "walked through", "gate"),
    ("ship", "left", "port"), ("plane", "flew over", "city"), ("bear", "slept in", "cave"),
    ("fish", "avoided", "net"), ("rabbit", "went into", "hole"), ("monkey", "escaped from", "cage"),
    ("car", "hit", "wall"), ("train", "reached", "station"), ("snake", "lay on", "rock"),
    ("frog", "swam across", "pond"), ("child", "sat at", "table"), ("ball", "broke", "window"),
    ("river", "flooded", "village"), ("storm", "damaged", "roof"), ("key", "didn't fit", "lock"),
    ("book", "didn't fit in", "bag"), ("company", "broke", "law"), ("team", "lost", "game"),
    ("king", "sold", "castle"),
)  # fmt: skip
"""Two nouns with a verb between them: in "The animal didn't cross the street", and exchanged."""

ENDINGS = (" because it", " because they", " because", " and then", " because the")
"""The endings of these sentences; the row of the last token is recorded."""

ASKING = (14, 9)
"""The head that is tested on the pairs."""


SETTINGS = (
    "num_layers", "num_heads", "num_groups", "d_model", "d_k", "d_ff", "vocabulary_size",
    "context_length", "size", "base",
)  # fmt: skip
"""The attributes of the model that are recorded."""


def main() -> None:
    """Run the model, and write the recordings."""
    parser = Parser(description="Record the attention of SmolLM2-135M on a few sentences.")
    parser.add_argument("--into", type=Path, default=FOLDER, help="folder of the written files")
    folder = parser.parse_args().into
    from mha import read_model  # the help needs no weights

    record(read_model(), folder)
    print(f"written: {folder}")


def record(model: Decoder, folder: Path) -> None:
    """Write all recordings of a model into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    texts: list[dict[str, Any]] = []
    arrays: dict[str, Array] = {}
    runs = []
    for number, sentence in enumerate(SENTENCES):
        print(f"{sentence} ...", flush=True)
        run = model.run(sentence)
        runs.append(run)
        found, recorded = record_sentence(model, run)
        texts.append({"sentence": sentence, **found})
        arrays |= {f"{name}{number}": array for name, array in recorded.items()}
    for layer, head in HEADS:
        print(f"layer {layer}, head {head} ...", flush=True)
        parts = (record_head(model, run, layer - 1, head - 1) for run in runs)
        np.savez(folder / f"L{layer}H{head}.npz", qkv=np.concatenate([*parts], axis=1))
    print("repeated words ...", flush=True)
    sequences = list(repeated_words(model))
    arrays |= repetition_scores(model, sequences)
    removed = highest(arrays["before"].mean(axis=0), NUM_REMOVED)
    arrays["after_without"] = induction_without(model, sequences, removed)
    print("pairs ...", flush=True)
    arrays["pairs"] = pair_weights(model, ENDINGS, PAIRS)
    print("without each head ...", flush=True)
    shape = model.num_layers, model.num_heads
    arrays["alone"] = np.stack(
        [without_each(model, one, [*np.ndindex(*shape)]).reshape(shape) for one in WITHOUT_EACH]
    )
    arrays["kept_layer"] = with_kept_layer(model)
    np.savez_compressed(folder / "numbers.npz", allow_pickle=False, **arrays)
    data = {
        "sentences": texts,
        "heads": HEADS,
        "repeated": [model.token_texts(ids) for ids in sequences],
        "removed": [(layer + 1, head + 1) for layer, head in removed],
        "pairs": PAIRS,
        "endings": ENDINGS,
        "asking": ASKING,
        "alone": WITHOUT_EACH,
        "kept_layer": WITH_KEPT_LAYER,
        "settings": {name: getattr(model, name) for name in SETTINGS},
    }  # fmt: skip
    text = json.dumps(data, indent=1, ensure_ascii=False)
    (folder / "texts.json").write_text(text + "\n", encoding="utf-8")


def record_sentence(model: Decoder, run: DecoderRun) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the words of a sentence's recordings, and their numbers."""
    n = len(run.ids)
    lower = run.weights[..., *np.tril_indices(n)]
    distributions = [run.probabilities[-1]]
    for layer, head in HEADS:
        without = model.run(run.ids, without=[(layer - 1, head - 1)])
        distributions.append(without.probabilities[-1])
    likeliest = sorted({int(i) for p in distributions for i in np.argsort(-p)[:LIKELIEST]},
                       key=lambda i: -distributions[0][i])  # fmt: skip
    words = likeliest[:2]
    texts = {
        "tokens": model.token_texts(run.ids),
        "next": model.token_texts(likeliest),
        "words": model.token_texts(words),
    }
    return texts, {
        "maps": np.rint(1000 * lower).astype(np.uint16),
        "next": np.stack(distributions)[:, likeliest].astype(np.float32),
        "shares": centred_shares(run, words).astype(np.float32),
        "norms": np.linalg.norm(run.stream, axis=-1).astype(np.float32),
        **{name: array.astype(np.float32) for name, array in vector_lengths(model, run).items()},
    }


def vector_lengths(model: Decoder, run: DecoderRun) -> dict[str, Array]:
    """Return lengths on the way from a token's vector to what a head adds.

    Of each layer: the lengths of the vectors that enter the projections (`normed`), and of the
    first token's vector in the stream the number of its largest component, counted from 1, its
    size, its gain in the norm, and the median of all gains (`largest`). Of each recorded head: the
    lengths of the values times the output projection (`added`).
    """
    entering, largest = [], []
    for x, layer in zip(run.stream[:-1], model.layers, strict=True):
        gain = layer.attention_gain
        entering.append(rms_norm(x, gain, model.eps))
        at = int(np.abs(x[0]).argmax())
        largest.append([at + 1, abs(x[0, at]), abs(gain[at]), np.median(np.abs(gain))])
    added = []
    for number, head in ((layer - 1, head - 1) for layer, head in HEADS):
        w_v = model.attention(number).w_v[head * model.num_groups // model.num_heads]
        added.append(entering[number] @ w_v @ output_projection(model, number, head))
    normed, lengths = (np.linalg.norm(vectors, axis=-1) for vectors in (entering, added))
    return {"normed": normed, "largest": np.array(largest), "added": lengths}


def output_projection(model: Decoder, layer: int, head: int) -> Array:
    """Return the rows of W^O that belong to a head."""
    return model.layers[layer].w_o.reshape(model.num_heads, model.d_k, -1)[head]


def centred_shares(run: DecoderRun, words: Sequence[int]) -> Array:
    """Return each part's share in the logits of some words, minus its mean over all words."""
    from mha.runs.logit_attribution import logit_shares

    shares = logit_shares(run, row=len(run.ids) - 1).shares
    return (shares[:, words] - shares.mean(axis=-1, keepdims=True)).T


def record_head(model: Decoder, run: DecoderRun, layer: int, head: int) -> Array:
    """Return a head's queries and keys before rotation, and its values, in float16."""
    from mha.runs.logit_attribution import trace_text

    trace = trace_text(model, run.ids, layer=layer)
    return np.stack([trace.query[head], trace.key[head], trace.value[head]]).astype(np.float16)


def repeated_words(model: Decoder) -> Iterator[tuple[int, ...]]:
    """Return random words twice, as tokens."""
    rng = np.random.default_rng(SEED)
    for _ in range(NUM_SEQUENCES):
        words = rng.choice(WORDS, LENGTH, replace=False)
        ids = model.encode("".join(f" {word}" for word in words))
        if len(ids) != LENGTH:
            raise ValueError("a word has several tokens; words of one token are wanted")
        yield ids + ids


def repetition_scores(model: Decoder, sequences: Sequence[tuple[int, ...]]) -> dict[str, Array]:
    """Return the scores of all heads on repeated sequences, and the loss of each token."""
    after, before, first, losses = [], [], [], []
    for ids in sequences:
        run = model.run(ids)
        after.append(induction_score(run))
        rows = np.arange(1, 2 * LENGTH)
        before.append(run.weights[:, :, rows, rows - 1].mean(axis=-1))
        first.append(run.weights[:, :, rows, 0].mean(axis=-1))
        losses.append(-np.log(run.probabilities[rows - 1, np.array(ids)[rows]]))
    found = {"after": after, "before": before, "first": first, "losses": losses}
    return {name: np.array(arrays).astype(np.float32) for name, arrays in found.items()}


def induction_score(run: DecoderRun) -> Array:
    """Return the mean weights, in the second half, of the token after the earlier occurrence."""
    rows = np.arange(LENGTH, 2 * LENGTH)
    return run.weights[:, :, rows, rows - LENGTH + 1].mean(axis=-1)


def highest(scores: Array, count: int) -> list[tuple[int, int]]:
    """Return layer and head of the highest scores, from the highest on."""
    order = np.argsort(-scores, axis=None)[:count]
    return [(int(i) // scores.shape[1], int(i) % scores.shape[1]) for i in order]


def induction_without(
    model: Decoder, sequences: Sequence[tuple[int, ...]], heads: Sequence[tuple[int, int]]
) -> Array:
    """Return the induction scores of all heads on sequences, without each of some heads."""
    found = [
        [induction_score(model.run(ids, without=[head])) for ids in sequences] for head in heads
    ]
    return np.array(found).astype(np.float32)


def with_kept_layer(model: Decoder) -> Array:
    """Return what the feed-forward layer of a head's block does when the head is removed.

    Its share in the logit of the likeliest next token, with the head and without it; then the
    probability of this token without the head, and without it but with the layer's old output.
    """
    sentence, (layer, head) = WITH_KEPT_LAYER
    ids, at = model.encode(sentence), (layer - 1, head - 1)
    run, less = model.run(ids), model.run(ids, without=[at])
    word = int(run.probabilities[-1].argmax())
    shares = [centred_shares(one, [word])[0, -1] for one in (run, less)]
    stream = run.stream[-1, -1] - run.head_outputs[*at, -1] @ output_projection(model, *at)
    kept = softmax(rms_norm(stream, model.final_gain, model.eps) @ model.unembedding)
    return np.array([*shares, less.probabilities[-1, word], kept[word]], np.float32)


def pair_weights(
    model: Decoder, endings: Sequence[str], pairs: Sequence[tuple[str, str, str]]
) -> Array:
    """Return the weights of both nouns for the last token, shape (endings, pairs, orders, 2)."""
    layer, head = (number - 1 for number in ASKING)
    found = []
    for ending in endings:
        for first, verb, second in pairs:
            for subject, object_ in ((first, second), (second, first)):
                ids = model.encode(f"The {subject} {verb} the {object_}{ending}")
                tokens = model.token_texts(ids)
                row = attention_row(model, ids, layer, head)
                found.append([row[tokens.index(f" {noun}")] for noun in (subject, object_)])
    return np.array(found, np.float32).reshape(len(endings), len(pairs), 2, 2)


def attention_row(model: Decoder, ids: Sequence[int], layer: int, head: int) -> Array:
    """Return the weights of the last token in one head."""
    from mha.runs.logit_attribution import trace_text

    return trace_text(model, ids, layer=layer).weights[head, -1]


def without_each(model: Decoder, sentence: str, heads: Sequence[tuple[int, ...]]) -> Array:
    """Return the probability of a sentence's likeliest next token without each of some heads."""
    ids = model.encode(sentence)
    word = model.run(ids).probabilities[-1].argmax()
    runs = (model.run(ids, without=[(layer, head)]) for layer, head in heads)
    return np.array([run.probabilities[-1, word] for run in runs], np.float32)


if __name__ == "__main__":
    main()
