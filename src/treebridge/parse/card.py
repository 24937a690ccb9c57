"""The model card of a parser: the README.md in its folder."""

from __future__ import annotations

from typing import Any

from treebridge import __version__
from treebridge.bridge.card import judged_lines
from treebridge.bridge.space import cite
from treebridge.parse.verdict import parser_verdict

_TAGS = {
    "gold": "Its input must have UPOS tags.",
    "none": "It neither uses nor predicts UPOS tags.",
    "predicted": "It predicts UPOS tags itself.",
}


_LEMMAS = {
    True: " Lemmas are learned from trees or a lexicon.",
    False: " Nothing has taught it lemmas: it gives the form in lower case, names as they are.",
}


def _columns(config: dict[str, Any]) -> str:
    """What the parser predicts beside trees and tags, and how honest its lemmas are."""
    found = config.get("columns")
    if not found:
        return ""
    feats = f"FEATS ({', '.join(found['features'])})" if found["features"] else None
    named = ["XPOS" if found["xpos"] else None, feats, "LEMMA" if found["lemma"] else None]
    *first, last = [name for name in named if name]
    listed = f"{', '.join(first)} and {last}" if first else last
    return f" It also predicts {listed}.{_LEMMAS[found['taught']] if found['lemma'] else ''}"


def _treebank(about: dict[str, Any]) -> str:
    """A treebank with its licence."""
    return f"`{about['treebank']}` ({about.get('licence') or 'licence unknown'})"


def _encoder(about: dict[str, Any]) -> str:
    """Whether the encoder is the one that was given, or learned with the parser."""
    tuned = (about.get("refined") or about).get("tuned")
    return "an encoder that learned with it" if tuned else "a frozen encoder"


def model_card(config: dict[str, Any]) -> str:
    """Describe a parser, its scores and its use, in Markdown."""
    settings, space, scores, about = (
        config[key] for key in ("settings", "space", "scores", "about")
    )
    lines = [
        "# A treebridge parser",
        "",
        f"A Universal Dependencies parser on the vectors of {_encoder(about)}: BiLSTM and biaffine "
        f"attention, {len(config['labels'])} labels. {_TAGS[settings['tags']]}{_columns(config)}",
        "",
        "| | |",
        "|---|---|",
        f"| encoder | {cite(space)}, {space['dim']} dimensions |",
        f"| encoder layers | {space['layers'] or 'one'} |",
        f"| isotropy | {settings['isotropy']} iterations |",
        f"| BiLSTM | {settings['layers']} × {settings['hidden']} |",
    ]
    if bridge := config.get("bridge"):
        lines.append(f"| target encoder | {cite(bridge)} |")
        if bridge["quality"]:
            lines.append(f"| bridge quality | {bridge['quality']} |")
    if "words" in about:
        size = f"{about['sentences']:,} sentences, {about['words']:,} words"
        lines.append(f"| trained on | {size} |")
    if about.get("treebank"):
        lines.append(f"| treebank | {_treebank(about)} |")
    for source in about.get("sources", []):
        seen = f"{source['sentences']:,} sentences, {source['weight']:.1f} times per epoch"
        lines.append(f"| further treebank | {_treebank(source)}: {seen} |")
    if refined := about.get("refined"):
        given = [refined.get("bitext"), *refined.get("bitexts", []), *refined.get("self", []),
                 refined.get("trees")]  # fmt: skip
        lines.append(f"| refined on | {', '.join(f'`{name}`' for name in given if name)} |")
        for source in refined.get("also", []):
            lines.append(f"| refined with trees of | {_treebank(source)} |")
    if verdict := parser_verdict(scores):
        lines.append(f"| verdict | {verdict} |")
    if scores:
        figures = ", ".join(f"{name} {scores[name]:.2f}" for name in ("UAS", "LAS", "UPOS"))
        lines.append(f"| dev scores (convention paper, epoch {scores['epoch']}) | {figures} |")
    lines += [
        "",
        *judged_lines(config),
        "```",
        "treebridge parse --model . text.txt",
        "treebridge evaluate --model . gold.conllu",
        "```",
        "",
        f"Made with treebridge {__version__}, seed {settings['seed']}.",
        "",
    ]
    return "\n".join(lines)
