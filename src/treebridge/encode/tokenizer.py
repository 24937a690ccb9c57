"""The tokenizer of a Hugging Face encoder."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path
from typing import Any

from treebridge.errors import TreebridgeError, first_line

_VOCABULARIES = ("tokenizer.json", "vocab.*", "*.model", "*.spm")


def load_tokenizer(folder: Path) -> Any:
    """Load the encoder's own tokenizer, which also handles case and accents."""
    from transformers import AutoTokenizer

    try:
        if not any(any(folder.glob(pattern)) for pattern in _VOCABULARIES):
            raise OSError("no vocabulary found")
        with warnings.catch_warnings():
            # Marian recommends a package that only normalises punctuation.
            warnings.filterwarnings("ignore", message="Recommended: pip install sacremoses")
            return AutoTokenizer.from_pretrained(str(folder))
    except Exception as error:
        # Without sentencepiece, the message of transformers may be about anything.
        pieces = sorted([*folder.glob("*.spm"), *folder.glob("*.model")])
        if pieces and not _is_installed("sentencepiece"):
            raise TreebridgeError(
                f"{pieces[0].name} needs sentencepiece, which is not installed: "
                "pip install sentencepiece",
                file=folder,
            ) from error
        raise TreebridgeError(
            f"no tokenizer can be loaded ({first_line(error)}); an encoder folder needs "
            "tokenizer.json, or vocab.txt, or a SentencePiece model",
            file=folder,
        ) from error


def _is_installed(package: str) -> bool:
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True


def check_vocabulary(tokenizer: Any, pieces: int, folder: Path) -> None:
    """Refuse a tokenizer with more pieces than the network has vectors for (0: not known)."""
    if pieces and tokenizer.vocab_size > pieces:
        raise TreebridgeError(
            f"the tokenizer has {tokenizer.vocab_size:,} pieces and the network "
            f"{pieces:,}; they do not belong together",
            file=folder,
        )
