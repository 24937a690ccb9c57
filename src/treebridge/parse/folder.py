"""A parser's folder: the model and its space; across a bridge, the bridge and encoder too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from treebridge.artefact import read_config, read_tensors, write_config, write_tensors
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.space import Space
from treebridge.encode.encoder import Encoder, EncoderSettings
from treebridge.encode.models import choose_device
from treebridge.errors import TreebridgeError
from treebridge.folders import new_folder
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.card import model_card
from treebridge.parse.checkpoint import read_metrics, write_metrics
from treebridge.parse.parser import Parser
from treebridge.parse.settings import ParserSettings
from treebridge.parse.verdict import bridge_verdict
from treebridge.parse.vocab import Names

KIND, FORMAT = "parser", 1


def save_parser(parser: Parser, folder: str | Path, *, key: str | None = None) -> None:
    """Write a folder, whole or not at all; across a bridge it needs nothing outside itself."""
    with new_folder(folder, KIND, key=key) as made:
        tensors = {
            f"model.{name}": weight.detach().cpu().numpy()
            for name, weight in parser.model.state_dict().items()
        }
        means = parser.space.isotropy.means
        write_tensors(made / "parser.safetensors", {**tensors, "isotropy": means})
        config = {
            "settings": parser.settings.config(),
            "space": parser.space.config(),
            "words": list(parser.space.words),
            "labels": list(parser.labels),
            "tags": list(parser.tags),
            "scores": parser.scores,
            "about": parser.about,
        }
        if parser.bridge:
            verdict = bridge_verdict(parser.bridge.quality, parser.scores)
            judged = replace(parser.bridge, quality={**parser.bridge.quality, "verdict": verdict})
            judged.save(made / "bridge")
            parser.load_encoder().save(made / "encoder")
            config["bridge"] = {**parser.bridge.target.origin(), "quality": verdict}
        write_config(made, KIND, FORMAT, config)
        write_metrics(made / "metrics.jsonl", parser.history)
        (made / "README.md").write_text(model_card(config), encoding="utf-8")


def read_parser(
    folder: str | Path, encoder: Encoder | None, encoder_settings: EncoderSettings
) -> Parser:
    """Read a folder; with a bridge in it, the parser is across it at once."""
    folder = Path(folder)
    config = read_config(folder, KIND, FORMAT)
    tensors = read_tensors(folder / "parser.safetensors")
    try:
        words = config.get("words", ())
        space = Space.from_config(config["space"], tensors.pop("isotropy"), words)
        settings = ParserSettings.from_config(config["settings"])
        labels, tags = Names(config["labels"]), Names(config["tags"])
        model = Biaffine(settings, space.dim, len(labels), len(tags))
        weights = {name.removeprefix("model."): torch.from_numpy(x) for name, x in tensors.items()}
        model.load_state_dict(weights)
    except (KeyError, TypeError, RuntimeError):
        raise TreebridgeError(
            "config.json and parser.safetensors do not belong together; make the parser again",
            file=folder,
        ) from None
    model.to(choose_device(encoder_settings.device))
    parser = Parser(model.eval(), space, labels, tags, about=config.get("about", {}))
    # A shipped model has no history, only the scores of its best epoch.
    scores = config.get("scores")
    parser.history = read_metrics(folder / "metrics.jsonl") or ([scores] if scores else [])
    parser.encoder_settings = encoder_settings
    if (folder / "bridge").is_dir():
        parser = parser.across(Bridge.load(folder / "bridge"))
        parser.encoder_at = _encoder_in(folder / "encoder")
    if encoder is not None:
        (parser.bridge.target if parser.bridge else parser.space).check(encoder)
        parser.encoder = encoder
    return parser


def _encoder_in(folder: Path) -> str | None:
    """A checkpoint is a folder, static vectors are the one file in it."""
    if not folder.is_dir() or (folder / "config.json").exists():
        return str(folder) if folder.is_dir() else None
    return next((str(path) for path in folder.iterdir()), None)
