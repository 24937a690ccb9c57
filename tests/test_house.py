"""The house keeps its order: rooms import only from rooms above them, options follow settings."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
import typer

import treebridge.cli
from treebridge.bridge.settings import BridgeSettings, CollectSettings, FitSettings
from treebridge.cli.commands import app
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.settings import EncoderSettings
from treebridge.parse.settings import ParserSettings, ProjectSettings, RefineSettings
from treebridge.settings import choices

SOURCE = Path(__file__).resolve().parents[1] / "src" / "treebridge"
# In the order in which the data walks through them; files of the package itself stand before all.
ROOMS = (
    "corpus", "encode", "alignment", "bridge", "parse", "cluster", "recipes", "experiment", "show",
    "web", "cli",
)  # fmt: skip
FRONT = ("__init__.py", "__main__.py", "spacy.py")  # the front doors may use every room


def room_of(module: str) -> int:
    """The place of a module's room; -1 for the package's own files."""
    parts = module.split(".")
    return ROOMS.index(parts[1]) if len(parts) > 1 and parts[1] in ROOMS else -1


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module of ours that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "treebridge":
                names = [f"treebridge.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.startswith("treebridge"))


def test_a_room_imports_only_from_rooms_above_it() -> None:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE)
        if str(inside) in FRONT:
            continue
        here = ROOMS.index(inside.parts[0]) if inside.parts[0] in ROOMS else -1
        for line, name in imports(path):
            if room_of(name) > here:
                wrong.append(f"{inside}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_every_folder_is_a_room() -> None:
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert folders == set(ROOMS)


def test_recipes_and_the_rooms_above_print_nothing() -> None:
    """They know no terminal: what happens is told to `Progress`, what comes out is returned."""
    wrong = []
    for room in ROOMS[: ROOMS.index("show")]:
        for path in sorted((SOURCE / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                called = node.func if isinstance(node, ast.Call) else None
                if isinstance(called, ast.Name) and called.id == "print":
                    wrong.append(f"{path.relative_to(SOURCE)}:{node.lineno} prints")
            if any(name.split(".")[0] == "rich" for name in _foreign(path)):
                wrong.append(f"{path.relative_to(SOURCE)} uses rich")
    assert not wrong, "\n".join(wrong)


def _foreign(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


# Options and settings

SETTINGS = (
    EncoderSettings, PretrainSettings, CollectSettings, FitSettings, BridgeSettings,
    ParserSettings, ProjectSettings, RefineSettings,
)  # fmt: skip
# Options that happen to be called like a field, and are something else.
OTHERS = {
    ("reproduce table1", "tags"), ("reproduce ablation", "tags"), ("parse", "tokens"), ("next", "tokens"),
    ("demo", "seed"), ("draw", "sentences"), ("refine", "tagger"), ("build", "refine"),
    ("reproduce anisotropy", "sentences"), ("bridge", "links"), ("refine", "links"),
    ("train", "isotropy"), ("train", "start"), ("reproduce table1", "anchor_words"),
}  # fmt: skip


class Declared(typing.NamedTuple):
    """An option of a command, as its function declares it."""

    command: str
    name: str
    kind: typing.Any
    default: typing.Any
    option: typing.Any


def declared() -> list[Declared]:
    """Every option of every command."""
    found = []
    groups: list[tuple[str, typer.Typer]] = [("", app)]
    groups += [(f"{group.name} ", group.typer_instance) for group in app.registered_groups]
    for prefix, group in groups:
        for command in group.registered_commands:
            function = command.callback
            assert function is not None
            hints = typing.get_type_hints(function, include_extras=True)
            for name, parameter in inspect.signature(function).parameters.items():
                kind, *extras = typing.get_args(hints[name])
                option = extras[0]
                if isinstance(option, typer.models.OptionInfo):
                    found.append(
                        Declared(f"{prefix}{command.name}", name, kind, parameter.default, option)
                    )
    return found


DECLARED = declared()


@pytest.mark.parametrize(
    "one", [d for d in DECLARED if hasattr(d.option, "setting")], ids=lambda d: f"{d[0]} {d[1]}"
)
def test_defaults_and_choices_are_those_of_the_settings(one: Declared) -> None:
    settings, name = one.option.setting
    if one.default is None:  # a preset decides; the help says what
        assert one.option.show_default is not True
    else:
        assert one.default == getattr(settings, name)
    allowed = choices(settings, name)
    kinds = [kind for kind in (one.kind, *typing.get_args(one.kind)) if kind is not type(None)]
    literal = next((k for k in kinds if typing.get_origin(k) is typing.Literal), None)
    assert (typing.get_args(literal) if literal else ()) == allowed


def test_no_option_types_a_default_again() -> None:
    """An option that is called like a field of a settings class is declared by that field."""
    names = {field.name for settings in SETTINGS for field in fields(settings)}
    typed = {
        (d.command, d.name)
        for d in DECLARED
        if d.name in names
        and not hasattr(d.option, "setting")
        and (d.command, d.name) not in OTHERS
    }
    assert not typed


def test_a_command_is_found_in_the_file_that_is_loaded_for_it() -> None:
    """The command line loads only that file; the others would take longer than the work."""
    for command, file in treebridge.cli._FILES.items():
        done = subprocess.run(
            [sys.executable, "-c", LOADED, command], capture_output=True, text=True, check=True
        )
        assert command in done.stdout.split(), (command, file)


LOADED = """
import sys
from treebridge.cli import _app
app = _app(sys.argv[1:])
print(*(c.name for c in app.registered_commands), *(g.name for g in app.registered_groups))
assert len(app.registered_commands) < 4
"""
