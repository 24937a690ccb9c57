"""Informed initialization, for small training budgets.

A randomly initialized BERT stays on a plateau until it learns to use context. Here token embeddings
come from an SVD of co-occurrence counts, position embeddings are sinusoids in separate dimensions,
the heads of the first layer attend to neighbouring words, and the output bias is the log frequency.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from treebridge.encode.pretrain.corpus import Corpus
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.pretrain.vocabulary import SPECIAL

CONTEXTS = 3000  # most frequent pieces that count as neighbours
NEAR, BAG = (1, 2), 5  # distances with separate counts, and the window of a joint count
OFFSETS = (-1, 1, -2, 2, 0)  # relative positions that the heads of the first layer attend to
TOKEN, POSITION = 0.5, 0.3  # norms of token and position vectors
SHARPNESS = 8.0  # log-odds of the word that a head attends to against any other
Floats = NDArray[np.float32]


def give_start(network: Any, corpus: Corpus, settings: PretrainSettings) -> None:
    """Initialize the weights of a new network."""
    waves = settings.hidden // settings.heads  # dimensions for positions, as many as a head has
    vectors = token_vectors(corpus, settings.hidden - waves, settings.seed)
    counts = np.bincount(corpus.sample()[0], minlength=len(vectors)).astype(np.float64)
    embed, layer = network.bert.embeddings, network.bert.encoder.layer[0].attention.self
    with torch.no_grad():
        embed.word_embeddings.weight[:, waves:] = TOKEN * torch.from_numpy(vectors)
        embed.word_embeddings.weight[:, :waves] *= 0.1  # reserved for positions
        embed.position_embeddings.weight.zero_()
        positions = POSITION * torch.from_numpy(position_waves(settings.length, waves))
        embed.position_embeddings.weight[:, :waves] = positions
        embed.token_type_embeddings.weight.zero_()
        # The share of the position vector after layer normalization.
        share = POSITION**2 / (POSITION**2 + TOKEN**2)
        scale = float(np.sqrt(SHARPNESS * np.sqrt(waves) / (share * settings.hidden)))
        for head, offset in enumerate(OFFSETS[: settings.heads]):
            at = slice(head * waves, (head + 1) * waves)
            for linear, turn in ((layer.query, offset), (layer.key, 0)):
                linear.weight[at] = 0
                linear.weight[at, :waves] = scale * torch.from_numpy(_turned(waves, turn))
                linear.bias[at] = 0
        frequencies = np.log((counts + 0.1) / (counts + 0.1).sum())
        network.cls.predictions.bias.copy_(torch.from_numpy(frequencies))


def position_waves(length: int, dim: int) -> Floats:
    """Unit vectors of positions: sinusoids of evenly spaced frequencies."""
    angles = np.arange(length)[:, None] * _frequencies(dim)
    waves = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(length, dim)
    return np.asarray(waves / np.sqrt(dim / 2), np.float32)


def _frequencies(dim: int) -> NDArray[np.float64]:
    return np.asarray(np.pi * (np.arange(dim // 2) + 0.5) / (dim // 2))


def _turned(dim: int, offset: int) -> Floats:
    """Rotation matrix that maps the vector of a position to that of position + offset."""
    matrix = np.zeros((dim, dim), np.float32)
    for pair, angle in enumerate(_frequencies(dim) * offset):
        at = slice(2 * pair, 2 * pair + 2)
        matrix[at, at] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return matrix


def token_vectors(corpus: Corpus, dim: int, seed: int) -> Floats:
    """Unit vectors of the pieces: SVD of their PPMI with neighbours."""
    pieces, segment = corpus.sample()
    size = corpus.tokenizer.get_vocab_size()
    counts = np.bincount(pieces, minlength=size)
    frequent = np.argsort(-counts, kind="stable")[: min(CONTEXTS, size)]
    context = np.full(size, -1, np.int64)
    context[frequent] = np.arange(len(frequent))
    blocks = []
    bag: Any = 0
    for distance in range(1, BAG + 1):
        together = segment[distance:] == segment[:-distance]
        left, right = pieces[:-distance][together], pieces[distance:][together]
        for word, neighbour in ((left, right), (right, left)):
            table = _count(word, context[neighbour], size, len(frequent))
            bag = bag + table
            if distance in NEAR:
                blocks.append(ppmi(table))
    blocks.append(ppmi(bag))
    vectors = _left_vectors(sparse.hstack(blocks, "csr"), dim, seed)
    vectors -= vectors[counts > 0].mean(0)
    rng = np.random.default_rng(seed)
    vectors[counts == 0] = rng.normal(size=(int((counts == 0).sum()), dim))
    vectors[: len(SPECIAL)] = rng.normal(size=(len(SPECIAL), dim))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-6), np.float32)


def ppmi(table: Any) -> Any:
    """Positive pointwise mutual information, with context frequencies to the power of ¾."""
    table = table.tocsr().astype(np.float32)
    rows = np.asarray(table.sum(1)).ravel()
    columns = np.asarray(table.sum(0)).ravel() ** 0.75
    columns /= max(columns.sum(), 1e-9)
    out = table.tocoo()
    value = np.log(np.maximum(out.data / np.maximum(rows[out.row] * columns[out.col], 1e-9), 1e-9))
    return sparse.csr_matrix(
        (np.maximum(value, 0).astype(np.float32), (out.row, out.col)), shape=table.shape
    )


def _count(word: Any, neighbour: Any, rows: int, columns: int) -> Any:
    known = neighbour >= 0
    pairs = (word[known], neighbour[known])
    ones = np.ones(len(pairs[0]), np.float32)
    return sparse.coo_matrix((ones, pairs), shape=(rows, columns)).tocsr()


def _left_vectors(matrix: Any, dim: int, seed: int) -> Floats:
    """Left singular vectors times the square roots of singular values, by a randomized SVD."""
    dim = min(dim, *matrix.shape)
    rng = np.random.default_rng(seed)
    base = matrix @ rng.normal(size=(matrix.shape[1], dim + 10)).astype(np.float32)
    for _ in range(2):
        base = np.linalg.qr(base)[0]
        base = matrix @ (matrix.T @ base)
    base = np.linalg.qr(base)[0]
    u, s, _ = np.linalg.svd(np.asarray(matrix.T @ base).T, full_matrices=False)
    return np.asarray((base @ u)[:, :dim] * np.sqrt(s[:dim]), np.float32)
