"""Readers of published language models, which return a `mha.core.decoder.Decoder`.

`reading` chooses the reader by the file. `gguf_files` reads GGUF, and `model_folders` reads
safetensors with a `config.json`. `tokenizers` makes the tokenizer of either.
"""

from mha.decoders.reading import read_model

__all__ = ["read_model"]
