"""Encoders against a direct, obvious computation, and the awkward sentences of real life."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf
from checkpoints import KINDS, make
from hypothesis import given
from hypothesis import strategies as st

from treebridge import TreebridgeError
from treebridge.corpus.artificial import World
from treebridge.encode.encoder import Encoder
from treebridge.encode.models import choose_layers
from treebridge.encode.pieces import Pieces, windows
from treebridge.encode.settings import EncoderSettings

SENTENCES = [sentence.forms for sentence in World(3).treebank("source", 40, part="encode")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    """Makes each kind of checkpoint once."""
    made: dict[str, Path] = {}

    def get(kind: str) -> Path:
        if kind not in made:
            made[kind] = make(kind, tmp_path_factory.mktemp(kind))
        return made[kind]

    return get


def direct(folder: Path, words, layers=slice(-4, None)) -> np.ndarray:
    """Vectors of one sentence the way a textbook would compute them."""
    tokenizer = hf.AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    model = hf.AutoModel.from_pretrained(folder).eval()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    inputs = tokenizer(list(words), is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        states = model(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            output_hidden_states=True,
        ).hidden_states
    pieces = torch.stack(states[layers]).mean(0)[0]
    owners = inputs.word_ids()
    vectors = []
    for word in range(len(words)):
        mean = pieces[[i for i, owner in enumerate(owners) if owner == word]].mean(0)
        vectors.append(mean / mean.norm())
    return torch.stack(vectors).numpy()


@pytest.mark.parametrize("kind", ["bert", "marian", "roberta"])
def test_pieces_are_counted(kind: str, folder) -> None:
    encoder = Encoder.load(folder(kind))
    tokenizer = hf.AutoTokenizer.from_pretrained(folder(kind), add_prefix_space=True)
    words = [word for sentence in SENTENCES for word in sentence]
    cut = tokenizer(words, is_split_into_words=True, add_special_tokens=False)["input_ids"]
    assert tokenizer.unk_token_id not in cut and encoder.pieces(words) == len(cut)
    if kind != "roberta":  # which has a piece for every byte
        assert encoder.pieces(["東京都", *words]) == len(cut) + 3


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_direct_computation(kind: str, folder) -> None:
    encoder = Encoder.load(folder(kind))
    assert encoder.dim == 32
    for words, encoded in zip(SENTENCES, encoder.encode(SENTENCES), strict=True):
        assert encoded.vectors.shape == (len(words), 32)
        np.testing.assert_allclose(np.linalg.norm(encoded.vectors, axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(encoder(words), encoded.vectors, atol=1e-5)  # alone = in a batch
    for words in SENTENCES[:5]:
        np.testing.assert_allclose(encoder(words), direct(folder(kind), words), atol=1e-5)


def test_special_tokens_come_from_the_tokenizer(folder) -> None:
    expected = {"bert": (1, 1), "roberta": (1, 1), "marian": (0, 1), "t5": (0, 1), "gpt2": (0, 0)}
    for kind, counts in expected.items():
        pieces = Pieces.of_tokenizer(hf.AutoTokenizer.from_pretrained(folder(kind)))
        assert (len(pieces.prefix), len(pieces.suffix)) == counts, kind


@pytest.mark.parametrize("kind", ["bert", "roberta", "marian"])
def test_whole_words(kind: str, folder) -> None:
    encoder = Encoder.load(folder(kind))
    tokenizer = hf.AutoTokenizer.from_pretrained(folder(kind), add_prefix_space=True)
    words = ["[SEP]", "我", *SENTENCES[0], *SENTENCES[1]]
    for word, whole in zip(words, encoder.whole(words), strict=True):
        ids = tokenizer([word], is_split_into_words=True, add_special_tokens=False)["input_ids"]
        assert whole == (len(ids) == 1 and ids[0] not in tokenizer.all_special_ids)
    assert encoder.whole(words)[2:].any() and not encoder.whole(words)[:2].any()


@pytest.mark.parametrize("kind", ["bert", "roberta", "marian", "t5"])
def test_words_that_give_no_piece_shift_nothing(kind: str, folder) -> None:
    encoder = Encoder.load(folder(kind))
    words = list(SENTENCES[0])
    awkward = [" ", "\u200b", "\x00", "\u00ad", "", "[SEP]", "</s>", "\t\n"]
    encoded = encoder([*words, *awkward])
    assert np.isfinite(encoded).all() and len(encoded) == len(words) + len(awkward)
    np.testing.assert_allclose(np.linalg.norm(encoded, axis=1), 1, atol=1e-5)
    assert encoder([]).shape == (0, 32)
    assert [e.vectors.shape[0] for e in encoder.encode([[], ["a"], [], words])] == [
        0,
        1,
        0,
        len(words),
    ]


def test_layers(folder) -> None:
    for layers, chosen in [
        ("5,-1", [5]),
        ("last1", [5]),
        ("0,2", [0, 2]),
        ("last99", [1, 2, 3, 4, 5]),
    ]:
        encoder = Encoder.load(folder("bert"), EncoderSettings(layers=layers))
        expected = direct_layers(folder("bert"), SENTENCES[0], chosen)
        np.testing.assert_allclose(encoder(SENTENCES[0]), expected, atol=1e-5)
    assert choose_layers("last4", 12) == [9, 10, 11, 12]
    assert choose_layers("-1,-1,5", 6) == [6, 6, 5]  # named twice, it counts twice
    for wrong in ("last", "x", "7", "-7", "last0"):
        with pytest.raises(TreebridgeError, match="layers"):
            Encoder.load(folder("bert"), EncoderSettings(layers=wrong))


def direct_layers(folder: Path, words, chosen: list[int]) -> np.ndarray:
    parts = [direct(folder, words, slice(layer, layer + 1)) for layer in chosen]
    if len(parts) == 1:
        return parts[0]
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    model = hf.AutoModel.from_pretrained(folder).eval()
    inputs = tokenizer(list(words), is_split_into_words=True, return_tensors="pt")
    states = model(**inputs, output_hidden_states=True).hidden_states
    mean = sum(states[layer] for layer in chosen)[0].detach()
    rows = [
        mean[[i for i, o in enumerate(inputs.word_ids()) if o == w]].sum(0)
        for w in range(len(words))
    ]
    return torch.nn.functional.normalize(torch.stack(rows), dim=-1).numpy()


@pytest.mark.parametrize("kind", ["bert", "roberta", "marian", "gpt2"])
def test_long_sentences_use_windows(kind: str, folder) -> None:
    """Every word's vector is that of the window in which it has most context."""
    encoder = Encoder.load(folder(kind))
    words = [word for sentence in SENTENCES for word in sentence][:150]
    encoded = encoder(words)
    assert encoded.shape == (150, 32) and np.isfinite(encoded).all()
    (pieces,) = encoder.cutter.cut([words])  # type: ignore[attr-defined]
    specials = encoder.cutter.specials  # type: ignore[attr-defined]
    parts = windows(0, pieces, 64 - specials, specials)
    assert len(parts) > 2 and all(window.size <= 64 for window in parts)
    for window in parts:
        inside = words[window.first : window.first + len(window.pieces)]
        expected = direct(folder(kind), inside)
        kept = slice(window.keep_from, window.keep_to)
        shifted = slice(window.keep_from - window.first, window.keep_to - window.first)
        np.testing.assert_allclose(encoded[kept], expected[shifted], atol=1e-5)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=80), st.integers(9, 40))
def test_windows_cover_every_word_once_with_most_context(sizes: list[int], room: int) -> None:
    pieces = [[0] * size for size in sizes]
    parts = windows(0, pieces, room, 2)
    kept = [word for window in parts for word in range(window.keep_from, window.keep_to)]
    assert kept == list(range(len(sizes)))
    for window in parts:
        assert window.size == sum(map(len, window.pieces)) + 2 <= room + 2
        assert (
            window.first <= window.keep_from < window.keep_to <= window.first + len(window.pieces)
        )
    for left, right in pairwise(parts):
        assert right.first <= left.first + len(left.pieces)  # no gap, mostly an overlap


def test_an_absurd_word_does_not_blow_up_a_batch(folder) -> None:
    encoder = Encoder.load(folder("bert"))
    absurd = ">-----|" * 500
    encoded = encoder([*SENTENCES[0], absurd, *SENTENCES[1]])
    assert len(encoded) == len(SENTENCES[0]) + 1 + len(SENTENCES[1])
    (pieces,) = encoder.cutter.cut([[absurd]])  # type: ignore[attr-defined]
    assert len(pieces[0]) <= 64


def test_batch_is_halved_when_memory_runs_out(folder, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder.load(folder("bert"))
    expected = [e.vectors for e in encoder.encode(SENTENCES)]
    whole = encoder.model.word_vectors  # type: ignore[attr-defined]
    tried: list[int] = []

    def little_memory(ids, *rest):
        tried.append(len(ids))
        if len(ids) > 3:
            raise MemoryError
        return whole(ids, *rest)

    monkeypatch.setattr(encoder.model, "word_vectors", little_memory)  # type: ignore[attr-defined]
    again = [e.vectors for e in encoder.encode(SENTENCES)]
    assert max(tried) > 3
    for a, b in zip(expected, again, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_int8_stays_close(folder) -> None:
    exact = Encoder.load(folder("bert"))
    quick = Encoder.load(folder("bert"), EncoderSettings(precision="int8"))
    cosine = np.concatenate([(exact(s) * quick(s)).sum(1) for s in SENTENCES[:10]])
    assert cosine.mean() > 0.98
    assert exact.fingerprint == quick.fingerprint and exact.cache_key != quick.cache_key


def test_fingerprint_says_what_decides_the_vectors(folder, tmp_path: Path) -> None:
    first = Encoder.load(folder("bert"))
    copy = tmp_path / "elsewhere"
    shutil.copytree(folder("bert"), copy)
    assert Encoder.load(copy).fingerprint == first.fingerprint
    other = Encoder.load(folder("bert"), EncoderSettings(layers="last1"))
    assert (
        len({first.fingerprint, other.fingerprint, Encoder.load(folder("electra")).fingerprint})
        == 3
    )


@pytest.mark.parametrize(
    ("remove", "message"),
    [
        (
            "model.safetensors",
            "no encoder can be loaded .* needs config.json and model.safetensors",
        ),
        ("tokenizer*.json", "no tokenizer can be loaded"),
        ("config.json", "this folder has no config.json"),
    ],
)
def test_incomplete_folders(remove: str, message: str, folder, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder("bert"), broken)
    for path in broken.glob(remove):
        path.unlink()
    with pytest.raises(TreebridgeError, match=message) as caught:
        Encoder.load(broken)
    assert "broken" in str(caught.value) and "\n" not in str(caught.value)


def test_weights_that_do_not_fit(folder, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder("bert"), broken)
    config = hf.BertConfig.from_pretrained(broken)
    config.num_hidden_layers = 7
    config.save_pretrained(broken)
    with pytest.raises(TreebridgeError, match=r"weights are missing .* do not belong together"):
        Encoder.load(broken)


def test_wrong_settings(folder) -> None:
    with pytest.raises(TreebridgeError, match="device tpu: choose"):
        Encoder.load(folder("bert"), EncoderSettings(device="tpu"))
    for wrong in ({"precision": "fp8"}, {"backend": "jax"}):
        with pytest.raises(TreebridgeError, match=r"unknown .*; choose from "):
            EncoderSettings(**wrong)


def test_onnx_backend(folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path))
    exact = Encoder.load(folder("bert"))
    for precision, tolerance in [("fp32", 1e-5), ("int8", 0.3)]:
        settings = EncoderSettings(backend="onnx", precision=precision)
        encoder = Encoder.load(folder("bert"), settings)
        for words in SENTENCES[:5]:
            np.testing.assert_allclose(encoder(words), exact(words), atol=tolerance)
    assert len(list((tmp_path / "onnx").glob("*.onnx"))) == 2


def test_real_encoders(shared: Path) -> None:
    encoder = Encoder.load(shared / "encoders" / "pt-marian-tiny")
    words = "O banco aprovou o empréstimo .".split()
    np.testing.assert_allclose(
        encoder(words), direct(shared / "encoders" / "pt-marian-tiny", words), atol=2e-3
    )
    assert encoder.whole(["banco", "inconstitucionalissimamente"]).tolist() == [True, False]
