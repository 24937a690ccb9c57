"""Train a parser on a treebank."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from treebridge.bridge.bridge import Bridge
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.licence import licence_of
from treebridge.corpus.trees import digest_trees
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.folders import check_free, is_finished
from treebridge.keys import digest_files, key_of
from treebridge.locks import hold
from treebridge.parse.folder import KIND
from treebridge.parse.parser import Parser
from treebridge.parse.settings import ParserSettings
from treebridge.progress import QUIET, Progress
from treebridge.recipes.also import Also, also_key, language_in_name
from treebridge.recipes.sources import join
from treebridge.recipes.work import working


@dataclass(frozen=True)
class Trained:
    """A parser and the folder it was written to."""

    parser: Parser
    folder: Path
    found: bool = False  # an earlier run trained it on the same data and settings


def train(
    treebank: str | Path,
    encoder: str,
    output: str | Path,
    settings: ParserSettings | None = None,
    encoding: EncoderSettings | None = None,
    *,
    dev: str | Path | None = None,
    also: Sequence[Also] = (),
    weights: Sequence[float] | None = None,
    bridge: str | Path | None = None,
    start: str | Path | None = None,
    resume: bool = True,
    force: bool = False,
    progress: Progress = QUIET,
) -> Trained | None:
    """Train and save a parser; an interrupted run resumes from its last epoch.

    Treebanks of other languages join with `also`; `weights` say how often each, the first
    included, is seen in an epoch. They are chosen and weighted for the target language of `bridge`,
    if it is given. Training goes on from the parser `start` or, without it, begins from scratch.
    Under torchrun only the first process writes; the others return None.
    """
    output, settings = Path(output), settings or ParserSettings()
    encoding = encoding or EncoderSettings()
    first = os.environ.get("RANK", "0") == "0"
    with hold(output):
        check_free(output, KIND)
        trees = Treebank.read(treebank)
        dev_trees = Treebank.read(dev) if dev else None
        loaded = Encoder.load(encoder, encoding)
        digests = [digest_trees(part) for part in (trees, dev_trees) if part is not None]
        loaded_also = [one.load(encoding) for one in also]
        target = Bridge.load(bridge) if bridge else None
        further, weights = join(also, loaded_also, weights, target, trees)
        joined = also_key(further, weights)
        begin = Parser.load(start, encoder_settings=encoding) if start else None
        if start:
            joined.append(digest_files([Path(start) / "parser.safetensors"]))
        key = key_of("train", loaded.cache_key, settings.config(), digests, *joined)
        if is_finished(output, KIND, key, force=force):
            return Trained(Parser.load(output, loaded, encoding), output, found=True)
        with working(output, "training", resume=resume or not first) as work:
            parser = Parser.train(
                trees,
                loaded,
                dev_trees,
                settings,
                also=further,
                weights=weights,
                start=begin,
                device=encoding.device,
                work=work,
                progress=progress if first else QUIET,
            )
            if not first:
                return None
            parser.about |= {
                "treebank": Path(treebank).name,
                "licence": licence_of(treebank),
                "dev": Path(dev).name if dev else "held out",
                "language": language_in_name(treebank),
            }
            parser.save(output, key=key)
    return Trained(parser, output)
