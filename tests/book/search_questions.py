"""Questions that a student types into the search, and the sections that a teacher would name.

A section is its page and, after "#", its anchor; the section that begins a page has none.
"""

SCALING = ("mechanism/scaling", "mechanism/scaling#why-dot-products-grow")

# The search was tuned to these. Of the first five, Sphinx's own search found none first.
QUESTIONS = {
    "why divide by sqrt": (*SCALING, "mechanism/scaling#the-cure"),
    "attention mask": ("mechanism/softmax#masks",),
    "what is a key": (
        "mechanism/what-attention-does#three-arrows-for-each-word",
        "mechanism/self-attention#from-one-word-to-all-of-them",
    ),
    "entropy": ("mechanism/softmax#entropy",),
    "output projection": (
        "mechanism/multi-head-attention#the-output-projection",
        "mechanism/multi-head-attention#a-sum-over-heads",
    ),
    "softmax temperature": ("mechanism/softmax#temperature",),
    "multi head": (
        "mechanism/multi-head-attention",
        "mechanism/multi-head-attention#several-heads",
    ),
    "query key value": (
        "mechanism/what-attention-does#three-arrows-for-each-word",
        "mechanism/self-attention#from-one-word-to-all-of-them",
    ),
    "causal mask": ("mechanism/softmax#masks", "mechanism/softmax#a-causal-mask-sees-order"),
    "why scale dot product": (*SCALING, "mechanism/scaling#the-cure"),
    "concatenate heads": (
        "mechanism/multi-head-attention#the-output-projection",
        "mechanism/multi-head-attention#several-heads",
    ),
    "gradient of softmax": (
        "mechanism/softmax#deeper-the-jacobian-or-how-each-weight-changes-with-each-score",
        "mechanism/softmax#back-through-the-softmax",
    ),
    "overflow exp": ("mechanism/softmax#large-scores",),
    "positional order": (
        "mechanism/self-attention#order-does-not-matter",
        "transformer/order",
        "transformer/order#first-way-add-a-position-to-the-embedding",
    ),
    "dot product as similarity": ("mechanism/self-attention#from-one-word-to-all-of-them",),
    "row sums to one": (
        "mechanism/softmax#from-scores-to-weights",
        "mechanism/softmax#along-which-axis",
        "mechanism/self-attention#reading-a-weight-matrix",
    ),
    "what do heads learn": (
        "mechanism/multi-head-attention#why-heads-differ",
        "mechanism/multi-head-attention#are-all-heads-needed",
    ),
    "number of parameters": (
        "mechanism/multi-head-attention#what-it-costs",
        "mechanism/multi-head-attention#the-number-of-heads-is-free-almost",
    ),
}

# Ten more, written when the tuning to the eighteen had ended: 5 found theirs first, and 7 when what
# they showed had been mended (endings of words, "sentence" for "sequence", a few lines of `asked`).
MORE = {
    "embedding vector": ("mechanism/what-attention-does#one-word-two-meanings",),
    "variance of dot product": (
        "mechanism/scaling#deeper-the-variance-of-a-dot-product-is-its-width",
        *SCALING,
    ),
    "what happens if all keys are masked": ("mechanism/softmax#when-everything-is-masked",),
    "bag of words": (
        "mechanism/self-attention#order-does-not-matter",
        "transformer/order#a-bag-of-words",
    ),
    "saturated softmax": ("mechanism/scaling#what-saturation-looks-like",),
    "attention between two sentences": ("mechanism/multi-head-attention#asking-another-sequence",),
    "how many heads should I use": (
        "mechanism/multi-head-attention#the-number-of-heads-is-free-almost",
        "mechanism/multi-head-attention#what-it-costs",
        "mechanism/multi-head-attention#are-all-heads-needed",
        "transformer/learning#how-many-heads",
    ),
    "rounding to four decimals": ("notation#rounding",),
    "vanishing gradient": (
        "mechanism/scaling#deeper-without-the-scale-most-wide-queries-get-less-gradient-and-the-query-matrix-gets-more",
        "mechanism/scaling#what-saturation-does-to-the-gradient",
    ),
    "weighted average of values": (
        "mechanism/self-attention#step-4-mix-the-values",
        "mechanism/multi-head-attention#by-hand-it-asks-twice",
    ),
}

# Of the part on the Transformer: each finds its section first.
TRANSFORMER = {
    "rotary position embedding": ("transformer/order#second-way-rotate-with-the-position",),
    "RoPE": ("transformer/order#second-way-rotate-with-the-position",),
    "ALiBi": ("transformer/order#third-way-a-price-for-distance",),
    "online softmax": ("transformer/cost#a-softmax-that-reads-once",),
    "FlashAttention": ("transformer/cost#attention-block-by-block",),
    "grouped-query attention": ("transformer/cost#a-smaller-cache",),
    "KV cache": ("transformer/decoding#one-token-at-a-time",),
    "attention sink": ("transformer/decoding#a-row-with-nothing-to-listen-to",),
    "induction head": ("transformer/depth#a-b-a-what-comes-next",),
    "layer norm": ("transformer/depth#layer-normalisation",),
    "sinusoidal positional encoding": (
        "transformer/order#first-way-add-a-position-to-the-embedding",
    ),
    "backpropagation by hand": ("transformer/learning#the-way-back",),
    "dropout": ("transformer/bugs#dropout-left-on",),
    "property test": ("transformer/bugs#a-friendly-example-finds-nothing",),
    "check my own attention": ("transformer/your-own-attention#two-lines-that-stay",),
    "pytest": ("transformer/your-own-attention#two-lines-that-stay",),
}

# Words of programs and of other books: each finds first where its idea is explained.
SPLIT = (
    "mechanism/multi-head-attention"
    "#deeper-separate-heads-and-one-wide-matrix-are-the-same-computation"
)
TERMS = {
    "query key value meaning": ("mechanism/what-attention-does#three-arrows-for-each-word",),
    "pytorch": ("mechanism/multi-head-attention#in-pytorch",),
    "in_proj_weight": (SPLIT,),
    "einsum": (SPLIT,),
    "multihead": (
        "mechanism/multi-head-attention",
        "mechanism/multi-head-attention#several-heads",
    ),
    "logit": ("mechanism/softmax#from-scores-to-weights",),
    "log-odds": ("mechanism/softmax#only-differences-count",),
    "perplexity": (
        "mechanism/softmax#entropy",
        "transformer/decoding#a-row-with-nothing-to-listen-to",
    ),
    "parameters": ("mechanism/multi-head-attention#what-it-costs",),
    "dimension": ("mechanism/self-attention#three-matrices-learned-once", *SCALING),
    "rotate": ("transformer/order#second-way-rotate-with-the-position",),
    "relative position bias": ("transformer/order#where-or-how-far",),
    "vocabulary": ("transformer/decoding#why-the-future-is-hidden",),
    "unembedding": ("transformer/decoding#why-the-future-is-hidden",),
    "autoregressive": ("transformer/decoding#why-the-future-is-hidden",),
    "teacher forcing": ("transformer/decoding#why-the-future-is-hidden",),
    "prefill": ("transformer/decoding#one-token-at-a-time",),
    "encoder-decoder": ("transformer/decoding#a-sentence-that-asks-another",),
    "softmax off by one": ("transformer/decoding#a-row-with-nothing-to-listen-to",),
    "standard deviation": ("transformer/depth#layer-normalisation", *SCALING),
    "RMS": ("transformer/depth#layer-normalisation",),
    "pre-norm": ("transformer/depth#layer-normalisation",),
    "MLP": ("transformer/depth#a-layer-for-each-token-alone",),
    "pre-activation": ("transformer/depth#a-layer-for-each-token-alone",),
    "activations": ("transformer/depth#a-layer-for-each-token-alone",),
    "QK circuit": ("transformer/depth#two-circuits-in-each-head",),
    "OV circuit": ("transformer/depth#two-circuits-in-each-head",),
    "MQA": ("transformer/cost#a-smaller-cache",),
    "GQA": ("transformer/cost#a-smaller-cache",),
    "memory bandwidth": ("transformer/cost#attention-block-by-block",),
    "SRAM": ("transformer/cost#attention-block-by-block",),
    "IO": ("transformer/cost#attention-block-by-block",),
    "materialise": ("transformer/cost#attention-block-by-block",),
    "ablation": ("transformer/learning#what-emerges",),
}

# Written before that mending and tried after it: 9 find theirs first. Nothing was tuned to these.
UNTUNED = {
    "self attention formula": ("mechanism/self-attention#the-formula-of-self-attention",),
    "why do dot products grow with dimension": (*SCALING, "mechanism/scaling#measured"),
    "look ahead future tokens": (
        "mechanism/softmax#masks",
        "mechanism/softmax#a-causal-mask-sees-order",
    ),
    "memory quadratic sequence length": (
        "mechanism/multi-head-attention#what-it-costs",
        "mechanism/multi-head-attention#where-the-square-takes-over",
    ),
    "Xavier initialisation": (
        "mechanism/self-attention#deeper-how-small-the-random-numbers-should-be-at-the-start",
    ),
    "shapes of the matrices": (
        "notation#symbols",
        "mechanism/self-attention#three-matrices-learned-once",
        "examples/work-your-own#when-the-shapes-do-not-fit",
    ),
    "GPT number of heads": (
        "mechanism/multi-head-attention#the-published-models",
        "transformer/cost#a-model-in-one-table",
    ),
    "learned temperature scale": (
        "mechanism/scaling#other-scales",
        "mechanism/softmax#temperature",
    ),
    "backpropagation through attention": (
        "mechanism/softmax#deeper-back-through-attention-in-five-derivatives",
    ),
    "mistakes in the lecture notes": (
        "sources/what-the-sources-print",
        "sources/what-the-sources-print#the-audit-of-the-lecture-notes",
        "sources/what-the-sources-print#what-the-notes-say",
        "sources/what-the-sources-print#what-falls",
    ),
}
