"""Encoders that learn: the same vectors with gradients, and folders that load again."""

from __future__ import annotations

from pathlib import Path

import checkpoints
import numpy as np
import pytest
import torch

from treebridge.encode.encoder import Encoder
from treebridge.encode.learning import LearningEncoder, padded
from treebridge.encode.settings import TuneSettings
from treebridge.encode.transformer import TransformerEncoder
from treebridge.errors import TreebridgeError

SENTENCES = [["ka", "mo", "reli"], ["tu"], ["ka"] * 70]  # the last one needs several windows
KINDS = ["bert", "roberta", "marian", "t5"]


@pytest.fixture(params=KINDS)
def encoder(request: pytest.FixtureRequest, tmp_path: Path) -> TransformerEncoder:
    found = Encoder.load(checkpoints.make(request.param, tmp_path / request.param))
    assert isinstance(found, TransformerEncoder)
    return found


def test_vectors_are_those_of_the_encoder(encoder: TransformerEncoder) -> None:
    learner = LearningEncoder(encoder, TuneSettings()).eval()
    learner._half = None
    vectors = padded(*learner(SENTENCES)).detach().numpy()
    for row, expected in zip(vectors, encoder.encode(SENTENCES), strict=True):
        n = len(expected.vectors)
        np.testing.assert_allclose(row[:n], expected.vectors, atol=1e-5)
        assert not row[n:].any(), "zeros past the end"


def test_what_is_learned_is_saved_and_the_encoder_stays_as_it_was(
    encoder: TransformerEncoder, tmp_path: Path
) -> None:
    before = encoder(SENTENCES[0])
    learner = LearningEncoder(encoder, TuneSettings())
    optimizer = torch.optim.Adam(learner.groups())
    for _ in range(3):
        rows, _ = learner(SENTENCES)
        rows[:, 0].sum().backward()
        optimizer.step()
    assert learner.network.get_input_embeddings().weight.grad.any(), "down to the embeddings"
    tuned = learner.frozen()
    learner.eval()
    learner._half = None
    np.testing.assert_allclose(tuned(SENTENCES[0]), learner(SENTENCES[:1])[0].detach(), atol=1e-5)
    np.testing.assert_array_equal(encoder(SENTENCES[0]), before)
    assert abs(tuned(SENTENCES[0]) - before).max() > 1e-3
    assert tuned.fingerprint != encoder.fingerprint
    assert tuned.name == f"{encoder.name} (tuned)"
    tuned.save(tmp_path / "saved")
    again = Encoder.load(tmp_path / "saved")
    assert again.fingerprint == tuned.fingerprint
    np.testing.assert_array_equal(again(SENTENCES[0]), tuned(SENTENCES[0]))
    assert learner.frozen().fingerprint == tuned.fingerprint, "the same weights, the same bytes"


def test_lower_layers_learn_more_slowly(tmp_path: Path) -> None:
    encoder = Encoder.load(checkpoints.make("bert", tmp_path / "bert"))
    learner = LearningEncoder(encoder, TuneSettings(rate=1.0, layer_decay=0.5))
    rates = {id(w): group["lr"] for group in learner.groups() for w in group["params"]}
    assert len(rates) == len(list(learner.parameters())), "every weight once"
    layers = [rates[id(layer.output.dense.weight)] for layer in learner.network.encoder.layer]
    assert layers == [0.5**below for below in (4, 3, 2, 1, 0)]
    assert rates[id(learner.network.get_input_embeddings().weight)] == 0.5**5


def test_word_vectors_cannot_learn(tmp_path: Path) -> None:
    (tmp_path / "words.vec").write_text("2 2\na 1 0\nb 0 1\n")
    with pytest.raises(TreebridgeError, match="cannot learn"):
        LearningEncoder(Encoder.load(tmp_path / "words.vec"), TuneSettings())
