"""Questions that a student types into the search, and the sections that a teacher would name.

A section is its page and, after "#", its anchor; the section that begins a page has none.
"""

SCALING = ("mechanism/scaling", "mechanism/scaling#why-dot-products-grow")

# Of the first five, Sphinx's own search found none first.
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
