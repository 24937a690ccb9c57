"""The result of pre-training: a Hugging Face folder with a model card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from treebridge import __version__
from treebridge.checksums import note_files, sealed
from treebridge.encode.hub import PRETRAINED
from treebridge.encode.pretrain.corpus import Corpus
from treebridge.encode.pretrain.network import KIND
from treebridge.encode.pretrain.run import Metrics
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.pretrain.vocabulary import save_tokenizer
from treebridge.folders import new_folder
from treebridge.records import field, read_record


def save_encoder(
    output: Path,
    network: Any,
    tokenizer: Tokenizer,
    settings: PretrainSettings,
    history: list[Metrics],
    about: dict[str, Any],
    key: str | None = None,
) -> None:
    """Write a folder that `Encoder.load` and `transformers` can load, atomically."""
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with new_folder(output, KIND, key=key) as folder:
        network.eval().cpu().save_pretrained(str(folder))
        save_tokenizer(tokenizer, folder, settings.length)
        files = note_files(folder, sorted(path.name for path in folder.iterdir()))
        record = {"settings": settings.config(), "about": about, "history": history, "files": files}
        text = json.dumps(sealed(record), indent=2, ensure_ascii=False)
        (folder / PRETRAINED).write_text(text + "\n", encoding="utf-8")
        card = _card(output.name, tokenizer, settings, history, about)
        (folder / "README.md").write_text(card, encoding="utf-8")


def read_history(folder: Path) -> list[Metrics]:
    """Read the training metrics from an encoder's folder."""
    record = read_record(folder / PRETRAINED)
    return list(field(record, "history", list, folder / PRETRAINED))


def fill_masks(folder: Path, corpus: Corpus, count: int) -> Iterator[str]:
    """Yield held-out sentences with a masked word and its three likeliest predictions."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(str(folder))
    network = AutoModelForMaskedLM.from_pretrained(str(folder)).eval()
    inside = corpus.inside()
    for segment in corpus.held_out():
        pieces = corpus.pieces[corpus.starts[segment] : corpus.starts[segment + 1]].tolist()
        middle = len(pieces) // 2
        whole = 8 <= len(pieces) <= 24 and not inside[pieces[middle : middle + 2]].any()
        if not whole or not tokenizer.decode([pieces[middle]]).isalpha():
            continue
        answer = pieces[middle]
        pieces[middle] = tokenizer.mask_token_id
        ids = torch.tensor([[tokenizer.cls_token_id, *pieces, tokenizer.sep_token_id]])
        with torch.inference_mode():
            best = network(input_ids=ids).logits[0, middle + 1].topk(3).indices.tolist()
        guesses = ", ".join(tokenizer.convert_ids_to_tokens(best))
        text = tokenizer.decode(pieces).replace(tokenizer.mask_token, "___")
        yield f"{text}  →  {guesses}  ({tokenizer.decode([answer])})"
        count -= 1
        if not count:
            return


def _initialization(settings: PretrainSettings, about: dict[str, Any]) -> str:
    if about.get("teacher", {}).get("inherited"):
        return "the teacher's layers, and embeddings carried over links"
    return settings.start


def _teacher(about: dict[str, Any]) -> list[str]:
    if teacher := about.get("teacher"):
        told = f"{teacher['encoder']}, across {teacher['pairs']:,} aligned sentence pairs"
        return [f"| teacher | {told} |"]
    return []


def _card(
    name: str,
    tokenizer: Tokenizer,
    settings: PretrainSettings,
    history: list[Metrics],
    about: dict[str, Any],
) -> str:
    last = history[-1]
    return "\n".join(
        [
            f"# {name}: a small BERT",
            "",
            f"Masked language model with {settings.layers} layers of {settings.hidden} dimensions, "
            f"feed-forward size {settings.feed_forward}, {settings.heads} heads, a WordPiece "
            f"vocabulary of {tokenizer.get_vocab_size():,} pieces "
            f"({'cased' if settings.cased else 'uncased'}) and a maximum length of "
            f"{settings.length} pieces.",
            "",
            "| | |",
            "|---|---|",
            f"| text | {', '.join(about['text'])}: {about['pieces']:,} pieces |",
            f"| trained on | {last['tokens']:,.0f} pieces, {last['seconds'] / 60:.0f} minutes |",
            f"| held-out masked accuracy | {last['accuracy']:.3f} |",
            f"| masking | {settings.masked:.0%} of the words, as whole words |",
            f"| initialization | {_initialization(settings, about)} |",
            *_teacher(about),
            "",
            "Load it with `treebridge.Encoder.load`, or with `AutoTokenizer` and "
            "`AutoModelForMaskedLM` of `transformers`.",
            "",
            f"Made by treebridge {__version__} (`treebridge pretrain`), seed {settings.seed}.",
            "",
        ]
    )
