"""The numbers of the chapter on how a layer learns.

The sentences are those of `mha.examples.free_order`, which draws a language and computes no
attention. All seeds of one number of heads are trained side by side.
"""

import math
from itertools import islice

import numpy as np
import torch
from printed_pages import AtLeast, AtMost, Trained, flatten
from trained_by_torch import answer_scores, losses, training_steps
from worked_by_torch import Run, tensor

from mha.examples.free_order import (
    ADJECTIVES,
    NOUNS,
    QUESTIONS,
    WORDS,
    answer_places,
    as_arrays,
    draw_sentence,
    keep_one_question,
)

WIDTH = 12
RNG = np.random.default_rng(1)
LEARNED, OTHERS = ([draw_sentence(RNG) for _ in range(sentences)] for sentences in (1024, 256))
X, ANSWERS = map(torch.tensor, as_arrays(LEARNED))
FRESH, ASKED = map(torch.tensor, as_arrays(OTHERS))


def initial_layers(seeds, heads):
    """Return the initial matrices, one layer per seed."""
    layers = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        projections = rng.normal(size=(3, heads, 27, WIDTH // heads)) / math.sqrt(WIDTH // heads)
        w_o = rng.normal(size=(WIDTH, len(QUESTIONS) * len(WORDS))) / math.sqrt(WIDTH)
        layers.append([*projections, w_o])
    return [tensor(np.stack(parts)) for parts in zip(*layers, strict=True)]


def layers_after(steps, heads, seeds=range(30), answers=ANSWERS, rate=0.03):
    """Return the layers of all seeds after each of the given numbers of steps."""
    training = islice(
        training_steps(initial_layers(seeds, heads), X, answers, rate=rate), max(steps)
    )
    return [layers for step, (_, layers) in enumerate(training, 1) if step in steps]


def held_out_losses(layers, asked=ASKED):
    """Return the losses of layers on held-out sentences."""
    return losses(answer_scores(layers, FRESH, len(QUESTIONS))[0], asked)


def run_of_seven(seven):
    """Return the run of two tokens with queries, keys and values of width 1."""
    return Run(dict(zip(("query", "key", "value"), seven[:6].reshape(3, 1, 2, 1), strict=True)))


def loss_of_seven(seven):
    """Return half the squared error of the layer with seven numbers, and its two outputs."""
    outputs = run_of_seven(seven).concat[:, 0] * seven[6]
    return (outputs - tensor([0, 3])).square().sum() / 2, outputs


def gradient_descent(seven, rate, steps):
    for _ in range(steps):
        seven = seven.detach().requires_grad_()
        loss_of_seven(seven)[0].backward()
        seven = seven - rate * seven.grad
    return seven.detach()


def compare_one_update(page):
    now = tensor([1, 0, 0, math.log(3), 4, 0, 1]).requires_grad_()
    loss, _ = loss_of_seven(now)
    loss.backward()
    start, gradient = now.detach(), now.grad
    changed = start - 0.1 * gradient
    nudges = 1e-5 * torch.eye(7, dtype=torch.float64)
    by_hand = [(loss_of_seven(start + n)[0] - loss_of_seven(start - n)[0]) / 2e-5 for n in nudges]
    page.table(
        "tbl-learning-update", torch.stack([start, gradient, torch.stack(by_hand), changed], 1)
    )
    later, outputs = loss_of_seven(changed)
    page.says("The outputs become ", outputs, loss.detach(), later)
    page.runs["seven-numbers-later"] = run_of_seven(changed)
    page.says("What happens The loss becomes #", loss_of_seven(start - gradient)[0])
    page.says("falls by about the rate times #", gradient @ gradient)
    page.says("This query is multiplied by two keys, # and #", changed[2:4])
    scores = changed[1] * changed[2:4]
    page.says("the scores are # and #, the weights # and #", scores, scores.softmax(0))
    page.says(
        "with # it is # after # steps", 0.2, loss_of_seven(gradient_descent(start, 0.2, 40))[0], 40
    )


def compare_the_task(page):
    page.says("each of the # forms (# with a mark", len(WORDS), sum("-" in w for w in WORDS))
    page.says("the sentences: # to learn from", len(X))
    few, few_asked = (torch.tensor(keep_one_question(a.numpy())) for a in (ANSWERS, ASKED))
    for heads, words in ((1, "is now between # and #"), (3, "with one head, and between # and #")):
        (layers,) = layers_after([150], heads, seeds=range(6), answers=few)
        alike = held_out_losses(layers, few_asked)
        page.says(words, AtLeast(alike.min()), AtMost(alike.max()))


def compare_numbers_of_heads(page):
    later = {
        heads: [held_out_losses(layers) for layers in layers_after([150, 400, 1000], heads)]
        for heads in (1, 3, 12)
    }
    two, four, six = (held_out_losses(layers_after([150], heads)[0]) for heads in (2, 4, 6))
    one, three, twelve = (later[heads][0] for heads in (1, 3, 12))
    middle = torch.stack([two, three, four, six])
    both = (one > middle.amax(0)) & (twelve > one)
    page.says("Both expectations hold in # of #", both.sum(), len(both))
    best = torch.stack([one, *middle, twelve]).argmin(0)
    times = [(best == i).sum() for i in range(1, 5)]
    page.says("two are best in ", times[0], 30, times[1:])
    worse, better = (four > three) & (four > six), (four < three) & (four < six)
    page.says("four heads do worse than both in ", worse.sum(), 30, better.sum())
    rows = [one, three, *(later[heads][i] for heads in (1, 3, 12) for i in (1, 2))]
    page.table("tbl-learning-longer", map(Trained, flatten(map(over_seeds, rows))))
    page.says("one head has a median loss of #", over_seeds(later[1][1])[0])
    page.says("its highest loss is #", later[1][2].max())
    page.says("their lowest loss is #", later[12][2].min())


def over_seeds(values):
    """Return the median of thirty values, its interval, the minimum and the maximum."""
    ordered = values.sort().values
    return [ordered[14:16].mean(), ordered[9], ordered[-10], ordered[0], ordered[-1]]


def accuracy(layer, question=slice(None)):
    """Return the share of questions that a layer answers correctly."""
    is_right = answer_scores(layer, FRESH, len(QUESTIONS))[0][0].argmax(-1) == ASKED
    return is_right[..., question][ASKED[..., question] >= 0].double().mean()


def without_heads(layer, *heads):
    """Return a layer of three heads without the contributions of the given heads."""
    w_o = layer[3].clone()
    for head in heads:
        w_o[:, 4 * head : 4 * head + 4] = 0
    return [*layer[:3], w_o]


def right_words():
    """Return the position of each relation's correct word, -1 for none."""
    following, governor, referent = torch.tensor(answer_places(OTHERS)).unbind(-1)
    stems = np.array([[token.split("-")[0] for token in s.tokens] for s in OTHERS])
    asking = [torch.tensor(np.isin(stems, kind)) for kind in (ADJECTIVES, NOUNS)]
    return following, *(governor.where(asks, -1) for asks in asking), referent


def mean_weights(weights):
    """Return the average weight of each relation's correct word, by head."""
    columns = []
    for where in right_words():
        sentence, word = (where >= 0).nonzero(as_tuple=True)
        columns.append(weights[sentence, :, word, where[sentence, word]].mean(0))
    return torch.stack(columns, 1)


def compare_steps(page):
    layers = [initial_layers([0], 3), *layers_after(range(1, 151), 3, seeds=[0])]
    weights = [answer_scores(layer, FRESH, len(QUESTIONS))[1][0] for layer in layers]
    shares = torch.stack([mean_weights(each) for each in weights])
    rows = [
        [held_out_losses(layers[step]), accuracy(layers[step]), shares[step].amax(0)]
        for step in range(0, 151, 25)
    ]
    page.table("fig-learning-steps", rows)
    half = [(shares[:, head, r] <= 0.5).nonzero().max() + 1 for r, head in enumerate((2, 1, 0, 1))]
    page.says(
        "from step # on, Head 2 the noun of an adjective from step #, Head 1 the verb of a noun "
        "from step #, and Head 2 the noun of it only from step #",
        half,
    )
    (slow,) = layers_after([150], 3, seeds=[0], rate=0.003)
    page.says("its loss is #, and it answers #", held_out_losses(slow), accuracy(slow))


def compare_roles(page):
    named = [layers_after([150], 3, seeds=[seed])[0] for seed in (0, 5, 8)]
    maps = [answer_scores(layer, FRESH, len(QUESTIONS))[1][0] for layer in named]
    page.figure("fig-learning-heads", maps[0][0, 1:])
    page.says("After training the layer answers ", accuracy(named[0]), 0, len(FRESH))
    page.says("Equal weights for six words would be #", 1 / 6)
    found = [mean_weights(weights) for weights in maps]
    page.table("tbl-learning-roles", found)
    layers = [named[0], *(without_heads(named[0], head) for head in range(3))]
    kept = tensor([[accuracy(layer, question) for question in range(3)] for layer in layers])
    page.table("tbl-learning-ablation", kept)
    page.says("names the right next word in only #", kept[3, 0])
    page.says("names the referent in ", kept[2, [2, 1]], 1, kept[1, 1])
    page.says(
        "gives the pronoun’s noun more than ", AtMost(found[1][:, 3].max()), accuracy(named[1], 2)
    )
    page.says("the largest weight, names it in #", accuracy(without_heads(named[1], 1, 2), 2))
    page.says("gives the next word # of its weight", found[0][2, 0])
