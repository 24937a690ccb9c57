"""Renderers of sentences, registered by name because they live in later rooms."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_RENDERERS: dict[str, str] = {}  # format → `module:function`, imported on first use


def register(format: str, renderer: str) -> None:
    """Register the function (`module:function`) that renders a sentence in a format."""
    _RENDERERS[format] = renderer


def render(sentence: Any, format: str, **options: Any) -> Any:
    """Render a sentence in a registered format."""
    if format not in _RENDERERS:
        raise ValueError(f"unknown format {format!r}; choose from {', '.join(_RENDERERS)}")
    module, _, function = _RENDERERS[format].partition(":")
    return getattr(import_module(module), function)(sentence, **options)
