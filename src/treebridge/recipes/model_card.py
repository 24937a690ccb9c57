"""What a shipped model says about itself: data, licences, scores, limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treebridge import __version__
from treebridge.errors import TreebridgeError

Card = dict[str, Any]
_NEEDED = {
    "language": str,  # its name
    "code": str,
    "summary": str,
    "licence": str,  # of the model
    "data": list,  # tables with what, licence, attribution
    "scores": list,  # tables with file, tags, UAS, LAS, and what else was measured
    "limits": list,  # sentences
    "examples": list,  # sentences to try it with
}
_FORBIDDEN = ("NC", "ND")  # as parts of a Creative Commons licence: not to be shipped


def read_card(path: Path) -> Card:
    """A card from TOML, complete, and with no data whose licence forbids to ship what it made."""
    try:
        import tomllib
    except ImportError:
        raise TreebridgeError("reading a card needs Python 3.11 or newer") from None
    try:
        card = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TreebridgeError(f"cannot be read: {error.strerror}", file=path) from None
    except UnicodeDecodeError:
        raise TreebridgeError("is not UTF-8; save it as UTF-8", file=path) from None
    except tomllib.TOMLDecodeError as error:
        raise TreebridgeError(f"is no TOML: {error}", file=path) from None
    for name, kind in _NEEDED.items():
        if not isinstance(card.get(name), kind) or not card[name]:
            raise TreebridgeError(f"the card has no {name} ({kind.__name__})", file=path)
    for name in ("data", "scores"):
        if not all(isinstance(table, dict) for table in card[name]):
            raise TreebridgeError(f"expected tables: write [[{name}]] in the card", file=path)
    for number, source in enumerate(card["data"], 1):
        for name in ("what", "licence", "attribution"):
            if not source.get(name):
                raise TreebridgeError(f"data {number} of the card has no {name}", file=path)
        if set(source["licence"].replace("-", " ").split()) & set(_FORBIDDEN):
            raise TreebridgeError(
                f"{source['what']} is under {source['licence']}, which must not be shipped; "
                "train without it",
                file=path,
            )
    for number, score in enumerate(card["scores"], 1):
        if not {"file", "tags", "UAS", "LAS"} <= set(score):
            raise TreebridgeError(f"score {number} lacks file, tags, UAS or LAS", file=path)
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
            "## Data",
            "",
            "| what | licence | attribution |",
            "|---|---|---|",
            *(f"| {d['what']} | {d['licence']} | {d['attribution']} |" for d in card["data"]),
            "",
            f"The model is under {card['licence']}.",
            "",
            "## Limits",
            "",
            *(f"- {limit}" for limit in card["limits"]),
            "",
            f"Packed by treebridge {__version__}.",
            "",
        ]
    )


def _shown(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
