"""Help, errors and docstrings avoid phrases that were once there and read as translated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import treebridge
from treebridge.cli.commands import app

PHRASES = [
    "who finds the words", "figures for machines", "= de o apart", "tells it, too",
    "pieces of work at once", "link words anew", "train for so long", "different pieces",
    "at its highest", "take the files for this", "so many parsers", "of raw text, such as",
    "say which version", "is there already and is no", "and so no parser", "forbids to fetch",
    "of middling length", "gone on learning", "surest trees", "how training goes",
    "keeps it to itself", "among its like", "hear how good", "the best that there is",
    "is not made again", "interrupt it at will", "going on after",
]  # fmt: skip
# Too common in other texts, but never needed in a help text.
IN_HELP = ["anew", "so many", "of it", "goes on", "what is there", "there are:", "of the parsers"]


def help_texts(command: Any, name: str = "treebridge") -> Iterator[tuple[str, str]]:
    """The description of every command and the help of its parameters."""
    yield name, command.help or ""
    for parameter in command.params:
        yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""
    for child, inner in getattr(command, "commands", {}).items():
        yield from help_texts(inner, f"{name} {child}")


HELP = list(help_texts(typer.main.get_command(app)))


def literals() -> Iterator[tuple[str, str]]:
    """Every string literal of the package, with its place."""
    root = Path(treebridge.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [getattr(part, "value", "") for part in node.values]
                yield (
                    f"{path.relative_to(root)}:{node.lineno}",
                    "".join(part if isinstance(part, str) else "…" for part in parts),
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.relative_to(root)}:{node.lineno}", node.value


def found(texts: list[tuple[str, str]], phrase: str) -> list[str]:
    """Where a phrase occurs, as whole words and whatever the line breaks."""
    pattern = re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)")
    return [place for place, text in texts if pattern.search(" ".join(text.lower().split()))]


LITERALS = list(literals())


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_literal_has_an_old_phrase(phrase: str) -> None:
    assert found([*LITERALS, *HELP], phrase) == []


@pytest.mark.parametrize("phrase", IN_HELP)
def test_no_help_text_reads_as_translated(phrase: str) -> None:
    assert found(HELP, phrase) == []


def test_every_command_and_option_has_help() -> None:
    assert len(HELP) > 200 and len(LITERALS) > 2000
    assert [
        place for place, text in HELP if not text.endswith((".", "exit.", "installation."))
    ] == []


def test_phrases_are_found_across_lines() -> None:
    assert found([("here", "Link words\n    anew by the bridge.")], "link words anew") == ["here"]
    assert found([("here", "one of its words")], "of it") == []
