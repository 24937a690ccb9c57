"""Renderers of sentences, registered by name because they live in later rooms."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from treebridge.errors import TreebridgeError

_RENDERERS: dict[str, str] = {}  # format → `module:function`, imported on first use


def register(format: str, renderer: str) -> None:
    """Register the function (`module:function`) that renders a sentence in a format."""
    _RENDERERS[format] = renderer


def shown_columns(sentence: Any, names: Sequence[str]) -> list[Sequence[str]]:
    """The cells of the columns to show beside the tags, in the order of CoNLL-U, `_` left out."""
    known = {"lemma": sentence.lemmas, "xpos": sentence.xpos, "feats": sentence.feats}
    for name in names:
        if name not in known:
            raise TreebridgeError(f"unknown column {name!r}; choose from {', '.join(known)}")
    return [["" if c == "_" else c for c in known[name]] for name in known if name in names]


def render(sentence: Any, format: str, **options: Any) -> Any:
    """Render a sentence in a registered format."""
    if format not in _RENDERERS:
        raise ValueError(f"unknown format {format!r}; choose from {', '.join(_RENDERERS)}")
    module, _, function = _RENDERERS[format].partition(":")
    return getattr(import_module(module), function)(sentence, **options)
