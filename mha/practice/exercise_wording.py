"""The wording of exercises: the question of each stage, and the labels of its operands."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """The templates of one stage: its question, and the labels of its operands."""

    question: str
    givens: tuple[str, ...]


ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU"}
"""The names of activations, by their operation."""


def _norm(start: str, numbers: str) -> dict[str, Wording]:
    """Return the wordings of one normalisation; `numbers` says which numbers are normalised."""
    return {
        f"{start}_means": Wording(
            f"Compute the mean of the numbers of {{row}}: {numbers}.", ("numbers of {row}",)
        ),
        f"{start}_spreads": Wording(
            f"Compute the standard deviation of the numbers of {{row}}: {numbers}. It is the root"
            " of the mean square of their deviations from the mean.",
            ("numbers of {row}", "eps, which is added under the root"),
        ),
        f"{start}_normed": Wording(
            f"Compute {{component}}, normalised number {{n}} of {{row}}: {numbers}.",
            ("number", "mean", "standard deviation", "gain", "bias"),
        ),
    }


WORDINGS = {
    "placed": Wording(
        "Compute {component}, component {n} of {row} with its position.",
        ("component {n} of the embedding and of the position",),
    ),
    "query": Wording(
        "Compute {component}, component {n} of the query of {row}{head}.",
        ("embedding of {row}", "column {n} of the query projection"),
    ),
    "key": Wording(
        "Compute {component}, component {n} of the key of {row}{head}.",
        ("embedding of {row}", "column {n} of the key projection"),
    ),
    "value": Wording(
        "Compute {component}, component {n} of the value of {row}{head}.",
        ("embedding of {row}", "column {n} of the value projection"),
    ),
    "turned_query": Wording(
        "Compute {component}, component {n} of the rotated query of {row}{head}.",
        ("the pair of the query that it belongs to", "factors of the rotation"),
    ),
    "turned_key": Wording(
        "Compute {component}, component {n} of the rotated key of {row}{head}.",
        ("the pair of the key that it belongs to", "factors of the rotation"),
    ),
    "scores": Wording(
        "Compute the score of {row} with {column}{head}.",
        ("{turned}query of {row}", "{turned}key of {column}"),
    ),
    "scaled_scores": Wording(
        "Compute the scaled score of {row} with {column}{head}.",
        ("score", "{factor}", "mask's term"),
    ),
    "exponentials": Wording(
        "Compute the exponential of the scaled score of {row} with {column}{head}.",
        ("scaled score",),
    ),
    "row_sums": Wording(
        "Compute the row sum of {row}{head}.",
        ("exponentials of the row, keys {tokens}",),
    ),
    "weights": Wording(
        "Compute the weight that {row} gives to {column}{head}.",
        ("scaled scores of the row, keys {tokens}",),
    ),
    "head_outputs": Wording(
        "Compute {component}, component {n} of the output of {row}{head}.",
        ("weights of {row}, keys {tokens}", "component {n} of the values of these tokens"),
    ),
    "head_contributions": Wording(
        "Compute this head's share of {component}, component {n} of the output of {row}{head}.",
        ("the head's output for {row}", "column {n} of the head's rows of the output projection"),
    ),
    "running_largest": Wording(
        "Compute the largest scaled score of {row} up to block {n}{head}.",
        ("{before}scaled scores of the block",),
    ),
    "running_factors": Wording(
        "Compute the factor for the sums of {row} before block {n}{head}.",
        ("largest score before minus the largest now",),
    ),
    "running_exponentials": Wording(
        "Compute the exponential of {row} with {column} as its block is read{head}.",
        ("scaled score minus the largest so far",),
    ),
    "running_sums": Wording(
        "Compute the running sum of {row} after block {n}{head}.",
        ("{factor_and}exponentials of the block", "{sum_and}1 for each exponential"),
    ),
    "running_mixtures": Wording(
        "Compute {component} of the running mixtures of {row}{head}: component {part} after block"
        " {of_block}.",
        ("{factor_and}exponentials of the block", "{mixture_and}the values' component {part}"),
    ),
    "running_outputs": Wording(
        "Compute {component} of the outputs of {row} so far{head}: component {part} after block"
        " {of_block}.",
        ("mixture", "sum"),
    ),
    "output": Wording(
        "Compute {component}, component {n} of the output of {row}.",
        ("concatenation of {row}", "column {n} of the output projection"),
    ),
    "stream": Wording(
        "Compute {component}, component {n} of {row} in the stream after attention.",
        ("component {n} of the input and of the output",),
    ),
    **_norm("start", "the input of the block"),
    **_norm("stream", "the stream after attention"),
    **_norm("total", "the stream after the block"),
    "hidden": Wording(
        "Compute {component}, pre-activation {n} of {row}.",
        ("input of the feed-forward layer for {row}{bias}", "column {n} of the first matrix{one}"),
    ),
    "active": Wording(
        "Compute {component}, activation {n} of {row}: {activation} of the pre-activation.",
        ("pre-activation", "share of the normal distribution below it"),
    ),
    "fed": Wording(
        "Compute {component}, component {n} of the feed-forward layer's output for {row}.",
        ("the activations of {row}{bias}", "column {n} of the second matrix{one}"),
    ),
    "total": Wording(
        "Compute {component}, component {n} of {row} in the stream after the block.",
        ("component {n} of the stream and of the feed-forward layer's output",),
    ),
    "logits": Wording(
        "Compute the logit of {word} after {row}.",
        ("normalised stream of {row}", "column of {word} in the unembedding"),
    ),
    "word_exponentials": Wording(
        "Compute the exponential of the logit of {word} after {row}.", ("logit",)
    ),
    "word_sums": Wording(
        "Compute the sum of the exponentials of all logits after {row}.", ("exponentials",)
    ),
    "probabilities": Wording(
        "Compute the probability of {word} after {row}.", ("logits of all words",)
    ),
}
"""The wording of each stage. The last operands are optional, such as the mask's term."""
