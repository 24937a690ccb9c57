"""Start training from a parser instead of from scratch: the same space, perhaps more labels."""

from __future__ import annotations

from dataclasses import replace

import torch

from treebridge.errors import TreebridgeError
from treebridge.keys import key_of_bytes
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.new_labels import with_labels
from treebridge.parse.parser import Parser
from treebridge.parse.settings import ParserSettings
from treebridge.parse.vocab import Names

SIZES = ("tags", "isotropy", "layers", "hidden", "arc", "label", "tag", "tagger", "neighbours")
SLOWER = 0.5  # of the learning rate: much is known already


def settings_from(start: Parser, settings: ParserSettings) -> ParserSettings:
    """The settings with the network of the parser to start from, and a lower learning rate."""
    if start.bridge is not None:
        raise TreebridgeError("training starts from a source parser, not from one across a bridge")
    if settings.tags != start.settings.tags:
        raise TreebridgeError(
            f"the parser to start from was trained with tags {start.settings.tags}, not "
            f"{settings.tags}; use the same"
        )
    sizes = {name: getattr(start.settings, name) for name in SIZES}
    return replace(settings, **sizes, learning_rate=SLOWER * settings.learning_rate)


def grown(start: Parser, labels: Names, tags: Names) -> tuple[Names, Names]:
    """The parser's labels and tags, and after them those that it lacks."""
    more = [[name for name in names if name not in known]
            for names, known in ((labels, start.labels), (tags, start.tags))]  # fmt: skip
    return Names([*start.labels, *more[0]]), Names([*start.tags, *more[1]])


def start_from(model: Biaffine, start: Parser, labels: Names) -> str:
    """Give a new network the weights of a parser, as far as they go; return a hash of them.

    New labels start as in refining; new tags keep the new network's own weights.
    """
    known = with_labels(start, labels).biaffine.state_dict()
    with torch.no_grad():
        for name, weight in model.state_dict().items():
            both = zip(weight.shape, known[name].shape, strict=True)
            there = tuple(slice(min(sizes)) for sizes in both)
            weight[there] = known[name][there].to(weight.device)
    return key_of_bytes(weight.cpu().numpy().tobytes() for weight in known.values())
