"""Train the toy language's layers with all seeds, and keep what they give: about twenty minutes.

    python3 scripts/learn_over_seeds.py

writes mha/examples/learning-runs.json anew. What is trained, and with which seeds, was fixed before
the first run, in mha/examples/learning_runs.py.
"""

import environment

if __name__ == "__main__":
    environment.enter()

    import json

    from mha import over_seeds
    from mha.examples.learning_runs import KEPT, PLANNED, SEEDS, examined, learned

    def line(steps: int, heads: int) -> str:
        """Return the losses and shares of all seeds, as they are kept."""
        print(f"{steps} steps, {heads} heads ...", flush=True)
        runs = over_seeds(lambda rng: examined(learned(rng, heads, steps)), SEEDS)
        return f'  "{heads} heads": {json.dumps(runs.values.round(6).tolist())}'

    tables = [
        f'"{steps} steps": {{\n' + ",\n".join(line(steps, h) for h in heads) + "\n}"
        for steps, heads in PLANNED.items()
    ]
    KEPT.write_text("{" + ",\n".join(tables) + "}\n", encoding="utf-8")
    print(f"written: {KEPT}")
