"""The command `train_model.py`: training of the book's model of names."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from command_lines import make_parser
from environment import ROOT, fail, step

from mha.core.language import LanguageModel
from mha.examples.names import draw_stories
from mha.examples.trained import (
    CHECKPOINT_STEPS,
    LENGTH,
    ablated_name_costs,
    fresh_stories,
    measure_model,
    pack_parameters,
    train_from_seed,
    unpack_parameters,
)

FOLDER = ROOT / "mha" / "examples" / "names"
SEED = 0
"""The seed of the numbers that the book shows."""

OTHER_SEEDS = (1, 2, 3)
"""Those of trainings that are kept beside it, to compare."""


def main() -> None:
    """Train the model, print whether the result is as the chapter says, and write it on request."""
    arguments = make_parser("model_training").parse_args()
    kept, losses = _train(SEED)
    found = _of_fresh_stories(kept[-1])
    print(json.dumps(found))
    if arguments.write:
        _write(kept, losses)
    if not has_learned(found):
        fail("It did not come out as the chapter says.")
    print("It came out as the chapter says.")


def _train(seed: int) -> tuple[list[LanguageModel], list[float]]:
    """Return the model at each kept step, and the loss before each step."""
    kept, losses = [], []
    with step(f"Training with seed {seed}"):
        for now in train_from_seed(seed):
            if now.step in CHECKPOINT_STEPS:
                print(f"  after {now.step:4} steps the loss is {now.loss:.3f}", flush=True)
                kept.append(now.model)
            if now.step:
                losses.append(now.loss)
    return kept, losses


def _of_fresh_stories(model: LanguageModel) -> dict[str, Any]:
    """Return measures of a model on stories that the training did not contain."""
    return measure_model(model, draw_stories(np.random.default_rng(10**6), 200, LENGTH))


def has_learned(found: dict[str, Any]) -> bool:
    """Return whether a model has learned the names as the chapter describes.

    Examples
    --------
    >>> has_learned({"new": 2.7, "repeated": 0.1, "behind": [[0, 0], [0.8, 0]],
    ...           "previous": [[0.9, 0], [0, 0]]})
    True
    """
    finds, looks_back = max(found["behind"][1]), max(found["previous"][0])
    return found["repeated"] < 0.5 < 2 < found["new"] and finds > 0.6 and looks_back > 0.6


def _write(kept: Sequence[LanguageModel], losses: Sequence[float]) -> None:
    """Write the checkpoints, and the records of this training and of three other seeds."""
    FOLDER.mkdir(exist_ok=True)
    numbers = np.stack([pack_parameters(model) for model in kept])
    rounded = [
        unpack_parameters(model, row.astype(float))
        for model, row in zip(kept, numbers, strict=True)
    ]
    record = {
        "seed": SEED,
        "steps": CHECKPOINT_STEPS,
        "losses": [round(loss, 4) for loss in losses],
        "other_seeds": [
            {"seed": seed, **_of_fresh_stories(_train(seed)[0][-1])} for seed in OTHER_SEEDS
        ],
        "costs": ablated_name_costs(rounded, fresh_stories()).ravel().round(4).tolist(),
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in record.items()]
    np.save(FOLDER / "checkpoints.npy", numbers)
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (FOLDER / "training.json").write_text(text, encoding="utf-8")
