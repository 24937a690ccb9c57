"""treebridge: Universal Dependencies trees for a language that has no treebank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treebridge.corpus.drawing import register
from treebridge.errors import missing_extra

__version__ = "0.1.0"

if TYPE_CHECKING:
    from treebridge.alignment.run import align
    from treebridge.bridge.bridge import Bridge
    from treebridge.bridge.settings import BridgeSettings
    from treebridge.corpus.bitext import Bitext
    from treebridge.corpus.conllu import Treebank
    from treebridge.corpus.lexicon import Lexicon
    from treebridge.corpus.sentence import Sentence
    from treebridge.corpus.text import Splitter
    from treebridge.encode.encoder import Encoder
    from treebridge.encode.pretrain.settings import PretrainSettings
    from treebridge.encode.settings import EncoderSettings
    from treebridge.errors import TreebridgeError
    from treebridge.parse.parser import Parser
    from treebridge.parse.settings import NextSettings, ParserSettings, RefineSettings
    from treebridge.parse.several import Source
    from treebridge.parse.shipped import shipped_models as models
    from treebridge.parse.vote import voting
    from treebridge.progress import Progress
    from treebridge.recipes.build import BuildSettings, build
    from treebridge.recipes.next_trees import next_trees
    from treebridge.recipes.pretrain import pretrain
    from treebridge.recipes.sources import rank_sources
    from treebridge.recipes.suggest import suggest

__all__ = [
    "Bitext",
    "Bridge",
    "BridgeSettings",
    "BuildSettings",
    "Encoder",
    "EncoderSettings",
    "Lexicon",
    "NextSettings",
    "Parser",
    "ParserSettings",
    "PretrainSettings",
    "Progress",
    "RefineSettings",
    "Sentence",
    "Source",
    "Splitter",
    "Treebank",
    "TreebridgeError",
    "__version__",
    "align",
    "build",
    "models",
    "next_trees",
    "pretrain",
    "rank_sources",
    "suggest",
    "voting",
]

_WHERE = {
    "Bitext": "treebridge.corpus.bitext",
    "Bridge": "treebridge.bridge.bridge",
    "BridgeSettings": "treebridge.bridge.settings",
    "BuildSettings": "treebridge.recipes.build",
    "Encoder": "treebridge.encode.encoder",
    "EncoderSettings": "treebridge.encode.settings",
    "Lexicon": "treebridge.corpus.lexicon",
    "NextSettings": "treebridge.parse.settings",
    "Parser": "treebridge.parse.parser",
    "ParserSettings": "treebridge.parse.settings",
    "PretrainSettings": "treebridge.encode.pretrain.settings",
    "Progress": "treebridge.progress",
    "RefineSettings": "treebridge.parse.settings",
    "Sentence": "treebridge.corpus.sentence",
    "Source": "treebridge.parse.several",
    "Splitter": "treebridge.corpus.text",
    "Treebank": "treebridge.corpus.conllu",
    "TreebridgeError": "treebridge.errors",
    "align": "treebridge.alignment.run",
    "build": "treebridge.recipes.build",
    "models": "treebridge.parse.shipped:shipped_models",
    "next_trees": "treebridge.recipes.next_trees",
    "pretrain": "treebridge.recipes.pretrain",
    "rank_sources": "treebridge.recipes.sources",
    "suggest": "treebridge.recipes.suggest",
    "voting": "treebridge.parse.vote",
}


# Registered by name, because `corpus` may not import the rooms that draw.
register("text", "treebridge.show.text:draw_tree")
register("svg", "treebridge.show.svg:draw_svg")
register("html", "treebridge.show.html:draw_html")
register("spacy", "treebridge.spacy:sentence_doc")


def __getattr__(name: str) -> Any:
    """Import each public name when it is first used, so that `treebridge --help` is instant."""
    if name not in _WHERE:
        raise AttributeError(f"module 'treebridge' has no attribute {name!r}")
    from importlib import import_module

    module, _, other = _WHERE[name].partition(":")
    try:
        return getattr(import_module(module), other or name)
    except ModuleNotFoundError as error:
        raise missing_extra(error, f"treebridge.{name}") or error from None


def __dir__() -> list[str]:
    return __all__
