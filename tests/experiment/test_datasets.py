"""The data folder: local files are used, missing ones are downloaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from treebridge.checksums import file_sha256
from treebridge.corpus.artificial import World
from treebridge.corpus.download import Remote
from treebridge.errors import TreebridgeError
from treebridge.experiment import catalog, datasets
from treebridge.experiment.datasets import Supply
from treebridge.experiment.inputs import read_trees
from treebridge.experiment.paper import LANGUAGES, PAPER


def test_treebanks_are_downloaded_into_the_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fetch(remote: Remote, path: Path, progress: object) -> Path:
        asked.append(remote.url)
        path.parent.mkdir(parents=True)
        World(1).treebank("near", 3).write(path)
        return path

    monkeypatch.setattr(datasets, "fetch", fetch)
    here = Supply(tmp_path)
    for _ in range(2):
        assert len(read_trees(here.target("pt").gold)) == 3
    (url,) = asked
    assert url.endswith("/UD_Portuguese-GSD/r2.6/pt_gsd-ud-test.conllu")
    assert (tmp_path / "ud-2.6/UD_Portuguese-GSD/pt_gsd-ud-test.conllu").exists()
    with pytest.raises(
        TreebridgeError, match="offline mode prevents downloading it from https://raw"
    ):
        read_trees(Supply(tmp_path, offline=True).target("es").gold)


def test_bitexts_local_and_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def fetch(remote: Remote, path: Path, progress: object) -> Path:
        asked.append((remote.url, str(path.relative_to(tmp_path))))
        return path

    monkeypatch.setattr(datasets, "fetch", fetch)
    Supply(tmp_path).target("fi").find_bitext()
    zipped = Supply(tmp_path, corpus="Europarl/v8").target("el").find_bitext()
    assert zipped.target_language == "el"
    assert asked == [
        ("https://s3.amazonaws.com/web-language-models/paracrawl/release6/en-fi.txt.gz",
         "bitext/ParaCrawl-v6/en-fi.txt.gz"),
        ("https://object.pouta.csc.fi/OPUS-Europarl/v8/moses/el-en.txt.zip",
         "bitext/Europarl-v8/el-en.txt.zip"),
    ]  # fmt: skip
    (tmp_path / "bitext" / "en-fi.tsv.xz").parent.mkdir(exist_ok=True)
    (tmp_path / "bitext" / "en-fi.tsv.xz").touch()
    local = Supply(tmp_path, pairs=7).target("fi").find_bitext()
    assert local.limit == 7 and len(asked) == 2 and str(local.paths[0]).endswith("en-fi.tsv.xz")


def test_what_is_needed(tmp_path: Path) -> None:
    here = Supply(tmp_path, encoders={"pt": str(tmp_path)}, offline=True)
    needs = here.needs(["pt"], ["own", "multilingual", "vectors"])
    assert [need.what for need in needs if need.there] == [f"encoder {tmp_path}"]
    names = {need.what for need in needs}
    assert {"en_ewt-ud-train.conllu", "pt_gsd-ud-test.conllu", "parallel text en-pt",
            "encoder bert-base-uncased", "encoder bert-base-multilingual-cased",
            "wiki.pt.align.vec"} <= names  # fmt: skip
    assert all(need.licence for need in needs)


def test_the_catalog_has_every_language_of_the_paper() -> None:
    assert set(catalog.ENTRIES) == set(LANGUAGES)
    assert len(PAPER) == 7 * 7 and PAPER["sense+in", "el"] == (84.05, 71.26)


def test_checksums_of_the_catalog_match_the_files(shared: Path) -> None:
    found = {}
    for entry in catalog.ENTRIES.values():
        for part in ("train", "dev", "test"):
            path = shared / "data" / f"ud-{catalog.UD}" / f"UD_{entry.treebank}" / entry.file(part)
            if path.exists():
                found[path.name] = file_sha256(path)
                assert entry.remote(part).sha256 == found[path.name], path.name
    assert found == catalog.SHA256
