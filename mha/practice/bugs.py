"""The bugs of attention, each a wrong line in the place of a right one: one table.

Twelve of them are the museum's; `mha.examine` recognises them all by what they give.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mha.practice.parts import LINES, RIGHT, SOUND, Parts


@dataclass(frozen=True)
class Bug:
    """One wrong line.

    Parameters
    ----------
    name : str
    part : str
        The part of `mha.practice.parts` in whose place it stands.
    line : str
    section : str
        What explains it in the book: a page without its ending, and a label on it.
    said : str
        What the line does, with "it" before it.
    also : tuple of tuple of str, default ()
        Further parts that are often wrong along with it, and their lines.
    together : tuple of tuple of str, default ()
        Further parts that are always wrong along with it, and their lines.
    kind : str, default ""
        Of these words: "museum" is one of the twelve; "slip" is often there beside another bug,
        since it shows in special cases only.
    """

    name: str
    part: str
    line: str
    section: str
    said: str
    also: tuple[tuple[str, str], ...] = ()
    kind: str = ""
    together: tuple[tuple[str, str], ...] = ()

    @property
    def exchanged(self) -> dict[str, str]:
        """The parts that it changes, and their lines."""
        return {self.part: self.line, **dict(self.together)}

    @property
    def meant(self) -> str:
        """The right line."""
        return dict(SOUND.exchanged).get(self.part, LINES[self.part][1])

    @property
    def is_slip(self) -> bool:
        """Whether it is looked for beside another bug."""
        return "slip" in self.kind


_HEADS = "mechanism/multi-head-attention"
ROTARY, LINEAR = "transformer/order#rotary", "transformer/order#linear-biases"
ADDED = "transformer/order#added-positions"
DECODING = "transformer/decoding#decoding"
SCALING, TEMPERATURE = "mechanism/scaling#scaling", "mechanism/scaling#scaling-temperature"
SOFTMAX, SHIFT = "mechanism/softmax#softmax", "mechanism/softmax#large-scores"
MASKS = "mechanism/softmax#masks"
PADDING = "examples/cat-sat#cat-sat-padding"
LAYER = "mechanism/self-attention#self-attention"
FORMULA = "mechanism/self-attention#formula-of-self-attention"
HEADS, SPLIT = f"{_HEADS}#multi-head-attention", f"{_HEADS}#split-heads"
CROSS, SHARED = f"{_HEADS}#cross-attention", f"{_HEADS}#cost-of-a-layer"
_PRODUCT = "query @ key.swapaxes(-1, -2)"
_SPEEDS = "base ** (-np.arange(0, d_k, 2) / d_k)"

TABLE = (
    # The museum's, in its order.
    Bug("wrong axis", "along", "softmax(scores, axis=-2)", "transformer/bugs#bug-axis",
        "shares out each key among the queries", kind="museum"),
    Bug("no shift", "powers", "np.exp(scores)", SHIFT,
        "takes the exponential of whatever comes, and large ones overflow", kind="museum slip"),
    Bug("wrong root", "score", f"{_PRODUCT} / np.sqrt(d_model)", "transformer/bugs#bug-root",
        "divides by the root of the embedding's width, not of the head's", kind="museum"),
    Bug("late bias", "weigh", "softmax(forbid(scores, allowed)) + bias",
        "transformer/bugs#bug-bias", "adds a bias to weights", kind="museum"),
    Bug("late mask", "weigh", "softmax(scores + bias) * allowed", "transformer/bugs#bug-late-mask",
        "strikes weights out once they are shared out", kind="museum"),
    Bug("True reversed", "forbid", "np.where(allowed, -np.inf, scores)", MASKS,
        "takes True for what is forbidden", kind="museum"),
    Bug("reshape", "split", "wide.reshape(num_heads, len(wide), -1)", SPLIT,
        "gives each head the numbers of some tokens", kind="museum"),
    Bug("columns mixed", "mix", "weights.swapaxes(-1, -2) @ value", "transformer/bugs#bug-columns",
        "weighs the values with columns", kind="museum"),
    Bug("off by one", "newest", "len(keys)", "transformer/bugs#bug-cache",
        "turns the query by the position after its own", kind="museum"),
    Bug("values turned", "turn",
        "rotate_by(query, angles), rotate_by(key, angles), rotate_by(value, angles)", ROTARY,
        "turns the values too", kind="museum"),
    Bug("halves for pairs", "turn",
        'rotate_by(query, angles, layout="halves"), rotate_by(key, angles, layout="halves"), value',
        ROTARY, "turns each component with the one half a width on, where it is neighbours"
        " that turn together",
        kind="museum"),
    Bug("dropout left on", "drop", "weights * kept / (1 - RATE)",
        "transformer/bugs#dropout-left-on", "sets weights to zero at random", kind="museum"),
    # Scores.
    Bug("no scale", "score", _PRODUCT, SCALING,
        "leaves out the division by the root of the head's width"),
    Bug("scaled twice", "score", f"{_PRODUCT} / query.shape[-1]", SCALING,
        "divides by the head's width itself: by its root twice"),
    Bug("multiplied by the root", "score", f"{_PRODUCT} * np.sqrt(query.shape[-1])", SCALING,
        "multiplies by the root, where scores are divided by it"),
    Bug("root of the number of keys", "score", f"{_PRODUCT} / np.sqrt(key.shape[-2])", SCALING,
        "divides by the root of the number of keys, not of their width"),
    Bug("a view for a transpose", "score",
        "query @ key.reshape(*key.shape[:-2], *key.shape[:-3:-1]) / np.sqrt(query.shape[-1])",
        SPLIT, "reads the keys in another shape, where their axes are to be exchanged"),
    Bug("root of the number of heads", "score", f"{_PRODUCT} / np.sqrt(query.shape[-3])", SCALING,
        "divides by the root of the number of heads, not of their width"),
    Bug("all scores 0", "score", f"0 * {_PRODUCT}", SCALING,
        "multiplies scores by 0, so that each key gets the same weight: a scale of 0 is taken"
        " literally"),
    Bug("sign of the scores", "score", f"-{_PRODUCT} / np.sqrt(query.shape[-1])", SCALING,
        "changes the sign of every score, so that the least similar key gets the largest weight"),
    Bug("scale unused", "score_by", f"{_PRODUCT} / np.sqrt(query.shape[-1])", TEMPERATURE,
        "divides by the root also where a scale is given"),
    Bug("scale beside the root", "score_by", f"{_PRODUCT} / np.sqrt(query.shape[-1]) * scale",
        SCALING, "divides by the root and multiplies by the given scale as well"),
    Bug("softcap before the scale", "cap", "softcap * np.tanh(scores / scale / softcap) * scale",
        SCALING, "bends the scores before they are scaled"),
    Bug("softcap after the mask", "cap_late", "softcap * np.tanh(scores / softcap)", MASKS,
        "bends the scores after they are masked, so that hidden keys are seen again",
        together=(("cap", "scores"),)),
    Bug("softcap unused", "cap", "scores", SCALING, "leaves the softcap unused"),
    Bug("scores for the softcap", "cap", "scores * np.tanh(scores / softcap)", SCALING,
        "multiplies the tanh by the scores, where the softcap is meant"),
    Bug("softcap not multiplied", "cap", "np.tanh(scores / softcap)", SCALING,
        "leaves out the multiplication by the softcap behind the tanh"),
    Bug("queries and keys exchanged", "roles", "key, query, value", FORMULA,
        "lets the keys ask and the queries be asked"),
    Bug("keys and values exchanged", "roles", "query, value, key", CROSS,
        "compares queries with values, and mixes keys"),
    Bug("keys mixed", "roles", "query, key, key", FORMULA,
        "mixes the keys, and leaves the values unused"),
    Bug("queries mixed", "roles", "query, key, query", FORMULA,
        "mixes the queries, and leaves the values unused"),
    Bug("queries compared with queries", "roles", "query, query, value", FORMULA,
        "compares queries with queries, and leaves the keys unused"),
    Bug("keys compared with keys", "roles", "key, key, value", FORMULA,
        "compares keys with keys, and leaves the queries unused"),
    Bug("groups tiled", "spread", "np.concatenate([x] * times, axis=-3)", SHARED,
        "goes through all groups again and again, where neighbouring heads share one"),
    # The softmax.
    Bug("axis from the front", "along", "softmax(scores, axis=1)", SOFTMAX,
        "counts the axis from the front, where the keys are the last"),
    Bug("first axis", "along", "softmax(scores, axis=0)", SOFTMAX,
        "takes the softmax along the first axis, where the keys are the last"),
    Bug("third axis", "along", "softmax(scores, axis=2)", SOFTMAX,
        "takes the softmax along axis 2, where the keys are the last"),
    Bug("softmax over heads", "along", "softmax(scores, axis=-3)", SOFTMAX,
        "shares out each key among the heads"),
    Bug("softmax over heads and keys", "along", "softmax(scores, axis=(-3, -1))", SOFTMAX,
        "divides by the sum of the exponentials of all heads"),
    Bug("softmax over queries and keys", "along", "softmax(scores, axis=(-2, -1))", SOFTMAX,
        "divides by the sum of the exponentials of a head's rows"),
    Bug("no softmax", "along", "scores", SOFTMAX, "leaves out the softmax"),
    Bug("sigmoid for softmax", "along", "1 / (1 + np.exp(-scores))", SOFTMAX,
        "takes the sigmoid of each score, where a softmax is meant"),
    Bug("one sum for all rows", "along", "softmax(scores, axis=None)", SOFTMAX,
        "divides by the sum of the exponentials of all rows"),
    Bug("softmax twice", "along", "softmax(softmax(scores, axis=-1), axis=-1)", SOFTMAX,
        "takes the softmax of weights"),
    Bug("one shift for all rows", "powers", "np.exp(scores - scores.max())", SHIFT,
        "takes away the largest of all scores, not each row's own", kind="slip"),
    Bug("shift of columns", "powers", "np.exp(scores - scores.max(axis=-2, keepdims=True))", SHIFT,
        "takes away the largest score of each column, not each row's own"),
    Bug("sign of the exponent", "powers",
        "np.exp(scores.max(axis=axis, keepdims=True) - scores)", SOFTMAX,
        "takes the exponential of the largest score less each score"),
    Bug("powers of two", "powers", "np.exp2(scores - scores.max(axis=axis, keepdims=True))",
        SOFTMAX, "raises 2 to the scores, where e is meant"),
    Bug("not divided by the sum", "divide", "shares", SOFTMAX,
        "leaves out the division by the sum"),
    Bug("weights averaged over heads", "mix", "weights.mean(axis=-3, keepdims=True) @ value",
        HEADS, "averages the weights over the heads before they meet the values"),
    Bug("weights summed over heads", "mix", "weights.sum(axis=-3, keepdims=True) @ value",
        HEADS, "adds the weights of all heads before they meet the values"),
    Bug("outputs summed over heads", "mix", "(weights @ value).sum(axis=-3, keepdims=True)",
        HEADS, "adds the outputs of all heads"),
    Bug("outputs averaged over heads", "mix", "(weights @ value).mean(axis=-3, keepdims=True)",
        HEADS, "averages the outputs of all heads"),
    # Masks.
    Bug("mask unused", "read", "np.ones_like(mask)", MASKS, "leaves the mask unused",
        also=(("ease", "np.zeros_like(bias)"),)),
    Bug("mask of numbers unused", "ease", "np.zeros_like(bias)", MASKS,
        "leaves a mask of numbers unused"),
    Bug("mask turned over", "read", "mask.swapaxes(-1, -2)", MASKS,
        "exchanges the mask's rows and columns",
        also=(("ease", "bias.swapaxes(-1, -2) if np.ndim(bias) else bias"),)),
    Bug("mask multiplied", "forbid", "scores * allowed", MASKS,
        "makes hidden scores 0, whose exponential is 1"),
    Bug("mask added as 0 and 1", "forbid", "scores + allowed", MASKS,
        "adds True and False to the scores, as 1 and 0"),
    Bug("a tiny number for a large one", "forbid", "np.where(allowed, scores, -1e-9)", MASKS,
        "writes 1e-9 for 1e9: hidden scores become nearly 0"),
    Bug("zero times infinity", "forbid", "scores + (1 - allowed) * -np.inf", MASKS,
        "multiplies by minus infinity, which gives NaN wherever a key is allowed"),
    Bug("mask scaled", "ease", "bias * scale", MASKS,
        "adds a mask of numbers before the scores are scaled, so that it is scaled too"),
    Bug("padding hides queries", "see", "real[..., :, None]", PADDING,
        "hides the queries that are padding, and lets all others see it"),
    Bug("padding hides rows too", "see", "real[..., None, :] & real[..., :, None]", PADDING,
        "hides keys that are padding, and leaves queries that are padding no key at all",
        kind="note"),
    Bug("padding unused", "pad", "np.ones_like(real)", PADDING,
        "leaves the mask of padding unused"),
    Bug("mask subtracted", "ease", "-bias", MASKS, "takes a mask of numbers away from the scores"),
    Bug("mask added twice", "ease", "2 * bias", MASKS, "adds a mask of numbers twice"),
    Bug("masks of the sequences tiled", "deal", "np.tile(masks, (num_heads, 1, 1))", MASKS,
        "repeats the masks of all sequences head by head; all heads of a sequence come first"),
    Bug("first sequence's mask for all", "deal",
        "np.broadcast_to(masks[0], (len(masks) * num_heads, *masks.shape[1:]))", MASKS,
        "takes the mask of the first sequence for all of them"),
    Bug("masks joined by or", "join", "allowed | earlier", MASKS,
        "lets a query see each key that the mask or the causal mask allows, where both have to"),
    Bug("causal mask dropped beside a mask", "join", "allowed", MASKS,
        "leaves out the causal mask where there is another mask"),
    Bug("mask dropped beside a causal mask", "join", "earlier", MASKS,
        "leaves out the mask where there is a causal mask"),
    # A causal mask.
    Bug("diagonal hidden", "causal", "np.tri(num_queries, num_keys, diagonal - 1, dtype=bool)",
        DECODING, "hides the diagonal too, so that the first query sees nothing"),
    Bug("one key ahead", "causal", "np.tri(num_queries, num_keys, diagonal + 1, dtype=bool)",
        DECODING, "lets each query see the key after its own"),
    Bug("causal mask turned over", "causal",
        "~np.tri(num_queries, num_keys, diagonal - 1, dtype=bool)",
        DECODING, "lets each query see its own key and those after it"),
    Bug("causal mask reversed", "causal", "~np.tri(num_queries, num_keys, diagonal, dtype=bool)",
        DECODING, "hides what was to be seen and shows what comes later"),
    Bug("is_causal unused", "causal", "np.ones((num_queries, num_keys), bool)", DECODING,
        "leaves is_causal unused"),
    # A layer.
    Bug("heads dealt out", "split", "wide.reshape(len(wide), -1, num_heads).transpose(2, 0, 1)",
        SPLIT, "deals out each token's numbers to the heads one by one"),
    Bug("merged by reshape", "merge",
        "outputs.reshape(*outputs.shape[:-3], outputs.shape[-2], -1)", SPLIT,
        "reads the heads' outputs on, number after number, as if they were rows of tokens"),
    Bug("merged alternating", "merge", "outputs.transpose(1, 2, 0).reshape(outputs.shape[1], -1)",
        SPLIT, "puts the first number of each head first, then the second of each"),
    Bug("split and merged by reshape", "split", "wide.reshape(num_heads, len(wide), -1)", SPLIT,
        "gives each head the numbers of some tokens, and reads the outputs on in the same way",
        together=(("merge", "outputs.reshape(*outputs.shape[:-3], outputs.shape[-2], -1)"),)),
    Bug("attention over the heads", "split", "wide.reshape(len(wide), num_heads, -1)", SPLIT,
        "lets the heads of each token attend to one another, where tokens are to attend",
        together=(("merge", "outputs.reshape(len(outputs), -1)"),)),
    Bug("heads summed", "merge", "outputs.sum(axis=-3)", HEADS,
        "adds the outputs of the heads, where they are to stand side by side",
        together=(("finish", "concat"),)),
    Bug("heads averaged", "merge", "outputs.mean(axis=-3)", HEADS,
        "averages the outputs of the heads, where they are to stand side by side",
        together=(("finish", "concat"),)),
    Bug("W_Q and W_K exchanged", "order", "w_k, w_q, w_v, w_o", LAYER,
        "uses W_K for the queries and W_Q for the keys"),
    Bug("W_K and W_V exchanged", "order", "w_q, w_v, w_k, w_o", LAYER,
        "uses W_V for the keys and W_K for the values"),
    Bug("W_V and W_O exchanged", "order", "w_q, w_k, w_o, w_v", HEADS,
        "uses W_O for the values and W_V for the output"),
    Bug("W_K used for the values", "order", "w_q, w_k, w_k, w_o", LAYER,
        "uses W_K for the values too"),
    Bug("W_Q used for the keys", "order", "w_q, w_q, w_v, w_o", LAYER,
        "uses W_Q for the keys too"),
    Bug("W_Q used for all three", "order", "w_q, w_q, w_q, w_o", LAYER,
        "uses W_Q for keys and values too"),
    Bug("matrices turned over", "order", "w_q.T, w_k.T, w_v.T, w_o.T", LAYER,
        "exchanges rows and columns of each matrix, as a linear layer of PyTorch has them"),
    Bug("W_O turned over", "order", "w_q, w_k, w_v, w_o.T", HEADS,
        "exchanges rows and columns of W_O"),
    Bug("W_O left out", "finish", "concat", HEADS, "leaves out the output projection"),
    Bug("fused as key, query, value", "cut", "[np.split(w_qkv, 3, axis=-1)[i] for i in (1, 0, 2)]",
        SPLIT, "takes the first third of the fused matrix for keys and the second for queries"),
    Bug("fused as value, key, query", "cut", "[np.split(w_qkv, 3, axis=-1)[i] for i in (2, 1, 0)]",
        SPLIT, "takes the thirds of the fused matrix for values, keys and queries"),
    Bug("fused as query, value, key", "cut", "[np.split(w_qkv, 3, axis=-1)[i] for i in (0, 2, 1)]",
        SPLIT, "takes the second third of the fused matrix for values and the last for keys"),
    Bug("fused by heads", "cut",
        "[x.reshape(len(w_qkv), -1) for x in"
        " np.moveaxis(w_qkv.reshape(len(w_qkv), num_heads, 3, -1), 2, 0)]", SPLIT,
        "takes query, key and value of the first head, then those of the second, and so on"),
    Bug("biases left out", "lend", "0 * b_q, 0 * b_k, 0 * b_v, 0 * b_o", LAYER,
        "leaves out every bias"),
    Bug("bias of queries left out", "lend", "0 * b_q, b_k, b_v, b_o", LAYER,
        "leaves out the bias of the queries"),
    Bug("bias of values left out", "lend", "b_q, b_k, 0 * b_v, b_o", LAYER,
        "leaves out the bias of the values"),
    Bug("bias of the output left out", "lend", "b_q, b_k, b_v, 0 * b_o", LAYER,
        "leaves out the bias of the output"),
    Bug("context unused", "sources", "x, x, x", CROSS, "leaves the context unused"),
    Bug("context asks", "sources", "context, x, x", CROSS,
        "lets the context ask, and the tokens be asked"),
    Bug("values of the tokens that ask", "sources", "x, context, x", CROSS,
        "takes keys from the context and values from the tokens that ask"),
    Bug("keys of the tokens that ask", "sources", "x, x, context", CROSS,
        "takes values from the context and keys from the tokens that ask"),
    # A cache.
    Bug("positions begin anew", "places", "np.arange(stop - start)", DECODING,
        "begins with position 0 at each step"),
    Bug("cache overwritten", "keep", "new", DECODING,
        "puts new keys and values in the place of those that were kept"),
    Bug("cache not extended", "keep", "old if old.shape[-2] else new", DECODING,
        "leaves the cache as the first step made it"),
    Bug("cache behind", "keep", "np.concatenate([new, old], axis=-2)", DECODING,
        "puts new keys and values before those that were kept"),
    Bug("own key not seen", "look", "kept[..., :-count, :] if kept.shape[-2] > count else kept",
        DECODING, "attends before the new keys are kept, so that a token does not see itself"),
    Bug("cache aligned top left", "first_seen", "0", DECODING,
        "aligns the causal mask at the top left, so that a new token sees the first key alone"),
    Bug("later tokens of a step seen", "first_seen", "num_keys - 1", DECODING,
        "lets tokens that come together see those behind them"),
    Bug("causal mask dropped once cached", "first_seen",
        "num_keys - 1 if num_keys > num_queries else 0", DECODING,
        "uses no causal mask once there is a cache, so that new tokens see those behind them"),
    Bug("keys turned again", "again", "rotate_by(keys, angles[: keys.shape[-2]])", DECODING,
        "turns the keys of the cache once more when they are read"),
    Bug("one position for all new tokens", "places", "np.full(stop - start, start)", DECODING,
        "gives all tokens of a step the position of the first"),
    Bug("last position for all new tokens", "places", "np.full(stop - start, stop - 1)", DECODING,
        "gives all tokens of a step the position of the last"),
    # Positions.
    Bug("queries turned alone", "turn", "rotate_by(query, angles), key, value", ROTARY,
        "turns the queries and leaves the keys as they are"),
    Bug("two layouts in one", "turn",
        "two_layouts(query, angles), two_layouts(key, angles), value", ROTARY,
        "takes the cosines in halves and the partners in pairs"),
    Bug("cosines in pairs, partners in halves", "turn",
        "partners_in_halves(query, angles), partners_in_halves(key, angles), value", ROTARY,
        "takes the cosines in pairs and the partners in halves"),
    Bug("keys turned alone", "turn", "query, rotate_by(key, angles), value", ROTARY,
        "turns the keys and leaves the queries as they are"),
    Bug("keys turned backwards", "turn",
        "rotate_by(query, angles), rotate_by(key, -angles), value", ROTARY,
        "turns the keys the other way round"),
    Bug("positions from 1", "angle", f"(positions[:, None] + 1) * {_SPEEDS}", ROTARY,
        "counts positions from 1"),
    Bug("turned backwards", "angle", f"-positions[:, None] * {_SPEEDS}", ROTARY,
        "turns the other way round"),
    Bug("exponent by ones", "angle",
        "positions[:, None] * base ** (-np.arange(d_k // 2) / d_k)", ROTARY,
        "counts pairs by ones in the exponent, where it takes twos"),
    Bug("exponent's sign", "angle", "positions[:, None] * base ** (np.arange(0, d_k, 2) / d_k)",
        ROTARY, "leaves out the minus sign of the exponent"),
    Bug("exponent from 1", "angle",
        "positions[:, None] * base ** (-np.arange(2, d_k + 2, 2) / d_k)", ROTARY,
        "counts pairs from 1 in the exponent, where the first is 0"),
    Bug("exponent doubled", "angle",
        "positions[:, None] * base ** (-2 * np.arange(0, d_k, 2) / d_k)", ROTARY,
        "multiplies by 2 in the exponent what counts by twos already"),
    Bug("degrees for radians", "angle", f"np.deg2rad(positions[:, None] * {_SPEEDS})", ROTARY,
        "takes angles in radians for degrees"),
    Bug("slopes halved", "slopes", "0.5 ** np.arange(1, num_heads + 1)", LINEAR,
        "halves the slope from head to head, however many there are"),
    Bug("slopes reversed", "slopes", "linear_slopes(num_heads)[::-1]", LINEAR,
        "gives the last head the slope of the first"),
    Bug("slopes from 1", "slopes", "2.0 ** (-8 / num_heads * np.arange(num_heads))", LINEAR,
        "counts heads from 0 in the exponent, so that the first slope is 1"),
    Bug("slopes of any number of heads", "slopes",
        "2.0 ** (-8 / num_heads * np.arange(1, num_heads + 1))", LINEAR,
        "takes the formula for powers of two for any number of heads"),
    Bug("bias upwards", "fall", "slopes[:, None, None] * distance", LINEAR,
        "adds more, the further a key lies back"),
    Bug("padding counted", "number", "np.broadcast_to(np.arange(real.shape[-1]), real.shape)",
        ADDED, "counts padding too, so that a text padded on the left has other positions"),
)  # fmt: skip
"""Every bug that is known."""

BUGS: Mapping[str, Parts] = {
    bug.name: RIGHT.having(bug.exchanged) for bug in TABLE if "museum" in bug.kind
}
"""The museum's: each bug's name, and the parts with it among them."""


def lines(bug: str) -> tuple[str, str]:
    """Return what a bug's code says, and what was meant.

    Parameters
    ----------
    bug : str
        The name of one in `TABLE`.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> lines("columns mixed")
    ('weights.swapaxes(-1, -2) @ value', 'weights @ value')
    """
    return next((each.line, each.meant) for each in TABLE if each.name == bug)
