"""int8 is a way to compute: what was made in fp32 takes it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from checkpoints import make
from made import DEV, QUICK

from conftest import Run
from treebridge import Bridge, Parser
from treebridge.bridge.space import Space
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.encode.store import encode_into_store, store_key
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.vocab import Names
from treebridge.torch_threads import SMALL, threads_for


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Has `model`, `bridged` and `gold.conllu`; the parser is untrained, its encoder is random."""
    folder = tmp_path_factory.mktemp("precise")
    encoder = Encoder.load(make("bert", folder / "encoder"))
    torch.manual_seed(1)
    labels = Names.collect(label for s in DEV for label in s.deprels)
    tags = Names.collect(tag for s in DEV for tag in s.upos)
    model = Biaffine(QUICK, encoder.dim, len(labels), len(tags))
    for weight in (model.arc_weight, model.label_weight):
        torch.nn.init.normal_(weight, std=0.5)  # they begin as zeros, where all arcs are alike
    parser = Parser(model, Space.of(encoder), labels, tags, encoder=encoder)
    parser.save(folder / "model")
    bridge = Bridge(parser.space, parser.space, torch.eye(encoder.dim).double().numpy())
    parser.across(bridge, encoder).save(folder / "bridged")
    DEV[:20].write(folder / "gold.conllu")
    return folder


@pytest.mark.parametrize("model", ["model", "bridged"])
def test_a_parser_made_in_fp32_parses_in_int8(place: Path, here: Run, model: str) -> None:
    inputs = ("--model", place / model, place / "gold.conllu")
    trees = set()
    for precision in ("fp32", "int8"):
        done = here("parse", *inputs, "--precision", precision, "--confidence")
        assert done.returncode == 0, done.stderr
        trees.add(done.stdout)
    assert len(trees) == 2  # probabilities differ a little: int8 has been at work
    assert here("evaluate", *inputs, "--precision", "int8").returncode == 0
    wrong = here("evaluate", *inputs, "--backend", "onnx", "--precision", "bf16")
    assert wrong.returncode == 2 and "ONNX Runtime computes in fp32 or int8" in wrong.stderr


def test_the_cache_keeps_int8_apart(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path))
    exact = Encoder.load(place / "encoder")
    coarse = Encoder.load(place / "encoder", EncoderSettings(precision="int8"))
    assert exact.fingerprint == coarse.fingerprint
    sentences = [s.forms for s in DEV[:5]]
    assert store_key(exact, sentences) != store_key(coarse, sentences)
    one, other = (encode_into_store(encoder, sentences)[0] for encoder in (exact, coarse))
    assert (one != other).any()


def test_small_batches_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    with threads_for(SMALL):
        assert chosen == []
    with pytest.raises(ValueError), threads_for(SMALL - 1):
        assert chosen == [1]
        raise ValueError
    assert chosen == [1, 4]
