"""A parser's folder: the model and its space; across a bridge, the bridge and encoder too.

A packed parser has ONNX graphs (format 2) where others have weights for torch (format 1).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from treebridge.artefact import (
    Shape,
    check_files,
    read_config,
    read_tensors,
    write_config,
    write_tensors,
)
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.card import JUDGED
from treebridge.bridge.space import Space
from treebridge.corpus.lexicon import Lexicon
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import Notice, TreebridgeError, require_train
from treebridge.folders import new_folder
from treebridge.parse import tag_prior
from treebridge.parse.card import model_card
from treebridge.parse.columns.columns import COLUMNS, HEADS, Columns
from treebridge.parse.metrics import read_metrics, write_metrics
from treebridge.parse.network import Network
from treebridge.parse.onnx_network import ARCS, LABELS, OnnxNetwork
from treebridge.parse.parser import Parser
from treebridge.parse.settings import ParserSettings
from treebridge.parse.verdict import bridge_verdict
from treebridge.parse.vocab import Names
from treebridge.records import FIX, field, names

KIND, FORMAT, PACKED = "parser", 1, 2
TENSORS, METRICS, LEXICON = "parser.safetensors", "metrics.jsonl", "lexicon.tsv"

if TYPE_CHECKING:
    from treebridge.parse.biaffine import Biaffine


def save_parser(parser: Parser, folder: str | Path, *, key: str | None = None) -> None:
    """Write a folder atomically; a bridged parser is saved with its bridge and encoder."""
    with new_folder(folder, KIND, key=key) as made:
        tensors = {
            f"model.{name}": weight.detach().cpu().numpy()
            for name, weight in parser.biaffine.state_dict().items()
        }
        means = parser.space.isotropy.means
        write_tensors(made / TENSORS, {**tensors, "isotropy": means})
        write_metrics(made / METRICS, parser.history)
        config = {
            "settings": parser.settings.config(),
            "space": parser.space.config(),
            "words": list(parser.space.words),
            "labels": list(parser.labels),
            "tags": list(parser.tags),
            "scores": parser.scores,
            "about": parser.about,
        }
        save_words(parser, made)
        if parser.columns:
            config["columns"] = parser.columns.describe()
        if parser.bridge:
            verdict = bridge_verdict(parser.bridge.quality, parser.scores)
            judged = replace(parser.bridge, quality={**parser.bridge.quality, "verdict": verdict})
            judged.save(made / "bridge")
            config["bridge"] = describe_bridge(judged)
            config |= judged_by_trees(judged)
        if parser.bridge or parser.about.get("tuned"):
            parser.load_encoder().save(made / "encoder")
        write_config(made, KIND, FORMAT, config, files_of(made))
        (made / "README.md").write_text(model_card(config), encoding="utf-8")


def describe_bridge(bridge: Bridge) -> dict[str, Any]:
    """The bridge's entry in a parser's config.json; its presence marks a bridged parser."""
    return {**bridge.target.origin(), "quality": bridge.quality.get("verdict", "")}


def save_words(parser: Parser, folder: Path, *, small: bool = False) -> None:
    """Write what a parser knows of words: its further columns, tags by form and its lexicon."""
    if parser.columns:
        parser.columns.save(folder, small=small)
    if parser.tag_prior:
        parser.tag_prior.save(folder)
    if parser.lexicon:
        (folder / LEXICON).write_text(parser.lexicon.to_tsv(), encoding="utf-8")


def judged_by_trees(bridge: Bridge) -> dict[str, Any]:
    """What held-out source trees say about the parser, for its config.json and its card."""
    return {name: bridge.quality[name] for name in JUDGED if name in bridge.quality}


def files_of(folder: Path) -> list[str]:
    """The required files of a parser; the bridge's config.json lists the bridge's own files."""
    encoder = sorted(f"encoder/{path.name}" for path in folder.glob("encoder/*"))
    own = [TENSORS, ARCS, LABELS, METRICS, COLUMNS, HEADS, tag_prior.FILE, tag_prior.TENSORS,
           LEXICON, "bridge/config.json"]  # fmt: skip
    return [*(name for name in own if (folder / name).exists()), *encoder]


def read_parser(folder: Path, encoder_settings: EncoderSettings) -> Parser:
    """Read a folder; with a bridge in it, the parser is across it at once."""
    config = read_config(folder, KIND, PACKED)
    # An encoder is known by its fingerprint, which is taken whenever it is loaded.
    check_files(folder, config, only_sizes="encoder/")
    path = folder / "config.json"
    words = names({"words": [], **config}, "words", path)
    space = Space.from_config(field(config, "space", dict, path), path, words)
    settings = ParserSettings.from_config(field(config, "settings", dict, path), path)
    labels, tags = (Names(names(config, name, path)) for name in ("labels", "tags"))
    model: Network
    if config["format"] == PACKED:
        _note_cpu(encoder_settings, folder)
        model = OnnxNetwork(folder, settings)
        means = read_tensors(folder / TENSORS, {"isotropy": (None, space.dim)})["isotropy"]
    else:
        require_train("a model that is not packed")
        sizes = space.dim, len(labels), len(tags)
        model, means = _read_network(folder, settings, sizes, encoder_settings.device)
    space = space.with_means(means)
    if not _crosses_bridge(config) and (folder / "encoder").is_dir():
        # An encoder that learned with the parser is only here; bridges and teachers look for it.
        space = replace(space, encoder=str(_encoder_in(folder / "encoder").absolute()))
    about = field({"about": {}, **config}, "about", dict, path)
    parser = Parser(model, space, labels, tags, about=about)
    # A shipped model has no history, only the scores of its best epoch.
    scores = config.get("scores")
    parser.history = read_metrics(folder / METRICS) or ([scores] if scores else [])
    parser.encoder_settings = encoder_settings
    if _crosses_bridge(config):
        parser = parser.across(Bridge.load(folder / "bridge"))
    parser.columns = Columns.load(folder, space.dim, len(tags))
    parser.tag_prior = tag_prior.TagPrior.load(folder, len(tags))
    if (folder / LEXICON).exists():
        parser.lexicon = Lexicon.read(folder / LEXICON)
    if (folder / "encoder").is_dir() or parser.bridge:
        parser.encoder_at = str(_encoder_in(folder / "encoder"))
    parser.folder, parser.card = folder, config.get("card", {})
    return parser


def _note_cpu(settings: EncoderSettings, folder: Path) -> None:
    if settings.device not in ("auto", "cpu"):
        warnings.warn(
            f"{folder.name} is packed and runs on the CPU, not on {settings.device}",
            Notice,
            stacklevel=2,
        )


def _read_network(
    folder: Path, settings: ParserSettings, sizes: tuple[int, int, int], device: str
) -> tuple[Biaffine, NDArray[Any]]:
    """The network in torch, and the means of its space."""
    import torch

    from treebridge.encode.models import choose_device
    from treebridge.parse.biaffine import Biaffine

    try:
        model = Biaffine(settings, *sizes, initialize=False)
    except (RuntimeError, MemoryError):  # sizes that nothing can have
        where = folder / "config.json"
        raise TreebridgeError(f"damaged: the network is too large; {FIX}", file=where) from None
    tensors = read_tensors(folder / TENSORS, _shapes(model, sizes[0]))
    means = tensors.pop("isotropy")
    weights = {name.removeprefix("model."): torch.from_numpy(x) for name, x in tensors.items()}
    model.load_state_dict(weights)
    return model.to(choose_device(device)).eval(), means


def _shapes(model: Biaffine, dim: int) -> dict[str, Shape]:
    weights = {f"model.{name}": tuple(x.shape) for name, x in model.state_dict().items()}
    return {**weights, "isotropy": (None, dim)}


def _crosses_bridge(config: Mapping[str, Any]) -> bool:
    """Whether the parser has a bridge; older shipped models have a card but no bridge entry."""
    return "bridge" in config or "card" in config


def _encoder_in(folder: Path) -> Path:
    """The path of the encoder: the folder of a checkpoint, or the single file of word vectors."""
    if (folder / "config.json").exists():
        return folder
    files = [path for path in sorted(folder.glob("*")) if not path.name.startswith(".")]
    if len(files) != 1:
        raise TreebridgeError(
            f"expected a checkpoint or one file of word vectors; {FIX}", file=folder
        )
    return files[0]
