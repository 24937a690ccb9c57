"""The column FEATS: `Number=Sing|Person=3` as a mapping, and back."""

from __future__ import annotations

from collections.abc import Mapping

NONE = "_"


def read_feats(column: str) -> dict[str, str]:
    """Return name → value; items that are not of the form `Name=Value` are left out."""
    items = (item.partition("=") for item in column.split("|"))
    return {name: value for name, equals, value in items if equals and name and value}


def write_feats(feats: Mapping[str, str]) -> str:
    """Return the column, with features in the order that Universal Dependencies prescribe."""
    names = sorted(feats, key=lambda name: (name.lower(), name))
    return "|".join(f"{name}={feats[name]}" for name in names) or NONE
