"""Fields with a fixed set of choices, checked in the same way by all settings classes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from treebridge.errors import TreebridgeError


def choices(settings: type, name: str) -> tuple[Any, ...]:
    """Return the choices of a Literal field; empty for other fields."""
    kind = get_type_hints(settings)[name]
    return get_args(kind) if get_origin(kind) is Literal else ()


def check_choices(settings: Any) -> None:
    """Refuse a value that is not among its field's choices."""
    for field in fields(settings):
        allowed, value = choices(type(settings), field.name), getattr(settings, field.name)
        if allowed and value not in allowed:
            known = ", ".join(map(str, allowed))
            raise TreebridgeError(f"unknown {field.name} {value!r}; choose from {known}")
