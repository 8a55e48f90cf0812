"""Tokenizers of decoders, by the library `tokenizers`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha.core.checks import as_index
from mha.core.decoder import Tokenizer
from mha.core.option_checks import check_type
from mha.decoders.optional_packages import load_package

CONTROL, USER_DEFINED = 3, 4
"""Types of tokens in GGUF that are found in a text before it is split into words."""

SINGLE_DIGITS = {"smollm": True, "gpt-2": False}
"""Whether each digit is a word of its own, by the name that GGUF gives to the split into words."""


@dataclass(frozen=True)
class Vocabulary:
    """The tokenizer of a GGUF file.

    Parameters
    ----------
    tokens : sequence of str
        In the order of their ids, written in the signs of byte-level tokenizers.
    merges : sequence of str
        Two tokens separated by a space, in the order of merging.
    types : sequence of int
        GGUF's type of each token.
    words : str
        The name of the split into words: a key of `SINGLE_DIGITS`.
    start_id : int, optional
        The token that begins every text.
    """

    tokens: Sequence[str]
    merges: Sequence[str]
    types: Sequence[int]
    words: str
    start_id: int | None = None


def byte_level_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """Return a tokenizer that merges pairs of tokens of bytes.

    Parameters
    ----------
    vocabulary : Vocabulary

    Raises
    ------
    ModuleNotFoundError
        If the library is missing.
    ValueError
        If the merges do not fit the tokens.

    References
    ----------
    Sennrich, Haddow and Birch (2016); Radford et al. (2019), section 2.2, for bytes.
    """
    library = load_package("tokenizers")
    ids = {token: number for number, token in enumerate(vocabulary.tokens)}
    pairs = [tuple(merge.split(" ")) for merge in vocabulary.merges]
    try:
        made: Any = library.Tokenizer(library.models.BPE(ids, pairs))
    except Exception as error:  # the library raises the class Exception itself
        raise ValueError(f"the merges of the tokenizer do not fit its tokens: {error}") from None
    splits = [library.pre_tokenizers.ByteLevel(add_prefix_space=False)]
    if SINGLE_DIGITS[vocabulary.words]:
        splits.insert(0, library.pre_tokenizers.Digits(individual_digits=True))
    made.pre_tokenizer = library.pre_tokenizers.Sequence(splits)
    made.decoder = library.decoders.ByteLevel()
    for kind, add in (
        (CONTROL, made.add_special_tokens),
        (USER_DEFINED, made.add_tokens),
    ):
        own = zip(vocabulary.tokens, vocabulary.types, strict=True)
        add(
            [
                library.AddedToken(token, normalized=False, special=kind == CONTROL)
                for token, each in own
                if each == kind
            ]
        )
    if vocabulary.start_id is not None:
        start = vocabulary.tokens[vocabulary.start_id]
        made.post_processor = library.processors.TemplateProcessing(
            single=f"{start} $A", special_tokens=[(start, vocabulary.start_id)]
        )
    tokenizer: Tokenizer = made
    return tokenizer


def folder_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of a model's folder, from its `tokenizer.json`.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    FileNotFoundError
        If the folder has no `tokenizer.json`.
    ModuleNotFoundError
        If the library is missing.
    ValueError
        If the file is not that of a tokenizer.
    """
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise FileNotFoundError(f"{folder.name} has no tokenizer.json, which turns text to tokens")
    library = load_package("tokenizers")
    try:
        tokenizer: Tokenizer = library.Tokenizer.from_file(str(file))
    except Exception:  # the library raises the class Exception itself
        raise ValueError(f"{file.name} of {folder.name} is not a tokenizer") from None
    return tokenizer


def read_vocabulary(file: str, metadata: Mapping[str, Any]) -> Vocabulary:
    """Return the tokenizer in the metadata of a GGUF file.

    Parameters
    ----------
    file : str
        Its name, for messages.
    metadata : mapping

    Raises
    ------
    ValueError
        If the file has none, or one of an unknown kind.
    """
    kind, words = (metadata.get(f"tokenizer.ggml.{name}") for name in ("model", "pre"))
    if kind != "gpt2" or words not in SINGLE_DIGITS:
        raise ValueError(
            f"{file} has a tokenizer of kind {kind!r} that splits words as {words!r}; kind 'gpt2'"
            f" with {' or '.join(map(repr, SINGLE_DIGITS))} is wanted"
        )
    lists: dict[str, list[Any]] = {}
    for name, kind_of_item in (("tokens", str), ("merges", str), ("token_type", int)):
        found = metadata.get(f"tokenizer.ggml.{name}")
        lists[name] = found if isinstance(found, list) else []
        if not lists[name]:
            raise ValueError(f"{file} has no list tokenizer.ggml.{name}, which a tokenizer needs")
        for item in lists[name]:
            check_type(f"an item of tokenizer.ggml.{name} of {file}", item, kind_of_item)
    for merge in lists["merges"]:
        if merge.count(" ") != 1:
            raise ValueError(
                f"{file} has the merge {merge!r}; two tokens separated by a space are wanted"
            )
    size = len(lists["tokens"])
    if len(lists["token_type"]) != size:
        raise ValueError(
            f"{file} has {size} tokens but {len(lists['token_type'])} types; a type for each token"
            " is wanted"
        )
    start = None
    if metadata.get("tokenizer.ggml.add_bos_token", False):
        start = token_id(file, "bos_token_id", metadata.get("tokenizer.ggml.bos_token_id"), size)
    return Vocabulary(
        tokens=lists["tokens"],
        merges=lists["merges"],
        types=lists["token_type"],
        words=words,
        start_id=start,
    )


def token_id(file: str, name: str, value: Any, size: int) -> int:
    """Return the id of a special token, and raise an error unless it is one of `size` tokens."""
    return as_index(f"tokenizer.ggml.{name} of {file}", value, size)
