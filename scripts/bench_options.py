"""What the benchmarks' command lines have in common."""

import argparse


def count(text: str) -> int:
    """Return a whole number of at least 1, or tell argparse what is wrong."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
