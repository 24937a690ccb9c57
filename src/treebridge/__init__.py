"""treebridge: Universal Dependencies trees for a language that has no treebank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from treebridge.bridge.bridge import Bridge
    from treebridge.corpus.bitext import Bitext
    from treebridge.corpus.conllu import Treebank
    from treebridge.corpus.sentence import Sentence
    from treebridge.corpus.text import Splitter
    from treebridge.encode.encoder import Encoder
    from treebridge.errors import TreebridgeError
    from treebridge.parse.parser import Parser

__all__ = [
    "Bitext",
    "Bridge",
    "Encoder",
    "Parser",
    "Sentence",
    "Splitter",
    "Treebank",
    "TreebridgeError",
    "__version__",
]

_WHERE = {
    "Bitext": "treebridge.corpus.bitext",
    "Bridge": "treebridge.bridge.bridge",
    "Encoder": "treebridge.encode.encoder",
    "Parser": "treebridge.parse.parser",
    "Sentence": "treebridge.corpus.sentence",
    "Splitter": "treebridge.corpus.text",
    "Treebank": "treebridge.corpus.conllu",
    "TreebridgeError": "treebridge.errors",
}


def __getattr__(name: str) -> Any:
    """Import each public name when it is first used, so that `treebridge --help` is instant."""
    if name not in _WHERE:
        raise AttributeError(f"module 'treebridge' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_WHERE[name]), name)
