"""A plain Hugging Face BERT with a forward pass of our own, for packed rows and masked words only.

The weights stay where `transformers` expects them, so the saved model is an ordinary checkpoint.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, normalize

from treebridge.encode.pretrain.lessons import WEIGHT, Lessons
from treebridge.encode.pretrain.rows import Batch
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.pretrain.vocabulary import PAD

KIND = "encoder"  # of the folder


def new_network(settings: PretrainSettings, vocabulary: int) -> nn.Module:
    """A BertForMaskedLM with random weights."""
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=settings.hidden,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        intermediate_size=settings.feed_forward,
        max_position_embeddings=settings.length,
        pad_token_id=PAD,
        tie_word_embeddings=True,
    )
    config.treebridge = KIND
    network: nn.Module = BertForMaskedLM(config)  # type: ignore[no-untyped-call]
    for module in network.modules():
        if isinstance(module, nn.Linear):
            # BERT's .02 is meant for three times the width.
            nn.init.normal_(module.weight, std=0.6 * settings.hidden**-0.5)
    network.get_input_embeddings().weight.data.normal_(std=0.02)  # type: ignore[operator]
    return network


class Rows:
    """A batch as tensors on a device."""

    def __init__(self, batch: Batch, device: str):
        def tensor(array: Any) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(array)).to(device, non_blocking=True)

        self.ids, self.positions = tensor(batch.ids), tensor(batch.positions)  # [rows, length]
        self.masked, self.answers = tensor(batch.masked), tensor(batch.answers)  # [masked]
        owner = tensor(batch.owner)
        differ = owner[:, None, :, None] != owner[:, None, None, :]  # [rows, 1, length, length]
        self.mask = torch.zeros(differ.shape, device=device).masked_fill_(differ, -1e4)


def guess(network: Any, rows: Rows) -> Tensor:
    """Scores of all pieces of the vocabulary for each masked position."""
    hidden = _embed(network, rows)
    *lower, last = network.bert.encoder.layer
    for layer in lower:
        hidden = _finish(layer, hidden, _attend(layer, hidden, rows.mask))
    # After its attention, the last layer is needed at masked positions only.
    context = _attend(last, hidden, rows.mask).flatten(0, 1)[rows.masked]  # [masked, d]
    hidden = _finish(last, hidden.flatten(0, 1)[rows.masked], context)
    scores: Tensor = network.cls.predictions(hidden)
    return scores  # [masked, vocabulary]


def lesson_loss(network: Any, rows: Rows, batch: Batch, lessons: Lessons) -> Tensor:
    """Cross entropy of masked pieces plus the distance from the teacher's vectors, summed."""
    hidden, layers = _embed(network, rows), []
    for layer in network.bert.encoder.layer:
        hidden = _finish(layer, hidden, _attend(layer, hidden, rows.mask))
        layers.append(hidden)
    scores = network.cls.predictions(hidden.flatten(0, 1)[rows.masked])
    masked = cross_entropy(scores.float(), rows.answers, reduction="sum")
    if not len(batch.aligned):
        return masked
    # A word's vector as encoders give it: the mean of the last four layers and of its pieces.
    states = torch.stack([layer.float() for layer in layers[-4:]]).mean(0).flatten(0, 1)
    words, owner = np.unique(batch.lessons, return_inverse=True)
    sums = torch.zeros(len(words), states.shape[1], device=states.device)
    places, owners = (torch.from_numpy(x).to(states.device) for x in (batch.aligned, owner))
    sums = sums.index_add(0, owners, states[places])  # [words, d]
    found = normalize(network.matcher(normalize(sums, dim=-1)).float(), dim=-1)
    wanted = torch.from_numpy(lessons.wanted(words)).to(states.device)
    distance = 1 - (found * wanted).sum(-1).mean()
    return masked + WEIGHT * len(rows.masked) * distance


def new_matcher(network: nn.Module, hidden: int, dim: int) -> None:
    """Add a linear map from the network's vectors to a teacher's; it is not part of the encoder."""
    matcher = nn.Linear(hidden, dim)
    nn.init.eye_(matcher.weight)
    nn.init.zeros_(matcher.bias)
    network.add_module("matcher", matcher)


def summed_loss(network: nn.Module, rows: Rows) -> Tensor:
    """Cross entropy, summed over the masked positions."""
    return cross_entropy(guess(network, rows).float(), rows.answers, reduction="sum")


@torch.no_grad()
def count_right(network: nn.Module, rows: Rows) -> tuple[int, float]:
    """Return the number of masked positions predicted correctly, and the summed loss."""
    scores = guess(network, rows).float()
    right = int((scores.argmax(-1) == rows.answers).sum())
    return right, float(cross_entropy(scores, rows.answers, reduction="sum"))


def _embed(network: Any, rows: Rows) -> Tensor:
    """The input of the first layer: [rows, length, d]."""
    embed = network.bert.embeddings
    hidden = embed.word_embeddings(rows.ids) + embed.position_embeddings(rows.positions)
    normed: Tensor = embed.LayerNorm(hidden + embed.token_type_embeddings.weight[0])
    return normed


def _attend(layer: Any, hidden: Tensor, mask: Tensor) -> Tensor:
    """Self-attention within each sentence: [rows, length, d], before the output layer."""
    attention = layer.attention.self
    heads = attention.num_attention_heads

    def split(linear: nn.Module) -> Tensor:
        projected: Tensor = linear(hidden).view(*hidden.shape[:2], heads, -1)
        return projected.transpose(1, 2)  # [rows, heads, length, d/heads]

    query, key, value = map(split, (attention.query, attention.key, attention.value))
    # Written out: on rows this short it is as fast as torch's fused attention in fp32, and makes a
    # whole step a quarter faster in bf16 on a CPU.
    scores = query * query.shape[-1] ** -0.5 @ key.transpose(2, 3) + mask.to(query.dtype)
    found: Tensor = scores.softmax(-1) @ value  # [rows, heads, length, d/heads]
    return found.transpose(1, 2).flatten(2)


def _finish(layer: Any, hidden: Tensor, context: Tensor) -> Tensor:
    """The rest of a layer, position by position."""
    output = layer.attention.output
    hidden = output.LayerNorm(hidden + output.dense(context))
    inner = gelu(layer.intermediate.dense(hidden))
    normed: Tensor = layer.output.LayerNorm(hidden + layer.output.dense(inner))
    return normed
