"""The command `learn_over_seeds.py`: train the toy language's layers with all seeds.

It takes about twenty minutes and overwrites mha/examples/learning-runs.json. The choice of layers
and seeds in mha/examples/learning_runs.py was made before the first run.
"""

import json

from command_lines import make_parser

from mha.core.seeds import over_seeds
from mha.examples.learning_runs import PLANNED_RUNS, RUNS_FILE, SEEDS, evaluate_layer, trained_layer


def main() -> None:
    """Train the layers, and write losses and shares for all seeds."""
    make_parser("learning_over_seeds").parse_args()
    tables = [
        f'"{steps} steps": {{\n' + ",\n".join(_line(steps, h) for h in heads) + "\n}"
        for steps, heads in PLANNED_RUNS.items()
    ]
    RUNS_FILE.write_text("{" + ",\n".join(tables) + "}\n", encoding="utf-8")
    print(f"written: {RUNS_FILE}")


def _line(steps: int, heads: int) -> str:
    """Return the losses and shares after training with all seeds, as a line of JSON."""
    print(f"{steps} steps, {heads} heads ...", flush=True)
    runs = over_seeds(lambda rng: evaluate_layer(trained_layer(rng, heads, steps)), SEEDS)
    return f'  "{heads} heads": {json.dumps(runs.values.round(6).tolist())}'
