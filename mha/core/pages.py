"""A key-value cache in pages: blocks of a fixed number of tokens, which sequences can share."""

from collections.abc import Sequence
from itertools import count

import numpy as np

from mha.core.checks import as_count


def pages_needed(num_tokens: int, page_size: int) -> int:
    """Return the number of pages for the cache of one sequence; the last may be filled in part.

    Parameters
    ----------
    num_tokens : int
    page_size : int
        Number of tokens whose keys and values fit in a page.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        If an argument is not a whole number of at least 1.

    References
    ----------
    Kwon et al. (2023), section 4.2.

    Examples
    --------
    >>> pages_needed(1000, 16)
    63
    """
    return -(-as_count("num_tokens", num_tokens) // as_count("page_size", page_size))


def page_tables(
    sequences: Sequence[Sequence[int] | Sequence[str]], page_size: int
) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the pages in which the caches of sequences are stored.

    Two sequences share a full page if they agree in all tokens up to the end of this page: under a
    causal mask these tokens then have equal keys and values. A page that is not full is never
    shared, since the next token of its sequence is written to it.

    Parameters
    ----------
    sequences : sequence of sequence of int or str
        The tokens of each sequence, at least one.
    page_size : int
        Number of tokens of a page.

    Returns
    -------
    tuple of tuple of int
        For each sequence its pages in order. Pages are counted from 0, in the order in which they
        are first needed.

    Raises
    ------
    TypeError, ValueError
        If `page_size` is not a whole number of at least 1, or `sequences` does not have lists of
        at least one word or whole number.

    References
    ----------
    Kwon et al. (2023), sections 4.2 and 4.4.

    Examples
    --------
    >>> page_tables(["the cat sat".split(), "the cat ran".split()], 2)
    ((0, 1), (0, 2))
    """
    size, new = as_count("page_size", page_size), count()
    # A full page is identified by its tokens and the page before it, hence by all tokens so far.
    full: dict[tuple[int | None, tuple[int | str, ...]], int] = {}
    tables = []
    for tokens in _as_token_lists(sequences):
        table: list[int] = []
        for start in range(0, len(tokens), size):
            held = tuple(tokens[start : start + size])
            key = (table[-1] if table else None, held)
            if len(held) < size:
                table.append(next(new))
                continue
            if key not in full:
                full[key] = next(new)
            table.append(full[key])
        tables.append(tuple(table))
    return tuple(tables)


def _as_token_lists(sequences: Sequence[Sequence[int] | Sequence[str]]) -> list[list[int | str]]:
    """Return the tokens of each sequence as Python integers or strings."""
    if not isinstance(sequences, list | tuple) or not sequences:
        raise TypeError(
            f"sequences is a {type(sequences).__name__}, perhaps empty; a list of at least one list"
            " of tokens is wanted"
        )
    lists = []
    for i, tokens in enumerate(sequences):
        found = tokens.tolist() if isinstance(tokens, np.ndarray) else tokens
        is_list = isinstance(found, list | tuple) and len(found) > 0
        if not is_list or not all(isinstance(token, int | str | np.integer) for token in found):
            raise TypeError(
                f"sequences has a {type(tokens).__name__} at index {i}; a list of at least one word"
                " or whole number is wanted"
            )
        lists.append([int(t) if isinstance(t, np.integer) else t for t in found])
    return lists
