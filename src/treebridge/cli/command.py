"""The class of every command: accepts old option names and options with several values."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand


class Command(TyperCommand):
    """A command with renamed options, and options that take several values at once."""

    renamed: Mapping[str, str] = {}
    many: frozenset[str] = frozenset()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Replace old names, with a note; repeat an option before each of its values."""
        return super().parse_args(ctx, self._spread([self._current(word) for word in args]))

    def _current(self, word: str) -> str:
        name, equals, value = word.partition("=")
        if name not in self.renamed:
            return word
        now = self.renamed[name]
        print(
            f"note: {name} is now {now}; the old name will be removed in the next release",
            file=sys.stderr,
        )
        return f"{now}{equals}{value}"

    def _spread(self, args: list[str]) -> list[str]:
        spread: list[str] = []
        option = None
        for word in args:
            if word.startswith("-"):
                option = word if word in self.many else None
                if option:
                    continue
            spread += [option, word] if option else [word]
        return spread


def command(
    renamed: Mapping[str, str] | None = None, many: frozenset[str] = frozenset()
) -> type[Command]:
    """The class for a command with renamed options (old → new) and multi-valued options."""
    return type("OurCommand", (Command,), {"renamed": renamed or {}, "many": many})
