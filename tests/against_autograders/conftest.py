"""These tests run in the environment of Otter-Grader: scripts/test.py --autograders."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "grade")]
