"""Damaged files: a model is refused with one sentence, a cache made again; nothing else happens."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from latent import LatentEncoder, links_of
from made import DEV, DIM, QUICK, TRAIN, WORLD

from broken import ACCIDENTS, edit, instead, make_older, put, tensors, unseal, without
from conftest import Run
from treebridge import Bitext, Bridge, Encoder, Parser, Treebank, TreebridgeError
from treebridge.bridge.collect import Occurrences, collect
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.make import gather
from treebridge.bridge.settings import BridgeSettings, CollectSettings
from treebridge.bridge.space import Space
from treebridge.checksums import is_intact, sealed
from treebridge.encode.cache import MARK
from treebridge.encode.pretrain.corpus import make_corpus
from treebridge.encode.pretrain.folder import save_encoder
from treebridge.encode.pretrain.network import new_network
from treebridge.encode.pretrain.run import Pretraining
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.pretrain.vocabulary import train_vocabulary
from treebridge.encode.static import StaticEncoder
from treebridge.encode.store import encode_into_store
from treebridge.errors import DamagedCache
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.checkpoint import copy_weights, resume
from treebridge.parse.metrics import read_metrics
from treebridge.parse.shipped import SHIPPED
from treebridge.parse.vocab import Names
from treebridge.torchrun import TorchRun

TINY = PretrainSettings(
    vocabulary=300, layers=2, hidden=32, heads=2, feed_forward=32, length=32, batch=256, tokens=4096
)
WORDS = [s.forms for s in DEV[:5]]
PARSER = ("config.json", "parser.safetensors", "metrics.jsonl")
BRIDGE = ("config.json", "bridge.safetensors", "senses.jsonl")
ENCODER = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


def entries(folder: Path) -> list[Path]:
    """What is kept in a folder of the cache, without its mark."""
    return [path for path in folder.iterdir() if path.name != MARK]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models each of every kind, made with different seeds; the second is for swapping."""
    place = tmp_path_factory.mktemp("damage")
    for number, kind in enumerate(("ours", "theirs")):
        torch.manual_seed(number)
        rng = np.random.default_rng(number)
        for side in ("source", "near"):
            text = [s.text for s in WORLD.treebank(side, 80 + 40 * number)]
            settings = replace(
                TINY, cased=bool(number), length=32 + number, feed_forward=32 + number
            )
            tokenizer = train_vocabulary(text.copy, settings.vocabulary, cased=bool(number))
            tokenizer.add_tokens([f"extra{number}"])
            network = new_network(settings, tokenizer.get_vocab_size())
            history = [{"tokens": 1.0, "seconds": 1.0, "accuracy": 0.5}]
            about = {"text": [side], "pieces": len(text)}
            save_encoder(place / kind / side, network, tokenizer, settings, history, about)
        source, near = (Encoder.load(place / kind / side) for side in ("source", "near"))
        spaces = [
            Space.of(each, Isotropy.fit(np.concatenate([each(words) for words in WORDS])))
            for each in (source, near)
        ]
        labels = Names.collect(label for s in TRAIN for label in s.deprels)
        tags = Names.collect(tag for s in TRAIN for tag in s.upos)
        model = Biaffine(QUICK, source.dim, len(labels), len(tags))
        torch.nn.init.normal_(model.arc_weight)
        torch.nn.init.normal_(model.label_weight)
        scores = {"epoch": 1, "loss": 2.5, "UAS": 50.0, "LAS": 40.0 + number, "UPOS": 60.0}
        parser = Parser(model.eval(), spaces[0], labels, tags, [scores], {"language": "qaa"})
        parser.save(place / kind / "en")
        w = np.linalg.qr(rng.normal(size=(source.dim, source.dim)))[0]
        sense = {"word": "a", "sense": 1, "size": 9 + number, "source": {"b": 9}, "contexts": ["a"]}
        bridge = Bridge(spaces[1], spaces[0], w, {"target_language": "qab"}, {}, [sense])
        bridge.save(place / kind / "bridge")
        parser.across(bridge, near).save(place / kind / "pt")
    return place


@pytest.fixture
def copy(home: Path, tmp_path: Path) -> Callable[[str], Path]:
    def copy_model(name: str) -> Path:
        return Path(shutil.copytree(home / "ours" / name, tmp_path / name))

    return copy_model


def trees(folder: Path) -> str:
    """All that a model says about some sentences."""
    parsed = Parser.load(folder).parse(WORDS)
    return "".join(f"{p.score:.6f}\n{p.sentence.to_conllu()}" for p in parsed)


@pytest.fixture(scope="module")
def expected(home: Path) -> dict[str, str]:
    return {name: trees(home / "ours" / name) for name in ("en", "pt")}


FILES = [
    *(("en", name) for name in PARSER),
    *(("pt", f"bridge/{name}") for name in BRIDGE),
    *(("pt", f"encoder/{name}") for name in ENCODER),
]


@pytest.mark.parametrize("accident", ACCIDENTS)
@pytest.mark.parametrize(("model", "name"), FILES)
def test_a_damaged_parser_is_refused(
    model: str, name: str, accident: str, home: Path, copy: Callable[[str], Path]
) -> None:
    folder = copy(model)
    ACCIDENTS[accident](folder / name, home / "theirs" / model / name)
    with pytest.raises(TreebridgeError) as refused:
        trees(folder)
    assert "\n" not in str(refused.value) and str(folder) in str(refused.value)


@pytest.mark.parametrize("accident", ACCIDENTS)
@pytest.mark.parametrize("name", BRIDGE)
def test_a_damaged_bridge_is_refused(
    name: str, accident: str, home: Path, copy: Callable[[str], Path]
) -> None:
    folder = copy("bridge")
    ACCIDENTS[accident](folder / name, home / "theirs" / "bridge" / name)
    with pytest.raises(TreebridgeError) as refused:
        Bridge.load(folder)
    assert str(folder) in str(refused.value)


@pytest.mark.parametrize("accident", ACCIDENTS)
@pytest.mark.parametrize("name", [*ENCODER, "pretraining.json"])
def test_a_damaged_encoder_is_refused(
    name: str, accident: str, home: Path, copy: Callable[[str], Path]
) -> None:
    folder = copy("near")
    ACCIDENTS[accident](folder / name, home / "theirs" / "near" / name)
    if (name, accident) == ("pretraining.json", "deleted"):  # then it is an encoder like others
        assert Encoder.load(folder).fingerprint == Encoder.load(home / "ours/near").fingerprint
        return
    with pytest.raises(TreebridgeError):
        Encoder.load(folder)


@pytest.mark.parametrize("model", ["en", "pt", "bridge", "near"])
@pytest.mark.parametrize(
    "damage", [instead("Modèle".encode("latin-1")), instead(b""), lambda path: path.unlink()]
)
def test_a_card_may_be_anything(
    model: str, damage: Callable[[Path], None], copy: Callable[[str], Path]
) -> None:
    folder = copy(model)
    damage(folder / "README.md")
    {"bridge": Bridge.load, "near": Encoder.load}.get(model, Parser.load)(folder)


def test_what_config_json_names_must_be_there(
    home: Path, copy: Callable[[str], Path], expected: dict[str, str], tmp_path: Path
) -> None:
    assert expected["pt"] != expected["en"]
    for part in ("bridge", "encoder"):
        for older in (False, True):
            folder = copy("pt")
            if older:
                make_older(folder)
                assert trees(folder) == expected["pt"]
            shutil.rmtree(folder / part)
            with pytest.raises(TreebridgeError, match=part):
                trees(folder)
            shutil.rmtree(folder)
    # A bridge of other settings between the same encoders is not the one the parser was saved with.
    bridge = Bridge.load(home / "ours" / "pt" / "bridge")
    folder = copy("pt")
    replace(bridge, w=-bridge.w).save(folder / "bridge")
    with pytest.raises(TreebridgeError, match=r"bridge/config.json"):
        trees(folder)


def test_a_bridge_that_config_json_does_not_name_is_not_crossed(
    home: Path, copy: Callable[[str], Path], expected: dict[str, str]
) -> None:
    folder = copy("en")
    shutil.copytree(home / "ours" / "bridge", folder / "bridge")
    assert trees(folder) == expected["en"]


IN_CONFIG = {
    "list": instead([]),
    "number": instead(3),
    "latin-1": instead('{"treebridge": "é"}'.encode("latin-1")),
    "deep": instead(b"[" * 100_000),
    "format missing": without("format"),
    "format text": put("one", "format"),
    "format true": put(True, "format"),
    "format null": put(None, "format"),
    "space missing": without("space"),
    "space list": put([], "space"),
    "dim missing": without("space", "dim"),
    "dim text": put("32", "space", "dim"),
    "dim negative": put(-1, "space", "dim"),
    "dim other": put(16, "space", "dim"),
    "fingerprint null": put(None, "space", "fingerprint"),
    "extra layers": put(7, "space", "layers"),
    "settings missing": without("settings"),
    "hidden text": put("48", "settings", "hidden"),
    "hidden other": put(47, "settings", "hidden"),
    "hidden huge": put(10**13, "settings", "hidden"),
    "layers zero": put(0, "settings", "layers"),
    "betas three": put([0.9, 0.9, 0.9], "settings", "betas"),
    "betas number": put(0.9, "settings", "betas"),
    "labels missing": without("labels"),
    "labels text": put("abc", "labels"),
    "labels numbers": put([1, 2], "labels"),
    "labels twice": lambda path: edit(path, lambda c: c["labels"].append(c["labels"][0])),
    "labels fewer": lambda path: edit(path, lambda c: c["labels"].pop() and None),
    "tags missing": without("tags"),
    "about list": put([], "about"),
}
IN_TENSORS = {
    "missing": tensors(lambda x: x.pop("model.root")),
    "isotropy missing": tensors(lambda x: x.pop("isotropy")),
    "unknown": tensors(lambda x: x.update(more=x["isotropy"])),
    "wrong shape": tensors(lambda x: x.update({"model.root": x["model.root"][:-1]})),
    "isotropy flat": tensors(lambda x: x.update(isotropy=x["isotropy"].ravel())),
    "isotropy narrow": tensors(lambda x: x.update(isotropy=x["isotropy"][:, 1:])),
    "whole numbers": tensors(lambda x: x.update({"model.root": x["model.root"].astype(np.int64)})),
    "not finite": tensors(lambda x: x.update({"model.root": x["model.root"] * np.nan})),
    "bfloat16": lambda path: _as_bfloat16(path),
}
IN_METRICS = {
    "no JSON": instead(b"{"),
    "list": instead([1]),
    "LAS missing": instead({"epoch": 1, "UAS": 1.0, "UPOS": 1.0}),
    "LAS text": instead({"epoch": 1, "UAS": 1.0, "LAS": "1", "UPOS": 1.0}),
    "latin-1": instead("é".encode("latin-1")),
}


def _as_bfloat16(path: Path) -> None:
    from safetensors.torch import load_file, save_file

    save_file({name: x.bfloat16() for name, x in load_file(path).items()}, path)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *(pytest.param(PARSER[0], damage, id=f"config {what}") for what, damage in IN_CONFIG.items()),
        *(pytest.param(PARSER[1], damage, id=f"tensor {what}") for what, damage in IN_TENSORS.items()),
        *(pytest.param(PARSER[2], damage, id=f"metrics {what}") for what, damage in IN_METRICS.items()),
    ],
)  # fmt: skip
def test_a_parser_without_checksums_is_checked_by_its_shape(
    name: str, damage: Callable[[Path], None], copy: Callable[[str], Path], expected: dict[str, str]
) -> None:
    folder = copy("en")
    make_older(folder)
    assert trees(folder) == expected["en"]
    damage(folder / name)
    with pytest.raises(TreebridgeError) as refused:
        trees(folder)
    assert str(folder) in str(refused.value)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("config.json", instead([])),
        ("config.json", without("target")),
        ("config.json", without("into", "dim")),
        ("config.json", put([], "made")),
        ("config.json", without("quality")),
        ("bridge.safetensors", tensors(lambda x: x.pop("w"))),
        ("bridge.safetensors", tensors(lambda x: x.update(w=x["w"][:, 1:]))),
        ("bridge.safetensors", tensors(lambda x: x.update(w=x["w"].astype(np.int32)))),
        ("bridge.safetensors", tensors(lambda x: x.update(into_means=x["into_means"][0]))),
        ("senses.jsonl", instead(b'{"word": "a"')),
        ("senses.jsonl", instead({"word": "a"})),
        ("senses.jsonl", instead(["a"])),
    ],
)
def test_a_bridge_without_checksums_is_checked_by_its_shape(
    name: str, damage: Callable[[Path], None], copy: Callable[[str], Path]
) -> None:
    folder = copy("bridge")
    make_older(folder)
    Bridge.load(folder)
    damage(folder / name)
    with pytest.raises(TreebridgeError, match=name):
        Bridge.load(folder)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("config.json", instead([])),
        ("config.json", put("32", "hidden_size")),
        ("config.json", put(1, "num_hidden_layers")),
        ("config.json", put(3, "num_hidden_layers")),
        ("config.json", put(64, "hidden_size")),
        ("model.safetensors", tensors(lambda x: x.pop("bert.embeddings.word_embeddings.weight"))),
        ("model.safetensors", tensors(
            lambda x: x.update({k: v[:-1] for k, v in x.items() if "word_embeddings" in k}))),
        ("tokenizer.json", instead({})),
        ("tokenizer.json", lambda path: _larger_vocabulary(path)),
        ("tokenizer_config.json", instead([])),
    ],
)  # fmt: skip
def test_an_encoder_without_checksums_is_checked_by_its_shape(
    name: str, damage: Callable[[Path], None], copy: Callable[[str], Path]
) -> None:
    folder = copy("near")
    make_older(folder)
    before = Encoder.load(folder).fingerprint
    damage(folder / name)
    with pytest.raises(TreebridgeError) as refused:
        Encoder.load(folder)(WORDS[0])
    assert "\n" not in str(refused.value) and before


def _larger_vocabulary(path: Path) -> None:
    def change(content: dict[str, Any]) -> None:
        content["model"]["vocab"] |= {f"q{n}": 300 + n for n in range(500)}

    edit(path, change)


def test_special_tokens_count_and_older_fingerprints_are_known(
    copy: Callable[[str], Path],
) -> None:
    """What decides a sentence's first and last piece is part of an encoder, too."""
    folder = copy("near")
    plain = Encoder.load(folder)
    note = folder / "special_tokens_map.json"
    note.write_text(json.dumps({"cls_token": "[CLS]"}))
    first = Encoder.load(folder)
    note.write_text(json.dumps({"cls_token": "[SEP]"}))
    second = Encoder.load(folder)
    assert len({encoder.fingerprint for encoder in (plain, first, second)}) == 3
    # What was made before such files counted was stamped with the fingerprint without them.
    Space.of(plain).check(second)
    with pytest.raises(TreebridgeError, match="a different encoder"):
        Space.of(first).check(second)
    with pytest.raises(TreebridgeError, match="a different encoder"):
        Space.of(second).check(plain)


def test_each_part_of_the_tokenizer_counts(copy: Callable[[str], Path]) -> None:
    folder = copy("near")
    (folder / "pretraining.json").unlink()
    names = ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "added_tokens.json")
    seen = {Encoder.load(folder).fingerprint}
    for name in names:
        path = folder / name
        path.write_text((path.read_text() if path.exists() else "{}") + "\n")
        seen.add(Encoder.load(folder).fingerprint)
    assert len(seen) == 1 + len(names)


@pytest.mark.parametrize("part", ["bridge", "encoder", "encoder/tokenizer.json"])
def test_a_shipped_model_needs_all_its_parts(part: str, tmp_path: Path) -> None:
    folder = shutil.copytree(SHIPPED / "es", tmp_path / "es")
    path = folder / part
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.write_text(path.read_text(encoding="utf-8").replace('"de"', '"qqq"'), "utf-8")
    with pytest.raises(TreebridgeError, match=f"damaged.*{part}"):
        Parser.load(folder)("El banco.")


def test_on_the_command_line(
    here: Run, home: Path, copy: Callable[[str], Path], tmp_path: Path
) -> None:
    (tmp_path / "x.txt").write_text("Ta mira.\n", encoding="utf-8")
    damages: list[tuple[str, Callable[[Path], None]]] = [
        ("config.json", instead([])),
        ("config.json", without("format")),
        ("parser.safetensors", lambda path: ACCIDENTS["flipped"](path, path)),
        ("metrics.jsonl", instead(b"{")),
        ("bridge", shutil.rmtree),
        ("encoder/tokenizer.json", lambda path: path.write_bytes(
            (home / "theirs" / "pt" / "encoder" / "tokenizer.json").read_bytes()) and None),
    ]  # fmt: skip
    for name, damage in damages:
        folder = copy("pt")
        damage(folder / name)
        done = here("parse", "--model", folder, tmp_path / "x.txt", "-o", tmp_path / "out.conllu")
        assert done.returncode == 2, name
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
        assert not (tmp_path / "out.conllu").exists()
        shutil.rmtree(folder)


# Caches and checkpoints: made again, with the same result.


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def strict() -> Iterator[None]:
    """A warning where nothing is damaged fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DamagedCache)
        yield


SOURCE, TARGET = (LatentEncoder(WORLD.languages[name]) for name in ("source", "near"))
OTHER = LatentEncoder(WORLD.languages["far"])


@pytest.mark.parametrize("accident", ACCIDENTS)
@pytest.mark.parametrize("name", ["store.json", "offsets.npy", "vectors.f16"])
def test_a_damaged_store_is_made_again(
    name: str, accident: str, cache: Path, strict: None, tmp_path: Path
) -> None:
    first = encode_into_store(SOURCE, WORDS)
    before = {path.name: path.read_bytes() for path in first.folder.iterdir()}
    other = encode_into_store(OTHER, WORDS[1:]).folder
    encode_into_store(SOURCE, WORDS)  # and is not where nothing happened
    ACCIDENTS[accident](first.folder / name, other / name)
    with pytest.warns(DamagedCache, match="rebuilding it") as told:
        again = encode_into_store(SOURCE, WORDS)
    assert len(told) == 1 and "\n" not in str(told[0].message)
    assert {path.name: path.read_bytes() for path in again.folder.iterdir()} == before


def test_an_older_store_is_used_if_it_fits(cache: Path, strict: None) -> None:
    folder = encode_into_store(SOURCE, WORDS).folder
    edit(folder / "store.json", unseal)
    encoded = SOURCE.encoded
    encode_into_store(SOURCE, WORDS)
    assert SOURCE.encoded == encoded
    for name in ("offsets.npy", "vectors.f16"):
        (folder / name).write_bytes((folder / name).read_bytes()[:-2])
        with pytest.warns(DamagedCache, match=name):
            encode_into_store(SOURCE, WORDS)
        edit(folder / "store.json", unseal)


@pytest.mark.parametrize("damage", [instead(b"x"), instead(b""), instead(b"-1"), instead(b"999")])
def test_a_store_that_was_interrupted_and_damaged(
    damage: Callable[[Path], None], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = np.array(encode_into_store(SOURCE, WORDS).vectors)
    (folder,) = entries(cache / "vectors")
    part = folder.with_name(f"{folder.name}.part")
    folder.rename(part)
    damage(part / "done")
    np.testing.assert_array_equal(encode_into_store(SOURCE, WORDS).vectors, whole)


PAIRS, FEW = links_of(WORLD, "near", 60), CollectSettings(min_per_type=2)
OCCURRENCES = ("note.json", "types.txt", "offsets.npy", "counts.npy", "target.f16", "source.f16",
               "where.i32")  # fmt: skip


def _collect(folder: Path) -> Occurrences:
    return collect(PAIRS, SOURCE, TARGET, FEW, folder)


@pytest.mark.parametrize("accident", ACCIDENTS)
@pytest.mark.parametrize("name", OCCURRENCES)
def test_damaged_occurrences_are_collected_again(
    name: str, accident: str, cache: Path, strict: None, tmp_path: Path
) -> None:
    _collect(tmp_path / "a")
    before = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    assert set(before) == set(OCCURRENCES)
    collect(links_of(WORLD, "near", 80), OTHER, OTHER, replace(FEW, seed=1), tmp_path / "b")
    _collect(tmp_path / "a")
    ACCIDENTS[accident](tmp_path / "a" / name, tmp_path / "b" / name)
    with pytest.warns(DamagedCache, match="rebuilding it") as told:
        _collect(tmp_path / "a")
    assert len(told) == 1
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == before


@pytest.mark.parametrize("accident", ["deleted", "truncated", "emptied"])
@pytest.mark.parametrize("name", ["types.txt", "offsets.npy", "counts.npy", "target.f16", "done"])
def test_a_collection_that_was_interrupted_and_damaged(
    name: str, accident: str, cache: Path, tmp_path: Path
) -> None:
    _collect(tmp_path / "a")
    before = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    part = (tmp_path / "a").rename(tmp_path / "a.part")
    (part / "note.json").unlink()
    (part / "done").write_text("1")
    ACCIDENTS[accident](part / name, part / name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamagedCache)
        _collect(tmp_path / "a")
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == before


@pytest.mark.parametrize("accident", [*ACCIDENTS, "other arrays"])
@pytest.mark.parametrize("kind", ["links", "senses"])
def test_damaged_links_and_senses_are_found_again(
    kind: str, accident: str, cache: Path, strict: None, tmp_path: Path
) -> None:
    def files(pairs: int) -> dict[str, bytes]:
        WORLD.write_bitext(tmp_path / "bitext.tsv", "near", pairs)
        bitext = Bitext.read(tmp_path / "bitext.tsv", source_language="qaa")
        settings = BridgeSettings(aligner="fast-align", collect=FEW)
        gather(bitext, SOURCE, TARGET, settings).labels(0)
        return {path.name: path.read_bytes() for path in entries(cache / kind)}

    (old,) = files(40)
    both = files(50)
    (name,) = set(both) - {old}
    assert files(50) == both
    if accident == "other arrays":
        tensors(lambda x: x.update(more=np.zeros(3)))(cache / kind / name)
    else:
        ACCIDENTS[accident](cache / kind / name, cache / kind / old)
    if accident == "deleted":
        assert files(50) == both
    else:
        with pytest.warns(DamagedCache, match="rebuilding it"):
            assert files(50) == both


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> StaticEncoder:
    from made import make_vectors

    return make_vectors(tmp_path_factory.mktemp("vectors") / "v.vec", TRAIN, DEV)


def _train(vectors: StaticEncoder, work: Path, seed: int = 1) -> bytes:
    settings = replace(QUICK, epochs=2, seed=seed)
    parser = Parser.train(TRAIN[:20], vectors, DEV[:5], settings, work=work)
    return b"".join(x.numpy().tobytes() for x in parser.model.state_dict().values())


@pytest.fixture(scope="module")
def trained(vectors: StaticEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `a` and `b` of two trainings, and the weights of the first."""
    place = tmp_path_factory.mktemp("training")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEBRIDGE_CACHE", str(place / "cache"))
        (place / "weights").write_bytes(_train(vectors, place / "a"))
        _train(vectors, place / "b", seed=2)
    return place


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_a_damaged_checkpoint_is_not_continued(
    accident: str, cache: Path, vectors: StaticEncoder, trained: Path, tmp_path: Path
) -> None:
    work = shutil.copytree(trained / "a", tmp_path / "a")
    ACCIDENTS[accident](work / "last.pt", trained / "b" / "last.pt")
    if accident in ("deleted", "swapped"):  # there is none, or that of another training
        assert _train(vectors, work) == (trained / "weights").read_bytes()
    else:
        with pytest.warns(DamagedCache, match=r"last\.pt"):
            assert _train(vectors, work) == (trained / "weights").read_bytes()


IN_STATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "weights missing": lambda c: c.pop("weights"),
    "a weight missing": lambda c: c["weights"].pop("root"),
    "a weight of another shape": lambda c: c["best"].update(root=c["best"]["root"][1:]),
    "a weight of another type": lambda c: c["best"].update(root=c["best"]["root"].double()),
    "weights a list": lambda c: c.update(weights=[]),
    "optimizer empty": lambda c: c.update(optimizer={}),
    "a moment of another shape": lambda c: c["optimizer"]["state"][0].update(
        exp_avg=torch.zeros(3)
    ),
    "groups missing": lambda c: c["optimizer"]["param_groups"].clear(),
    "history text": lambda c: c.update(history="x"),
    "history without LAS": lambda c: c["history"][0].pop("LAS"),
}


@pytest.mark.parametrize("change", [None, *IN_STATE])
def test_a_checkpoint_is_taken_whole_or_not_at_all(
    change: str | None, trained: Path, tmp_path: Path, strict: None
) -> None:
    path = tmp_path / "last.pt"
    content = torch.load(trained / "a" / "last.pt", weights_only=True)
    labels, tags = (content["weights"][x].shape for x in ("label_weight", "tag_vectors"))
    model = Biaffine(QUICK, DIM, labels[1], tags[0])
    optimizer = torch.optim.Adam(model.parameters())
    before = copy_weights(model)
    if change:
        IN_STATE[change](content)
    torch.save(content, path)
    if change:
        with pytest.warns(DamagedCache, match=r"last\.pt"):
            assert resume(tmp_path, content["key"], model, optimizer, judged_by="LAS") is None
        assert all(torch.equal(before[name], x) for name, x in model.state_dict().items())
        assert not optimizer.state
    else:
        assert resume(tmp_path, content["key"], model, optimizer, judged_by="LAS")
        assert torch.equal(model.root, content["weights"]["root"]) and optimizer.state
        assert resume(tmp_path, "another", model, optimizer, judged_by="LAS") is None
        torch.save([1], path)
        with pytest.warns(DamagedCache, match="a list instead of a dict"):
            assert resume(tmp_path, content["key"], model, optimizer, judged_by="LAS") is None


@pytest.mark.parametrize("damage", ["flipped", "weights", "optimizer", "progress"])
def test_pre_training_does_not_go_on_from_a_damaged_checkpoint(damage: str, tmp_path: Path) -> None:
    text = [s.text for s in WORLD.treebank("source", 300)]
    (tmp_path / "text.txt").write_text("\n".join(text), encoding="utf-8")
    settings = replace(TINY, tokens=1024, start="random")
    corpus = make_corpus([str(tmp_path / "text.txt")], None, settings, tmp_path / "c")

    def train() -> bytes:
        training = Pretraining(corpus, settings, TorchRun("cpu"), tmp_path / "work")
        training.run()
        return b"".join(x.numpy().tobytes() for x in training.network.state_dict().values())

    weights = train()
    path = tmp_path / "work" / "last.pt"
    if damage == "flipped":
        ACCIDENTS[damage](path, path)
    else:
        content = torch.load(path, weights_only=True)
        torch.save({**content, damage: {"no": "sense"}}, path)
    with pytest.warns(DamagedCache, match=r"last\.pt"):
        assert train() == weights


def test_a_damaged_cache_is_one_line_of_a_command(
    here: Run, cache: Path, vectors: StaticEncoder, tmp_path: Path
) -> None:
    Treebank(TRAIN[:24]).write(tmp_path / "train.conllu")
    command = ("train", tmp_path / "train.conllu", "--encoder", vectors.path, "--preset", "small",
               "--epochs", 1, "-o")  # fmt: skip
    assert here(*command, tmp_path / "a").returncode == 0
    store = max(entries(cache / "vectors"), key=lambda path: (path / "vectors.f16").stat().st_size)
    ACCIDENTS["flipped"](store / "vectors.f16", store)
    assert "(damaged)" not in here("cache", "list").stdout
    done = here(*command, tmp_path / "b")
    assert done.returncode == 0
    told = [line for line in done.stderr.splitlines() if "damaged" in line]
    assert len(told) == 1 and told[0].startswith(f"note: {store}: damaged (")
    a, b = ((tmp_path / name / "parser.safetensors").read_bytes() for name in "ab")
    assert a == b
    (store / "store.json").write_text("[")
    listed = here("cache", "list")
    assert listed.returncode == 0 and "(damaged)" in listed.stdout


def test_a_damaged_export_is_made_again(cache: Path, strict: None) -> None:
    from treebridge.checksums import file_sha256
    from treebridge.encode.onnx_export import _exported

    (cache / "onnx").mkdir(parents=True)
    (cache / "onnx" / "f-int8.onnx").write_bytes(b"older")
    assert _exported("f-int8") is None and not entries(cache / "onnx")
    made = cache / "onnx" / "made"
    made.write_bytes(b"a network")
    path = made.rename(cache / "onnx" / f"f-int8-{file_sha256(made)[:16]}.onnx")
    assert _exported("f-int8") == path and _exported("f-fp32") is None
    ACCIDENTS["flipped"](path, path)
    with pytest.warns(DamagedCache, match="rebuilding it"):
        assert _exported("f-int8") is None
    assert not path.exists()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.data())
def test_no_changed_letter_of_a_sealed_record_goes_unnoticed(
    record: dict[str, Any], data: st.DataObject
) -> None:
    record.pop("sha256", None)
    text = json.dumps(sealed(record))
    assert is_intact(json.loads(text))
    at = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.characters(codec="ascii").filter(lambda c: c != text[at]))
    try:
        changed = json.loads(text[:at] + letter + text[at + 1 :])
    except ValueError:
        return
    if not isinstance(changed, dict) or "sha256" not in changed:
        return  # not sealed any more; it counts as one from before there were seals
    same = json.dumps(changed) == text
    assert same or not is_intact(changed)


def test_metrics_of_older_parsers_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"epoch": 1, "UAS": 1.5, "LAS": 1, "UPOS": 2.0, "more": 3}\n')
    assert read_metrics(path)[0]["LAS"] == 1
    assert read_metrics(tmp_path / "none") == []
