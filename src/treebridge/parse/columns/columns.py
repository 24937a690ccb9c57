"""What a parser predicts beside trees and tags: XPOS, FEATS and LEMMA."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field as field_
from pathlib import Path
from typing import Any

import numpy as np

from treebridge.artefact import Shape, check_tensors, read_tensors, write_tensors
from treebridge.errors import TreebridgeError
from treebridge.parse.columns.classifiers import NOTHING, XPOS_NAME, Classifiers
from treebridge.parse.columns.heads import SIDES, Heads, Weights
from treebridge.parse.columns.lemmatizer import Lemmatizer
from treebridge.parse.columns.packed import packed, unpacked
from treebridge.parse.columns.spelling import Spelling
from treebridge.parse.columns.verb_forms import VerbForms
from treebridge.records import FIX, field, names, read_record

COLUMNS, HEADS = "columns.json", "columns.safetensors"
SOURCE, LINKS, TREES = "source", "links", "trees"
CHOICES = ("upos", "xpos", "feats", "lemma")  # what can be written or left out


@dataclass(frozen=True)
class Columns:
    """Classifiers and lemmatizer of a parser; either may be missing."""

    heads: Heads | None = None
    lemmatizer: Lemmatizer | None = None
    origin: str = SOURCE  # what the classifiers learned from last: source, links or trees
    verb_forms: VerbForms = field_(default_factory=VerbForms)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are predicted, as in CHOICES."""
        known = self.heads.classifiers if self.heads else None
        has = {
            "xpos": known is not None and XPOS_NAME in known.values,
            "feats": known is not None and bool(known.features),
            "lemma": self.lemmatizer is not None,
        }
        return tuple(name for name, predicted in has.items() if predicted)

    @property
    def features(self) -> list[str]:
        """The features that are predicted."""
        return self.heads.classifiers.features if self.heads else []

    def describe(self) -> dict[str, Any]:
        """The entry in a parser's config.json."""
        taught = self.lemmatizer is not None and self.lemmatizer.is_taught
        has = {name: name in self.names for name in ("xpos", "lemma")}
        return {"features": self.features, **has, "taught": taught}

    def across(self) -> Columns:
        """The columns for another language: features go over a bridge, lemmas start from nothing.

        Tags XPOS are those of one language.
        """
        heads = self.heads.across() if self.heads else None
        return Columns(heads, Lemmatizer() if self.lemmatizer else None)

    def save(self, folder: Path, *, small: bool = False) -> None:
        """Write both into a parser's folder; `small` ones have large tables in 8 bits."""
        content: dict[str, Any] = {"origin": self.origin, "verb_forms": self.verb_forms.rules}
        if self.heads:
            values = self.heads.classifiers.values
            content["classifiers"] = {name: list(values[name]) for name in values}
            weights = dict(vars(self.heads.weights))
            if self.heads.spelling:
                content["spelling"] = list(self.heads.spelling.keys)
                weights["votes"] = self.heads.spelling.votes
            half = {name: part.astype(np.float16) for name, part in weights.items()}
            write_tensors(folder / HEADS, packed(weights) if small else half)
        if self.lemmatizer:
            content["lemmatizer"] = self.lemmatizer.config()
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        (folder / COLUMNS).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, dim: int, tags: int) -> Columns | None:
        """Read both; None if the parser was made without."""
        path = folder / COLUMNS
        if not path.exists():
            return None
        content = read_record(path)
        heads, lemmatizer = None, None
        if "classifiers" in content:
            keys = names(content, "spelling", path) if "spelling" in content else None
            heads = _read_heads(field(content, "classifiers", dict, path), keys, folder, dim, tags)
        if "lemmatizer" in content:
            found = field(content, "lemmatizer", dict, path)
            lemmatizer = Lemmatizer.from_config(found, path)
        rules = field({"verb_forms": {}, **content}, "verb_forms", dict, path)
        return cls(
            heads, lemmatizer, field(content, "origin", str, path), VerbForms.read(rules, path)
        )


def _read_heads(
    values: dict[str, Any], keys: list[str] | None, folder: Path, dim: int, tags: int
) -> Heads:
    for listed in values.values():
        whole = isinstance(listed, list) and all(isinstance(value, str) for value in listed)
        if not whole or listed[:1] != [NOTHING] or len(set(listed)) < len(listed):
            message = f"damaged: 'classifiers' are invalid; {FIX}"
            raise TreebridgeError(message, file=folder / COLUMNS)
    classifiers = Classifiers({name: tuple(values[name]) for name in values})
    tensors = unpacked(read_tensors(folder / HEADS), folder / HEADS)
    hidden = tensors["bias"].shape[0] if tensors.get("bias", np.zeros(())).ndim == 1 else 0
    shapes: dict[str, Shape] = {
        "vectors": (SIDES * dim, hidden),
        "tags": (max(1, tags), hidden),
        "bias": (hidden,),
        "out": (hidden, classifiers.width),
        "out_bias": (classifiers.width,),
    }
    if keys is not None:
        shapes["votes"] = (len(keys), classifiers.width)
    check_tensors(folder / HEADS, tensors, shapes)
    parts = {name: part.astype(np.float32) for name, part in tensors.items()}
    spelling = None
    if keys is not None:
        spelling = Spelling({key: n for n, key in enumerate(keys)}, parts.pop("votes"))
    return Heads(classifiers, Weights(**parts), spelling)


def chosen_columns(names: Iterable[str]) -> tuple[str, ...]:
    """The columns to write; refuse those that do not exist."""
    chosen = tuple(names)
    for name in chosen:
        if name not in CHOICES:
            raise TreebridgeError(f"unknown column {name!r}; choose from {', '.join(CHOICES)}")
    return chosen
