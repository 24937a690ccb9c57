"""Who draws a sentence: registered by name, because pictures are made in a later room."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PAINTERS: dict[str, str] = {}  # format → `module:function`, imported when it is first wanted


def register(format: str, painter: str) -> None:
    """Say which function (`module:function`) gives a sentence in a format."""
    _PAINTERS[format] = painter


def painted(sentence: Any, format: str, **options: Any) -> Any:
    """The sentence in a format."""
    if format not in _PAINTERS:
        raise ValueError(f"format {format!r} is not known; choose from {', '.join(_PAINTERS)}")
    module, _, function = _PAINTERS[format].partition(":")
    return getattr(import_module(module), function)(sentence, **options)
