"""The bugs of attention, each a wrong line in the place of a right one: one table.

Twelve of them are the museum's; `mha.examine` recognises them all by what they give.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mha.practice.attention_parts import LINES, RIGHT, SOUND, Parts


@dataclass(frozen=True)
class Bug:
    """One wrong line.

    Parameters
    ----------
    name : str
    part : str
        The part of `mha.practice.attention_parts` in whose place it stands.
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
        "normalises the weights over the queries, not over the keys", kind="museum"),
    Bug("no shift", "powers", "np.exp(scores)", SHIFT,
        "takes the exponential without subtracting the maximum, so that large scores overflow",
        kind="museum slip"),
    Bug("wrong root", "score", f"{_PRODUCT} / np.sqrt(d_model)", "transformer/bugs#bug-root",
        "divides by the root of d_model, not of the head width", kind="museum"),
    Bug("late bias", "weigh", "softmax(forbid(scores, allowed)) + bias",
        "transformer/bugs#bug-bias", "adds a bias to weights", kind="museum"),
    Bug("late mask", "weigh", "softmax(scores + bias) * allowed",
        "transformer/bugs#bug-late-mask",
        "sets masked weights to zero after the softmax, so that a row no longer adds up to 1",
        kind="museum"),
    Bug("True reversed", "forbid", "np.where(allowed, -np.inf, scores)", MASKS,
        "reads True as masked", kind="museum"),
    Bug("reshape", "split", "wide.reshape(num_heads, len(wide), -1)", SPLIT,
        "reshapes without a transpose, so that a head gets the numbers of some tokens",
        kind="museum"),
    Bug("columns mixed", "mix", "weights.swapaxes(-1, -2) @ value", "transformer/bugs#bug-columns",
        "weights the values with columns of the weight matrix, not with rows", kind="museum"),
    Bug("off by one", "newest", "len(keys)", "transformer/bugs#bug-cache",
        "rotates the query by the position after its own", kind="museum"),
    Bug("values turned", "turn",
        "rotate_by(query, angles), rotate_by(key, angles), rotate_by(value, angles)", ROTARY,
        "rotates the values too", kind="museum"),
    Bug("halves for pairs", "turn",
        'rotate_by(query, angles, layout="halves"), rotate_by(key, angles, layout="halves"), value',
        ROTARY, "rotates each component with the one half a width on; the layout is neighbouring"
        " pairs",
        kind="museum"),
    Bug("dropout left on", "drop", "weights * kept / (1 - RATE)",
        "transformer/bugs#dropout-left-on", "sets weights to zero at random", kind="museum"),
    # Scores.
    Bug("no scale", "score", _PRODUCT, SCALING,
        "leaves out the division by the root of the head width"),
    Bug("scaled twice", "score", f"{_PRODUCT} / query.shape[-1]", SCALING,
        "divides by the head width itself, that is twice by its root"),
    Bug("multiplied by the root", "score", f"{_PRODUCT} * np.sqrt(query.shape[-1])", SCALING,
        "multiplies by the root of the head width instead of dividing by it"),
    Bug("root of the number of keys", "score", f"{_PRODUCT} / np.sqrt(key.shape[-2])", SCALING,
        "divides by the root of the number of keys, not of the head width"),
    Bug("view instead of transpose", "score",
        "query @ key.reshape(*key.shape[:-2], *key.shape[:-3:-1]) / np.sqrt(query.shape[-1])",
        SPLIT, "reshapes the keys where a transpose is needed"),
    Bug("root of the number of heads", "score", f"{_PRODUCT} / np.sqrt(query.shape[-3])", SCALING,
        "divides by the root of the number of heads, not of the head width"),
    Bug("all scores 0", "score", f"0 * {_PRODUCT}", SCALING,
        "multiplies scores by 0, so that each key gets the same weight: a scale of 0 is taken"
        " literally"),
    Bug("sign of the scores", "score", f"-{_PRODUCT} / np.sqrt(query.shape[-1])", SCALING,
        "changes the sign of every score, so that the least similar key gets the largest weight"),
    Bug("scale unused", "score_by", f"{_PRODUCT} / np.sqrt(query.shape[-1])", TEMPERATURE,
        "divides by the root of the head width even if a scale is given"),
    Bug("scale and root both applied", "score_by", f"{_PRODUCT} / np.sqrt(query.shape[-1]) * scale",
        SCALING, "divides by the root of the head width and multiplies by the given scale as well"),
    Bug("softcap before the scale", "cap", "softcap * np.tanh(scores / scale / softcap) * scale",
        SCALING, "caps the scores before they are scaled"),
    Bug("softcap after the mask", "cap_late", "softcap * np.tanh(scores / softcap)", MASKS,
        "caps the scores after they are masked, so that masked keys get weight again",
        together=(("cap", "scores"),)),
    Bug("softcap unused", "cap", "scores", SCALING, "ignores softcap"),
    Bug("scores in place of the softcap", "cap", "scores * np.tanh(scores / softcap)", SCALING,
        "multiplies the tanh by the scores, not by the softcap"),
    Bug("softcap not multiplied", "cap", "np.tanh(scores / softcap)", SCALING,
        "does not multiply the tanh by the softcap"),
    Bug("queries and keys exchanged", "roles", "key, query, value", FORMULA,
        "uses keys as queries and queries as keys"),
    Bug("keys and values exchanged", "roles", "query, value, key", CROSS,
        "computes scores from queries and values, and averages the keys"),
    Bug("keys mixed", "roles", "query, key, key", FORMULA,
        "averages the keys and ignores the values"),
    Bug("queries mixed", "roles", "query, key, query", FORMULA,
        "averages the queries and ignores the values"),
    Bug("queries compared with queries", "roles", "query, query, value", FORMULA,
        "computes scores from queries and queries, and ignores the keys"),
    Bug("keys compared with keys", "roles", "key, key, value", FORMULA,
        "computes scores from keys and keys, and ignores the queries"),
    Bug("groups tiled", "spread", "np.concatenate([x] * times, axis=-3)", SHARED,
        "repeats the list of groups, where neighbouring heads share a group"),
    # The softmax.
    Bug("softmax axis counted from the front", "along", "softmax(scores, axis=1)", SOFTMAX,
        "counts the softmax axis from the front; the keys are the last axis"),
    Bug("softmax over the first axis", "along", "softmax(scores, axis=0)", SOFTMAX,
        "takes the softmax over the first axis; the keys are the last axis"),
    Bug("softmax over axis 2", "along", "softmax(scores, axis=2)", SOFTMAX,
        "takes the softmax over axis 2; the keys are the last axis"),
    Bug("softmax over heads", "along", "softmax(scores, axis=-3)", SOFTMAX,
        "normalises the weights over the heads, not over the keys"),
    Bug("softmax over heads and keys", "along", "softmax(scores, axis=(-3, -1))", SOFTMAX,
        "normalises over all heads and keys together"),
    Bug("softmax over queries and keys", "along", "softmax(scores, axis=(-2, -1))", SOFTMAX,
        "normalises over all queries and keys of a head together"),
    Bug("no softmax", "along", "scores", SOFTMAX, "leaves out the softmax"),
    Bug("sigmoid for softmax", "along", "1 / (1 + np.exp(-scores))", SOFTMAX,
        "takes the sigmoid of each score instead of a softmax"),
    Bug("one sum for all rows", "along", "softmax(scores, axis=None)", SOFTMAX,
        "normalises over all rows together"),
    Bug("softmax twice", "along", "softmax(softmax(scores, axis=-1), axis=-1)", SOFTMAX,
        "takes the softmax twice"),
    Bug("one maximum for all rows", "powers", "np.exp(scores - scores.max())", SHIFT,
        "subtracts the maximum of all scores, not the maximum of each row", kind="slip"),
    Bug("maximum per column", "powers", "np.exp(scores - scores.max(axis=-2, keepdims=True))",
        SHIFT,
        "subtracts the maximum of each column, not of each row"),
    Bug("sign of the exponent", "powers",
        "np.exp(scores.max(axis=axis, keepdims=True) - scores)", SOFTMAX,
        "takes the exponential of the maximum minus the score, not of the score minus the maximum"),
    Bug("base 2 for base e", "powers", "np.exp2(scores - scores.max(axis=axis, keepdims=True))",
        SOFTMAX, "uses powers of 2, not of e"),
    Bug("not divided by the sum", "divide", "shares", SOFTMAX,
        "leaves out the division by the sum"),
    Bug("weights averaged over heads", "mix", "weights.mean(axis=-3, keepdims=True) @ value",
        HEADS, "averages the weights over the heads before multiplying by the values"),
    Bug("weights summed over heads", "mix", "weights.sum(axis=-3, keepdims=True) @ value",
        HEADS, "adds the weights of all heads before multiplying by the values"),
    Bug("outputs summed over heads", "mix", "(weights @ value).sum(axis=-3, keepdims=True)",
        HEADS, "adds the outputs of all heads"),
    Bug("outputs averaged over heads", "mix", "(weights @ value).mean(axis=-3, keepdims=True)",
        HEADS, "averages the outputs of all heads"),
    # Masks.
    Bug("mask unused", "read", "np.ones_like(mask)", MASKS, "ignores the mask",
        also=(("ease", "np.zeros_like(bias)"),)),
    Bug("additive mask unused", "ease", "np.zeros_like(bias)", MASKS,
        "ignores an additive mask"),
    Bug("mask transposed", "read", "mask.swapaxes(-1, -2)", MASKS,
        "transposes the mask",
        also=(("ease", "bias.swapaxes(-1, -2) if np.ndim(bias) else bias"),)),
    Bug("mask multiplied", "forbid", "scores * allowed", MASKS,
        "multiplies the scores by the mask: a masked score becomes 0, and its exponential 1"),
    Bug("mask added as 0 and 1", "forbid", "scores + allowed", MASKS,
        "adds the boolean mask to the scores, as 1 and 0"),
    Bug("-1e-9 for -1e9", "forbid", "np.where(allowed, scores, -1e-9)", MASKS,
        "writes -1e-9 for -1e9: masked scores become nearly 0"),
    Bug("zero times infinity", "forbid", "scores + (1 - allowed) * -np.inf", MASKS,
        "multiplies 0 by minus infinity, which gives NaN wherever a key is not masked"),
    Bug("mask scaled", "ease", "bias * scale", MASKS,
        "adds the additive mask before the scores are scaled, so that the mask is scaled too"),
    Bug("padding masks queries", "see", "real[..., :, None]", PADDING,
        "masks the queries at padding positions, not the keys"),
    Bug("padding masks rows too", "see", "real[..., None, :] & real[..., :, None]", PADDING,
        "masks the queries at padding positions as well as the keys",
        kind="note"),
    Bug("padding unused", "pad", "np.ones_like(real)", PADDING,
        "ignores the padding mask"),
    Bug("mask subtracted", "ease", "-bias", MASKS, "subtracts the additive mask from the scores"),
    Bug("mask added twice", "ease", "2 * bias", MASKS, "adds the additive mask twice"),
    Bug("masks tiled over the heads", "deal", "np.tile(masks, (num_heads, 1, 1))", MASKS,
        "tiles the masks over the heads (batch order 0, 1, 0, 1), where each mask has to be"
        " repeated (0, 0, 1, 1)"),
    Bug("first sequence's mask for all", "deal",
        "np.broadcast_to(masks[0], (len(masks) * num_heads, *masks.shape[1:]))", MASKS,
        "uses the mask of the first sequence for all sequences"),
    Bug("masks combined by or", "join", "allowed | earlier", MASKS,
        "combines the mask and the causal mask by or; both have to allow a key"),
    Bug("causal mask dropped beside a mask", "join", "allowed", MASKS,
        "ignores is_causal if there is a mask"),
    Bug("mask dropped beside a causal mask", "join", "earlier", MASKS,
        "ignores the mask if is_causal is set"),
    # A causal mask.
    Bug("diagonal hidden", "causal", "np.tri(num_queries, num_keys, diagonal - 1, dtype=bool)",
        DECODING, "masks the diagonal too, so that the first row is fully masked"),
    Bug("one key ahead", "causal", "np.tri(num_queries, num_keys, diagonal + 1, dtype=bool)",
        DECODING, "lets each query attend to the next position too"),
    Bug("causal mask transposed", "causal",
        "~np.tri(num_queries, num_keys, diagonal - 1, dtype=bool)",
        DECODING, "transposes the causal mask: each query attends to its own position and later"
        " ones"),
    Bug("causal mask reversed", "causal", "~np.tri(num_queries, num_keys, diagonal, dtype=bool)",
        DECODING, "inverts the causal mask: each query attends to later positions alone"),
    Bug("is_causal unused", "causal", "np.ones((num_queries, num_keys), bool)", DECODING,
        "ignores is_causal"),
    # A layer.
    Bug("heads interleaved", "split", "wide.reshape(len(wide), -1, num_heads).transpose(2, 0, 1)",
        SPLIT, "splits each token's vector among the heads in turn (strided), not in blocks"),
    Bug("merged by reshape", "merge",
        "outputs.reshape(*outputs.shape[:-3], outputs.shape[-2], -1)", SPLIT,
        "merges the heads by a reshape without a transpose"),
    Bug("merged alternating", "merge", "outputs.transpose(1, 2, 0).reshape(outputs.shape[1], -1)",
        SPLIT, "interleaves the outputs of the heads, where they have to be concatenated"),
    Bug("split and merged by reshape", "split", "wide.reshape(num_heads, len(wide), -1)", SPLIT,
        "splits and merges the heads by a reshape without a transpose",
        together=(("merge", "outputs.reshape(*outputs.shape[:-3], outputs.shape[-2], -1)"),)),
    Bug("attention over the heads", "split", "wide.reshape(len(wide), num_heads, -1)", SPLIT,
        "attends over the heads of each token, not over the tokens",
        together=(("merge", "outputs.reshape(len(outputs), -1)"),)),
    Bug("heads summed", "merge", "outputs.sum(axis=-3)", HEADS,
        "adds the outputs of the heads, where they have to be concatenated",
        together=(("finish", "concat"),)),
    Bug("heads averaged", "merge", "outputs.mean(axis=-3)", HEADS,
        "averages the outputs of the heads, where they have to be concatenated",
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
    Bug("matrices transposed", "order", "w_q.T, w_k.T, w_v.T, w_o.T", LAYER,
        "transposes each matrix; nn.Linear of PyTorch stores the transpose"),
    Bug("W_O transposed", "order", "w_q, w_k, w_v, w_o.T", HEADS,
        "transposes W_O"),
    Bug("W_O left out", "finish", "concat", HEADS, "leaves out the output projection"),
    Bug("fused as key, query, value", "cut", "[np.split(w_qkv, 3, axis=-1)[i] for i in (1, 0, 2)]",
        SPLIT, "takes keys from the first third of the fused matrix and queries from the second"),
    Bug("fused as value, key, query", "cut", "[np.split(w_qkv, 3, axis=-1)[i] for i in (2, 1, 0)]",
        SPLIT, "takes values, keys and queries from the thirds of the fused matrix, in this order"),
    Bug("fused as query, value, key", "cut", "[np.split(w_qkv, 3, axis=-1)[i] for i in (0, 2, 1)]",
        SPLIT, "takes values from the second third of the fused matrix and keys from the last"),
    Bug("fused by heads", "cut",
        "[x.reshape(len(w_qkv), -1) for x in"
        " np.moveaxis(w_qkv.reshape(len(w_qkv), num_heads, 3, -1), 2, 0)]", SPLIT,
        "reads the fused matrix head by head: query, key and value of the first head, then of the"
        " second"),
    Bug("biases left out", "lend", "0 * b_q, 0 * b_k, 0 * b_v, 0 * b_o", LAYER,
        "leaves out every bias"),
    Bug("bias of queries left out", "lend", "0 * b_q, b_k, b_v, b_o", LAYER,
        "leaves out the bias of the queries"),
    Bug("bias of values left out", "lend", "b_q, b_k, 0 * b_v, b_o", LAYER,
        "leaves out the bias of the values"),
    Bug("bias of the output left out", "lend", "b_q, b_k, b_v, 0 * b_o", LAYER,
        "leaves out the bias of the output"),
    Bug("context unused", "sources", "x, x, x", CROSS, "ignores the context"),
    Bug("queries from the context", "sources", "context, x, x", CROSS,
        "takes queries from the context, and keys and values from x"),
    Bug("values from x", "sources", "x, context, x", CROSS,
        "takes keys from the context and values from x"),
    Bug("keys from x", "sources", "x, x, context", CROSS,
        "takes values from the context and keys from x"),
    # A cache.
    Bug("positions restart at 0", "places", "np.arange(stop - start)", DECODING,
        "numbers positions from 0 again at each step"),
    Bug("cache overwritten", "keep", "new", DECODING,
        "overwrites the cached keys and values with the new ones"),
    Bug("cache not extended", "keep", "old if old.shape[-2] else new", DECODING,
        "does not append to the cache after the first step"),
    Bug("cached keys after new ones", "keep", "np.concatenate([new, old], axis=-2)", DECODING,
        "puts the new keys and values before the cached ones"),
    Bug("own key masked", "look", "kept[..., :-count, :] if kept.shape[-2] > count else kept",
        DECODING, "attends before the new key is appended, so that a token cannot attend to"
        " itself"),
    Bug("cache aligned top left", "first_seen", "0", DECODING,
        "aligns the causal mask at the top left, so that a new token attends to the first key"
        " alone"),
    Bug("later tokens of a step visible", "first_seen", "num_keys - 1", DECODING,
        "lets tokens of one step attend to later tokens of that step"),
    Bug("causal mask dropped once cached", "first_seen",
        "num_keys - 1 if num_keys > num_queries else 0", DECODING,
        "uses no causal mask once there is a cache, so that new tokens attend to later ones"),
    Bug("cached keys rotated again", "again", "rotate_by(keys, angles[: keys.shape[-2]])", DECODING,
        "rotates the cached keys again at each step"),
    Bug("one position for all new tokens", "places", "np.full(stop - start, start)", DECODING,
        "gives all tokens of a step the position of the first"),
    Bug("last position for all new tokens", "places", "np.full(stop - start, stop - 1)", DECODING,
        "gives all tokens of a step the position of the last"),
    # Positions.
    Bug("only queries rotated", "turn", "rotate_by(query, angles), key, value", ROTARY,
        "rotates the queries and not the keys"),
    Bug("two layouts in one", "turn",
        "two_layouts(query, angles), two_layouts(key, angles), value", ROTARY,
        "mixes two layouts: cosines and sines by halves, partners by neighbouring pairs"),
    Bug("cosines in pairs, partners in halves", "turn",
        "partners_in_halves(query, angles), partners_in_halves(key, angles), value", ROTARY,
        "mixes two layouts: cosines and sines by neighbouring pairs, partners by halves"),
    Bug("only keys rotated", "turn", "query, rotate_by(key, angles), value", ROTARY,
        "rotates the keys and not the queries"),
    Bug("keys rotated backwards", "turn",
        "rotate_by(query, angles), rotate_by(key, -angles), value", ROTARY,
        "rotates the keys in the opposite direction"),
    Bug("positions from 1", "angle", f"(positions[:, None] + 1) * {_SPEEDS}", ROTARY,
        "counts positions from 1"),
    Bug("rotated backwards", "angle", f"-positions[:, None] * {_SPEEDS}", ROTARY,
        "rotates in the opposite direction"),
    Bug("exponent by ones", "angle",
        "positions[:, None] * base ** (-np.arange(d_k // 2) / d_k)", ROTARY,
        "uses the exponent i / d_k, where 2i / d_k is needed"),
    Bug("exponent's sign", "angle", "positions[:, None] * base ** (np.arange(0, d_k, 2) / d_k)",
        ROTARY, "leaves out the minus sign of the exponent"),
    Bug("exponent from 1", "angle",
        "positions[:, None] * base ** (-np.arange(2, d_k + 2, 2) / d_k)", ROTARY,
        "numbers the pairs from 1 in the exponent, where the first is 0"),
    Bug("exponent doubled", "angle",
        "positions[:, None] * base ** (-2 * np.arange(0, d_k, 2) / d_k)", ROTARY,
        "doubles the exponent: arange(0, d_k, 2) already counts by twos"),
    Bug("degrees for radians", "angle", f"np.deg2rad(positions[:, None] * {_SPEEDS})", ROTARY,
        "converts angles from degrees to radians that are in radians already"),
    Bug("slopes halved", "slopes", "0.5 ** np.arange(1, num_heads + 1)", LINEAR,
        "halves the slope from head to head, for any number of heads"),
    Bug("slopes reversed", "slopes", "linear_slopes(num_heads)[::-1]", LINEAR,
        "gives the last head the slope of the first"),
    Bug("slopes from 1", "slopes", "2.0 ** (-8 / num_heads * np.arange(num_heads))", LINEAR,
        "numbers heads from 0 in the exponent, so that the first slope is 1"),
    Bug("slopes for any number of heads", "slopes",
        "2.0 ** (-8 / num_heads * np.arange(1, num_heads + 1))", LINEAR,
        "uses the formula for powers of two with any number of heads"),
    Bug("bias grows with distance", "fall", "slopes[:, None, None] * distance", LINEAR,
        "adds a larger bias to more distant keys, where it has to be smaller"),
    Bug("padding counted", "number", "np.broadcast_to(np.arange(real.shape[-1]), real.shape)",
        ADDED, "counts padding as positions, so that left padding shifts the positions of the"
        " tokens"),
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
