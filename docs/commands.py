"""Write docs/commands.md from the command line itself: python docs/commands.py."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer

from treebridge.cli import app

HEAD = """<!-- Written by docs/commands.py: change the help of a command, or the script. -->

# Commands

`treebridge --help` and the `--help` of each command say the same. CoNLL-U, bitext and text may be
compressed (`.gz`, `.bz2`, `.xz`); `-` is standard input. A mistake is answered by one sentence and
exit code 2; `--debug`, anywhere, shows the traceback as well, and `--quiet` silences progress and
summaries.

| step | commands |
|---|---|
| look | [inspect](#inspect), [draw](#draw), [demo](#demo), [cache](#cache-list) |
| make | [build](#build), or one by one [pretrain](#pretrain), [align](#align), [train](#train), [bridge](#bridge); then [refine](#refine) and [pack](#pack) |
| use | [parse](#parse), [evaluate](#evaluate), [serve](#serve), [models](#models) |
| the paper | [reproduce](#reproduce-table1) |
"""  # noqa: E501

# In this order. For each a line or two to copy.
EXAMPLES = {
    "inspect": [
        "treebridge inspect en-pt.tsv.xz",
        "treebridge inspect --parallel news.en news.pt",
        "treebridge inspect en-pt --word banco     # a bridge: the senses of a word",
    ],
    "build": [
        "treebridge build --treebank en_ewt-ud-train.conllu --bitext en-pt.tsv.xz \\",
        "    --source-encoder bert-base-uncased \\",
        "    --target-encoder neuralmind/bert-base-portuguese-cased \\",
        "    --target-language pt -o pt",
    ],
    "train": [
        "treebridge train en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu \\",
        "    --encoder bert-base-uncased -o en",
    ],
    "bridge": [
        "treebridge bridge en-pt.tsv.xz --into en \\",
        "    --target-encoder neuralmind/bert-base-portuguese-cased \\",
        "    --target-language pt -o en-pt",
        "treebridge bridge --dry-run --pairs 50M --workers 16 --gpu a100     # what would it take?",
    ],
    "refine": [
        "treebridge refine --model pt --bitext en-pt.tsv.xz \\",
        "    --treebank en_ewt-ud-train.conllu -o pt-refined",
    ],
    "parse": [
        "treebridge parse --model pt news.txt --confidence > news.conllu",
        "treebridge parse --model en --bridge en-pt news.txt.gz --format html -o news.html",
    ],
    "evaluate": [
        "treebridge evaluate --model pt gold.conllu --detail",
        "treebridge evaluate system.conllu gold.conllu --convention conll18",
    ],
    "draw": [
        "treebridge draw news.conllu --sentences 1-3",
        "treebridge draw news.conllu -o trees.html",
    ],
    "serve": ["treebridge serve --model pt --model refined=pt-refined --port 8000"],
    "align": [
        "treebridge align en-pt.tsv.xz -o links.txt --save-model aligner",
        "treebridge align en-pt.tsv.xz --score gold.tsv     # how good, on links made by hand",
    ],
    "models": ["treebridge models"],
    "pack": ["treebridge pack es -o packed/es --card es.toml"],
    "pretrain": ["treebridge pretrain pt.txt.xz --minutes 60 -o pt-encoder"],
    "demo": ["treebridge demo -o demo"],
    "cache list": ["treebridge cache list"],
    "cache clear": ["treebridge cache clear"],
    "reproduce table1": [
        "treebridge reproduce table1 --languages es pt --dry-run",
        "treebridge reproduce table1 --languages pt --systems word sense word+in sense+in",
    ],
    "reproduce anisotropy": ["treebridge reproduce anisotropy --languages es pt"],
    "reproduce ablation": ["treebridge reproduce ablation --language pt --groups pairs level"],
}


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its full name; groups are gone through."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, command


def page() -> str:
    """The whole page."""
    found = dict(commands(typer.main.get_command(app)))
    if missing := found.keys() ^ EXAMPLES.keys():
        raise SystemExit(f"EXAMPLES and the command line differ in {', '.join(sorted(missing))}")
    return "\n".join([HEAD, *(_section(name, found[name]) for name in EXAMPLES)])


def _section(name: str, command: Any) -> str:
    function = inspect.unwrap(command.callback)
    kinds = typing.get_type_hints(function)
    rows = [_row(param, kinds[param.name]) for param in command.params if param.name in kinds]
    table = ["", "| | | default |", "|---|---|---|", *rows] if rows else []
    help_text = inspect.cleandoc(function.__doc__ or "")
    example = ["", "```console", *_prompted(EXAMPLES[name]), "```"]
    return "\n".join([f"## {name}", "", help_text, *example, *table, ""])


def _prompted(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"$ {line}" if line.startswith("treebridge") else f"  {line}"


def _row(param: Any, kind: Any) -> str:
    if param.param_type_name == "argument":
        names = f"`{param.name.upper()}`" + (" …" if param.nargs == -1 else "")
    else:
        names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    said = (param.help or "").replace("<", "&lt;").replace("|", "&#124;")
    words = [said, _choices(kind)]
    return f"| {names} | {' '.join(word for word in words if word)} | {_default(param)} |"


def _choices(kind: Any) -> str:
    """The values of an enumeration."""
    for one in (kind, *typing.get_args(kind)):
        if isinstance(one, type) and issubclass(one, Enum):
            return ", ".join(f"`{member.value}`" for member in one)
    return ""


def _default(param: Any) -> str:
    if param.required:
        return "**needed**"
    if isinstance(param.show_default, str):
        return param.show_default
    value = param.default.value if isinstance(param.default, Enum) else param.default
    if isinstance(value, bool):
        return f"`{param.opts[0]}`" if value else ""
    return "" if value is None else f"`{value}`"


if __name__ == "__main__":
    (Path(__file__).parent / "commands.md").write_text(page(), encoding="utf-8")
