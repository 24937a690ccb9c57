"""The model card of a shipped model: data, licences, scores, limitations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treebridge import __version__
from treebridge.errors import TreebridgeError

Card = dict[str, Any]
_NEEDED = {
    "language": str,  # name of the language
    "code": str,
    "summary": str,
    "licence": str,  # of the model
    "data": list,  # tables with keys what, licence, attribution
    "scores": list,  # tables with keys file, tags, UAS, LAS and any other metric
    "limits": list,  # sentences
    "examples": list,  # sentences to try
}  # and, if measured, `gains`: a sentence on what a few trees of the language would gain
_FORBIDDEN = ("NC", "ND")  # Creative Commons terms that rule out shipping


def read_card(path: Path) -> Card:
    """Read a card from TOML; check that it is complete and its licences permit shipping."""
    try:
        import tomllib
    except ImportError:
        raise TreebridgeError("reading a model card needs Python 3.11 or newer") from None
    try:
        card = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TreebridgeError(f"cannot be read: {error.strerror}", file=path) from None
    except UnicodeDecodeError:
        raise TreebridgeError("not UTF-8; save the file as UTF-8", file=path) from None
    except tomllib.TOMLDecodeError as error:
        raise TreebridgeError(f"not valid TOML: {error}", file=path) from None
    for name, kind in _NEEDED.items():
        if not isinstance(card.get(name), kind) or not card[name]:
            raise TreebridgeError(f"the card lacks {name!r} ({kind.__name__})", file=path)
    for name in ("data", "scores"):
        if not all(isinstance(table, dict) for table in card[name]):
            raise TreebridgeError(f"expected tables: write [[{name}]] in the card", file=path)
    for number, source in enumerate(card["data"], 1):
        for name in ("what", "licence", "attribution"):
            if not source.get(name):
                raise TreebridgeError(f"entry {number} of [[data]] lacks {name!r}", file=path)
        if set(source["licence"].replace("-", " ").split()) & set(_FORBIDDEN):
            raise TreebridgeError(
                f"{source['what']} is licensed under {source['licence']}, which does not permit "
                "shipping a model trained on it; train without it",
                file=path,
            )
    for number, score in enumerate(card["scores"], 1):
        if not {"file", "tags", "UAS", "LAS"} <= set(score):
            raise TreebridgeError(
                f"entry {number} of [[scores]] must have file, tags, UAS and LAS", file=path
            )
    return card


def write_card(card: Card) -> str:
    """The card as Markdown."""
    columns = [*dict.fromkeys(name for score in card["scores"] for name in score)]
    return "\n".join(
        [
            f"# {card['code']}: {card['language']}",
            "",
            card["summary"],
            "",
            "```",
            f'treebridge parse --model {card["code"]} "{card["examples"][0]}"',
            "```",
            "",
            "## Scores",
            "",
            f"| {' | '.join(columns)} |",
            "|" + "---|" * len(columns),
            *(
                f"| {' | '.join(_shown(score.get(name, '')) for name in columns)} |"
                for score in card["scores"]
            ),
            "",
            *([card["gains"], ""] if card.get("gains") else []),
            "## Data",
            "",
            "| source | licence | attribution |",
            "|---|---|---|",
            *(f"| {d['what']} | {d['licence']} | {d['attribution']} |" for d in card["data"]),
            "",
            f"The model is under {card['licence']}.",
            "",
            "## Limitations",
            "",
            *(f"- {limit}" for limit in card["limits"]),
            "",
            f"Packed with treebridge {__version__}.",
            "",
        ]
    )


def _shown(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
