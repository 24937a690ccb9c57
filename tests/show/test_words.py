"""What `parse` takes for text, where it finds words, and what it tells from words alone."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from conftest import Run
from treebridge import Parser, Treebank

pytestmark = pytest.mark.filterwarnings("ignore:.*no vector")


def test_a_sentence_as_an_argument(home: Path, tmp_path: Path, here: Run) -> None:
    def texts(*arguments: object) -> list[str]:
        done = here("parse", "--model", home / "model", *arguments)
        assert done.returncode == 0, done.stderr
        return [tree.text for tree in Treebank.read(io.BytesIO(done.stdout.encode()))]

    assert texts("One two.", "Three four! Five.") == ["One two.", "Three four!", "Five."]
    assert len(texts("long " * 300)) == 1
    (tmp_path / "two words").write_text("Six.\n", encoding="utf-8")
    assert texts("two words") == ["Six."]
    for name in ("my text.txt", "word", "a/b"):
        wrong = here("parse", "--model", home / "model", name)
        assert wrong.returncode == 2 and f"{name}: file not found" in wrong.stderr


def test_the_language_of_the_model_finds_the_words(home: Path) -> None:
    """Of the bridge where there is one; a source language says nothing about the target."""
    parser = Parser.load(home / "bridged")
    assert parser.bridge and parser.language == "qab"
    parser.bridge.made["target_language"] = "pt"
    (tree,) = parser("Trata-se do fim.")
    assert tree.forms == ("Trata", "se", "de", "o", "fim", ".")
    parser.bridge.made.pop("target_language")
    parser.about["language"] = "pt"
    assert parser.language is None and len(parser("Trata-se do fim.")[0]) == 4


def test_punctuation_is_tagged_so(home: Path) -> None:
    """Whatever the tagger thinks of words that it has never seen."""
    parser = Parser.load(home / "model")
    (tree,) = parser([["¿", "«", "…", "¡", "?!", ":)", "%"]])
    assert tree.upos[:5] == ("PUNCT",) * 5
    marks = zip(tree.heads[:5], tree.deprels[:5], strict=True)
    assert all(label == ("punct" if head else "root") for head, label in marks)
    (kept,) = parser([tree.annotate(upos=["X"] * 7)])
    assert set(kept.upos) == {"X"}  # tags that are there stay
