"""The numbers of the chapter on how a layer learns.

The sentences are those of `mha.examples.free_order`, which draws a language and computes no
attention. All seeds of one number of heads are trained side by side, by PyTorch's gradients.
"""

import math

import numpy as np
import torch
from printed_pages import AtLeast, AtMost
from torch.nn import functional
from worked_by_torch import run, tensor

from mha.examples.free_order import (
    ADJECTIVES,
    NOUNS,
    QUESTIONS,
    WORDS,
    answer_places,
    as_arrays,
    draw_sentence,
    one_question,
)

WIDTH, BATCH, RATE, BETAS = 12, 64, 0.03, (0.9, 0.99)
SEEDS = list(range(30))
NAMED = (0, 5, 8)


def task():
    """Return 1024 sentences to learn from and 256 others, drawn with seed 1, as tensors."""
    rng = np.random.default_rng(1)
    first = [draw_sentence(rng) for _ in range(1024)]
    others = [draw_sentence(rng) for _ in range(256)]
    (x, answers), (fresh, asked) = as_arrays(first), as_arrays(others)
    return tensor(x), torch.tensor(answers), tensor(fresh), torch.tensor(asked), others


def drawn(seeds, heads):
    """Return the numbers that layers begin with, one layer a seed, as four tensors."""
    layers = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        projections = rng.normal(size=(3, heads, 27, WIDTH // heads)) / math.sqrt(WIDTH // heads)
        w_o = rng.normal(size=(WIDTH, len(QUESTIONS) * len(WORDS))) / math.sqrt(WIDTH)
        layers.append([*projections, w_o])
    return [torch.tensor(np.stack(parts)) for parts in zip(*layers, strict=True)]


def answers_of(layers, x):
    """Return the scores of each question's choices, and the weights, shape (seeds, texts, ...)."""
    *projections, w_o = layers
    texts, heads = len(x), projections[0].shape[1]
    query, key, value = (
        (x.flatten(0, 1) @ w.transpose(1, 2).flatten(2))
        .unflatten(-1, (heads, -1))
        .unflatten(1, (texts, -1))
        .transpose(2, 3)
        for w in projections
    )
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(-1)
    concat = (weights @ value).transpose(2, 3).flatten(3)
    scores = (concat.flatten(1, 2) @ w_o).unflatten(-1, (len(QUESTIONS), -1))
    return scores.unflatten(1, (texts, -1)), weights


def losses(scores, answers):
    """Return the mean cross-entropy of each layer, of the questions that are asked."""
    rows = answers.expand(scores.shape[:-1])
    costs = functional.cross_entropy(
        scores.flatten(0, -2), rows.flatten(), ignore_index=-1, reduction="none"
    )
    return costs.reshape(len(scores), -1).sum(1) / (answers >= 0).sum()


def trained(heads, steps, x, answers, seeds=SEEDS, rate=RATE):
    """Yield layers of all seeds after each of some numbers of steps."""
    layers = [w.requires_grad_() for w in drawn(seeds, heads)]
    adam = torch.optim.Adam(layers, lr=rate, betas=BETAS)
    for step in range(max(steps)):
        rows = torch.arange(step * BATCH, (step + 1) * BATCH) % len(x)
        adam.zero_grad()
        losses(answers_of(layers, x[rows])[0], answers[rows]).sum().backward()
        adam.step()
        if step + 1 in steps:
            yield [w.detach().clone() for w in layers]


def numbers(page):
    """Compare all of them."""
    _update(page)
    x, answers, fresh, asked, sentences = task()
    page.says("each of the # forms (# with a mark", len(WORDS), sum("-" in w for w in WORDS))
    page.says("the sentences: # to learn from", len(x))
    short = {h: next(trained(h, [150], x, answers)) for h in (2, 4, 6)}
    long = {h: list(trained(h, [150, 400, 1000], x, answers)) for h in (1, 3, 12)}
    ends = {h: losses(answers_of(layers, fresh)[0], asked) for h, layers in short.items()}
    later = {
        h: [losses(answers_of(each, fresh)[0], asked) for each in layers]
        for h, layers in long.items()
    }
    ends |= {h: found[0] for h, found in later.items()}
    _seeds(page, ends, later)
    threes = [[w[seed : seed + 1] for w in long[3][0]] for seed in NAMED]
    _roles(page, threes, fresh, asked, sentences)
    _watched(page, x, answers, fresh, asked, sentences)
    few, few_asked = (torch.tensor(one_question(a.numpy())) for a in (answers, asked))
    for heads, words in ((1, "is now between # and #"), (3, "with one head, and between # and #")):
        (layers,) = trained(heads, [150], x, few, seeds=range(6))
        alike = losses(answers_of(layers, fresh)[0], few_asked)
        page.says(words, AtLeast(alike.min()), AtMost(alike.max()))


def _loss_of_seven(seven):
    """Return half the squared errors of the layer of seven numbers, and its two outputs."""
    query, key, value = seven[:6].reshape(3, 2)
    weights = torch.outer(query, key).softmax(-1)
    outputs = weights @ value * seven[6]
    return (outputs - tensor([0, 3])).square().sum() / 2, outputs


def _descended(seven, rate, steps):
    for _ in range(steps):
        seven = seven.detach().requires_grad_()
        loss, _ = _loss_of_seven(seven)
        loss.backward()
        seven = seven - rate * seven.grad
    return seven.detach()


def _update(page):
    now = tensor([1, 0, 0, math.log(3), 4, 0, 1]).requires_grad_()
    loss, _ = _loss_of_seven(now)
    loss.backward()
    start, gradient = now.detach(), now.grad
    after = start - 0.1 * gradient
    nudges = 1e-5 * torch.eye(7, dtype=torch.float64)
    by_hand = [(_loss_of_seven(start + n)[0] - _loss_of_seven(start - n)[0]) / 2e-5 for n in nudges]
    page.table(
        "tbl-learning-update", torch.stack([start, gradient, torch.stack(by_hand), after], 1)
    )
    later, outputs = _loss_of_seven(after)
    page.says("The outputs become ", outputs, loss.detach(), later)
    stages = zip(("query", "key", "value"), after[:6].reshape(3, 1, 2, 1), strict=True)
    page.runs["seven-numbers-later"] = run(dict(stages))
    page.says("What happens The loss becomes #", _loss_of_seven(start - gradient)[0])
    page.says("promises a fall of the rate times #", gradient @ gradient)
    page.says("This query meets two keys, # and #", after[2:4])
    scores = after[1] * after[2:4]
    page.says("the scores are # and #, the weights # and #", scores, scores.softmax(0))
    page.says(
        "with # it is # after # steps", 0.2, _loss_of_seven(_descended(start, 0.2, 40))[0], 40
    )


def _seeds(page, ends, later):
    one, two, three, four, six, twelve = (ends[h] for h in (1, 2, 3, 4, 6, 12))
    middle = torch.stack([two, three, four, six])
    both = (one > middle.amax(0)) & (twelve > one)
    page.says("Both expectations hold in # of #", both.sum(), len(both))
    worse, better = (four > three) & (four > six), (four < three) & (four < six)
    best = torch.stack([one, *middle, twelve]).argmin(0)
    two, three, four, six = ((best == i).sum() for i in range(1, 5))
    page.says("two are best in ", two, 30, three, four, six)
    page.says("four heads do worse than both in ", worse.sum(), 30, better.sum())
    rows = [later[1][0], later[3][0], *(later[h][i] for h in (1, 3, 12) for i in (1, 2))]
    page.table("tbl-learning-longer", *(_over_seeds(row) for row in rows))
    page.says("one head has a median loss of #", _over_seeds(later[1][1])[0])
    page.says("its highest loss is #", later[1][2].max())
    page.says("their lowest loss is #", later[12][2].min())


def _over_seeds(values):
    """Return the median of thirty values, its interval, the lowest and the highest."""
    ordered = values.sort().values
    return [ordered[14:16].mean(), ordered[9], ordered[-10], ordered[0], ordered[-1]]


def _right(layer, fresh, asked, question=slice(None)):
    right = answers_of(layer, fresh)[0][0].argmax(-1) == asked
    return right[..., question][asked[..., question] >= 0].double().mean()


def _struck(layer, *heads):
    w_o = layer[3].clone()
    for head in heads:
        w_o[:, 4 * head : 4 * head + 4] = 0
    return [*layer[:3], w_o]


def _wheres(sentences):
    """Return where the right word of each relation stands, -1 for none."""
    places = torch.tensor(answer_places(sentences))
    stems = np.array([[t.split("-")[0] for t in s.tokens] for s in sentences])
    of = {kind: torch.tensor(np.isin(stems, kind)) for kind in (ADJECTIVES, NOUNS)}
    nobody = torch.full_like(places[..., 1], -1)
    return [
        places[..., 0],
        *(torch.where(of[kind], places[..., 1], nobody) for kind in (ADJECTIVES, NOUNS)),
        places[..., 2],
    ]


def _given(weights, wheres):
    """Return the average weight of each relation's right word, by head."""
    columns = []
    for where in wheres:
        sentence, word = (where >= 0).nonzero(as_tuple=True)
        columns.append(weights[sentence, :, word, where[sentence, word]].mean(0))
    return torch.stack(columns, 1)


def _watched(page, x, answers, fresh, asked, sentences):
    """Compare what is said of one training, and the table of its steps."""
    wheres = _wheres(sentences)
    layers = [drawn([0], 3), *trained(3, range(1, 151), x, answers, seeds=[0])]
    scores, weights = zip(*(answers_of(layer, fresh) for layer in layers), strict=True)
    given = torch.stack([_given(each[0], wheres) for each in weights])
    rows = [
        [losses(scores[step], asked)[0], _right(layers[step], fresh, asked), given[step].amax(0)]
        for step in range(0, 151, 25)
    ]
    page.table("fig-learning-steps", rows)
    half = [(given[:, head, r] <= 0.5).nonzero().max() + 1 for r, head in enumerate((2, 1, 0, 1))]
    page.says(
        "from step # on, Head 2 the noun of an adjective from step #, Head 1 the verb of a noun "
        "from step #, and Head 2 the noun of it only from step #",
        half,
    )
    (slow,) = trained(3, [150], x, answers, seeds=[0], rate=0.003)
    loss = losses(answers_of(slow, fresh)[0], asked)[0]
    page.says("its loss is #, and it answers #", loss, _right(slow, fresh, asked))


def _roles(page, threes, fresh, asked, sentences):
    maps = [answers_of(layer, fresh)[1][0] for layer in threes]
    page.figure("fig-learning-heads", maps[0][0, 1:])
    page.says("After it the layer answers ", _right(threes[0], fresh, asked), 0, len(fresh))
    page.says("An even share of six words is #", 1 / 6)
    wheres = _wheres(sentences)
    found = [_given(weights, wheres) for weights in maps]
    page.table("tbl-learning-roles", *found)
    struck = [threes[0], *(_struck(threes[0], head) for head in range(3))]
    kept = tensor([[_right(layer, fresh, asked, q) for q in range(3)] for layer in struck])
    page.table("tbl-learning-ablation", kept)
    page.says("names the next word in #", kept[3, 0])
    page.says("names the referent in ", kept[2, [2, 1]], 1, kept[1, 1])
    most, right = found[1][:, 3].max(), _right(threes[1], fresh, asked, 2)
    page.says("gives the pronoun’s noun more than ", AtMost(most), right)
    alone = _right(_struck(threes[1], 1, 2), fresh, asked, 2)
    page.says("gives the noun most, names it in #", alone)
    page.says("gives the next word # of its weight", found[0][2, 0])
