"""The target's language, from a name, and what it does to the words of a bitext."""

from __future__ import annotations

from pathlib import Path

import pytest

from treebridge import Bitext
from treebridge.corpus.languages import target_language


@pytest.mark.parametrize(
    ("paths", "language"),
    [
        (["en-pt.tsv"], "pt"),
        (["data/de-fr/en-pt.tsv.xz"], "pt"),
        (["Europarl.de-en.txt.zip"], "de"),
        (["news_EN-es_v2.tsv"], "es"),
        (["news.en", "news.pt"], "pt"),
        (["Europarl.en-fi.en.gz", "Europarl.en-fi.fi.gz"], "fi"),
        (["news.en.gz", "news.el.gz"], "el"),
        (["news.pt"], None),
        (["news.en", "olds.pt"], None),
        (["news.fr", "news.pt"], None),
        (["de-fr.tsv"], None),
        (["en-en.tsv"], None),
        (["well-known.tsv"], None),
        (["wmt-en-pt.tsv"], None),
    ],
)
def test_names(paths: list[str], language: str | None) -> None:
    assert target_language(paths) == language


def test_another_source() -> None:
    assert target_language(["qaa-qac.tsv"], "qaa") == "qac"


def test_contractions_are_taken_apart_as_in_parsing(tmp_path: Path) -> None:
    line = "The house of the sea is well-kept.\tA casa do mar trata-se bem.\n"
    for name in ("en-pt.tsv", "pairs.tsv"):
        (tmp_path / name).write_text(line, encoding="utf-8")

    def words(name: str, **settings: object) -> list[str]:
        (pair,) = Bitext.read(tmp_path / name, **settings)
        return pair.target

    whole = "A casa do mar trata-se bem .".split()
    apart = "A casa de o mar trata se bem .".split()
    assert words("en-pt.tsv") == apart
    assert words("en-pt.tsv", contractions=False) == whole
    assert words("en-pt.tsv", target_language="de") == whole
    assert words("en-pt.tsv", engine="spaces") == "A casa do mar trata-se bem.".split()
    assert words("pairs.tsv") == whole
    assert words("pairs.tsv", target_language="pt") == apart
