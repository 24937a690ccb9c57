"""Start a new encoder from the layers of its teacher, with embeddings carried over links.

What layers do with words (look at neighbours, find heads) is much the same in all languages; what
differs are the words. So the new encoder takes over the teacher's layers, and each of its pieces
starts as the mean of the teacher's pieces that it is linked to. Rarely linked pieces start where
their company suggests: a linear map, learned from the linked ones, leads there from co-occurrence
counts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from treebridge.encode.encoder import Encoder
from treebridge.encode.pretrain.corpus import Corpus
from treebridge.encode.pretrain.initialization import token_vectors
from treebridge.encode.pretrain.lessons import Teaching
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.pretrain.vocabulary import SPECIAL
from treebridge.encode.transformer import TransformerEncoder

Floats = NDArray[np.float32]
COMPANY = 3.0  # links that count as much as what co-occurrence counts suggest
RIDGE = 1.0
SIZES = {
    "hidden_size": "hidden",
    "num_hidden_layers": "layers",
    "num_attention_heads": "heads",
    "intermediate_size": "feed_forward",
    "max_position_embeddings": "length",
}


def can_inherit(teacher: Encoder, settings: PretrainSettings) -> bool:
    """Whether the teacher is a BERT of the same sizes, with its masked-language-model head."""
    if not isinstance(teacher, TransformerEncoder):
        return False
    config = json.loads((Path(teacher.folder) / "config.json").read_text(encoding="utf-8"))
    return "BertForMaskedLM" in (config.get("architectures") or ()) and all(
        config.get(name) == getattr(settings, own) for name, own in SIZES.items()
    )


def inherit(network: Any, corpus: Corpus, settings: PretrainSettings, teaching: Teaching) -> None:
    """Take over the teacher's layers, and embeddings for the pieces of the new vocabulary."""
    from transformers import BertForMaskedLM

    teacher = teaching.teacher
    assert isinstance(teacher, TransformerEncoder)
    weights = BertForMaskedLM.from_pretrained(str(teacher.folder)).state_dict()
    own = network.state_dict()
    layers = {name: w for name, w in weights.items() if name in own and w.shape == own[name].shape}
    words = "bert.embeddings.word_embeddings.weight"
    layers.pop(words, None)  # with vocabularies of the same size, too
    network.load_state_dict(layers, strict=False)
    table = weights[words].float().numpy()
    links = count_links(teaching, corpus, len(table))
    company = token_vectors(corpus, settings.hidden, settings.seed)
    vectors = carried(table, links, company)
    vectors[: len(SPECIAL)] = table[: len(SPECIAL)]
    counts = np.bincount(corpus.sample()[0], minlength=len(vectors)).astype(np.float64) + 0.1
    with torch.no_grad():
        network.bert.embeddings.word_embeddings.weight.copy_(torch.from_numpy(vectors))
        network.cls.predictions.bias.copy_(torch.from_numpy(np.log(counts / counts.sum())))


def count_links(teaching: Teaching, corpus: Corpus, size: int) -> Any:
    """How often each piece of the vocabulary is linked to each of the teacher's `size` pieces.

    A link between words counts as one, divided among the pieces of both. The matrix is sparse.
    """
    cutter = teaching.teacher.cutter  # type: ignore[attr-defined]
    pairs = [pair for pair in teaching.pairs() if len(pair.links)]
    cut = corpus.tokenizer.encode_batch(
        [list(pair.words) for pair in pairs], is_pretokenized=True, add_special_tokens=False
    )
    rows: list[int] = []
    columns: list[int] = []
    shares: list[float] = []
    for pair, encoding, theirs in zip(
        pairs, cut, cutter.cut([pair.translation for pair in pairs]), strict=True
    ):
        ours: dict[int | None, list[int]] = {}
        for piece, word in zip(encoding.ids, encoding.word_ids, strict=True):
            ours.setdefault(word, []).append(piece)
        for their, our in pair.links.tolist():
            here, there = ours.get(our, []), theirs[their]
            rows += [piece for piece in here for _ in there]
            columns += [*there] * len(here)
            shares += [1 / max(len(here) * len(there), 1)] * (len(here) * len(there))
    shape = corpus.tokenizer.get_vocab_size(), size
    return sparse.coo_matrix((shares, (rows, columns)), shape=shape).tocsr()


def carried(table: Floats, links: Any, company: Floats) -> Floats:
    """Embeddings of our pieces, given the teacher's table and what our pieces keep company with.

    Means of many vectors are short; ours are as long as the teacher's, relative to their centre.
    """
    seen, times = (np.asarray(links.sum(axis)).ravel() for axis in (0, 1))
    centre = (seen @ table / max(seen.sum(), 1e-9)).astype(np.float32)
    linked = np.asarray(links @ (table - centre), np.float32)  # sums, not yet means
    known = times >= 1
    wide = np.hstack([company, np.ones((len(company), 1), np.float32)])
    weight = np.sqrt(times[known])[:, None]
    left = wide[known] * weight
    gram = left.T @ left + RIDGE * np.eye(wide.shape[1], dtype=np.float32)
    right = left.T @ (linked[known] / times[known, None] * weight)
    suggested = wide @ np.linalg.solve(gram, right)
    found = (linked + COMPANY * suggested) / (times + COMPANY)[:, None]
    typical = np.median(np.linalg.norm(table - centre, axis=1))
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(centre + typical * found / np.maximum(lengths, 1e-9), np.float32)
