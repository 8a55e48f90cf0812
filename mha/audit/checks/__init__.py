"""The checks that decide claims in words, by theme: each module lists its own."""

from collections.abc import Mapping
from types import MappingProxyType

from mha.audit.checks import attending, computing, learned, patterns, printed, sizes, training
from mha.audit.checks.finding import Check

_THEMES = (attending, computing, learned, patterns, printed, sizes, training)

CHECKS: Mapping[str, Check] = MappingProxyType(
    dict(sorted(pair for theme in _THEMES for pair in theme.CHECKS.items()))
)
"""The checks by name: each takes a claim's parameters and returns a `Finding`."""
