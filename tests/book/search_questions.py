"""Questions that a student types into the search, and the sections that a teacher would name.

A section is its page and, after "#", its anchor; the section that begins a page has none.
"""

SCALING = ("mechanism/scaling", "mechanism/scaling#why-dot-products-grow")

# The search was tuned to these. Of the first five, Sphinx's own search found none first.
QUESTIONS = {
    "why divide by sqrt": (*SCALING, "mechanism/scaling#leave-the-scale-out"),
    "attention mask": ("mechanism/softmax#masks",),
    "what is a key": ("mechanism/self-attention#query-key-and-value",),
    "entropy": ("mechanism/softmax#entropy",),
    "output projection": (
        "mechanism/multi-head-attention#the-output-projection",
        "mechanism/multi-head-attention#step-7-output-projection",
    ),
    "softmax temperature": ("mechanism/softmax#temperature",),
    "multi head": (
        "mechanism/multi-head-attention",
        "mechanism/multi-head-attention#several-heads",
    ),
    "query key value": ("mechanism/self-attention#query-key-and-value",),
    "causal mask": ("mechanism/softmax#masks", "mechanism/softmax#a-causal-mask-sees-order"),
    "why scale dot product": (*SCALING, "mechanism/scaling#leave-the-scale-out"),
    "concatenate heads": (
        "mechanism/multi-head-attention#step-6-concatenate",
        "mechanism/multi-head-attention#several-heads",
    ),
    "gradient of softmax": (
        "mechanism/softmax#the-jacobian",
        "mechanism/softmax#back-through-the-softmax",
    ),
    "overflow exp": ("mechanism/softmax#large-scores",),
    "positional order": ("mechanism/self-attention#order-does-not-matter",),
    "dot product as similarity": ("mechanism/self-attention#query-key-and-value",),
    "row sums to one": (
        "mechanism/softmax#from-scores-to-weights",
        "mechanism/softmax#along-the-keys",
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
