"""A lab on the real data, for benchmarks that are judged by trees; it shares a table's folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from common.shared import SHARED

from treebridge.encode.settings import EncoderSettings
from treebridge.experiment.datasets import Supply
from treebridge.experiment.inputs import Target
from treebridge.experiment.lab import Lab, LabSettings
from treebridge.parse.parser import Parser
from treebridge.parse.score import score
from treebridge.parse.settings import ParserSettings
from treebridge.progress import Progress


def lab_arguments(about: str) -> argparse.ArgumentParser:
    """The options that decide a lab; benchmarks add their own."""
    arguments = argparse.ArgumentParser(description=about.partition("\n")[0])
    arguments.add_argument("-o", "--output", type=Path, default=Path("build/lab"))
    arguments.add_argument("--language", default="pt")
    arguments.add_argument("--source-encoder", help="of English; default: that of the real data")
    arguments.add_argument("--encoder", help="of the target; pt has one in the folder of real data")
    arguments.add_argument("--tags", default="gold")
    arguments.add_argument("--pairs", type=int, default=60_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--epochs", type=int, default=4)
    return arguments


class Said(Progress):
    """Lines on standard error."""

    def say(self, text: str) -> None:
        """Print a line."""
        print(f"   {text}", file=sys.stderr, flush=True)


def real_lab(given: argparse.Namespace, **parser: object) -> tuple[Lab, Target]:
    """A lab of small parsers, and the target; `parser` are changes of the parsers' settings."""
    if not SHARED.exists():
        sys.exit(f"no real data in {SHARED}: name its folder in TREEBRIDGE_SHARED")
    here = SHARED / "encoders"
    encoder = given.encoder or str(here / f"{given.language}-marian-tiny")
    english = given.source_encoder or str(here / "en-marian-tiny")
    encoders = {"en": english, given.language: encoder}
    supply = Supply(SHARED / "data", "dev", pairs=given.pairs, encoders=encoders, offline=True)
    settings = LabSettings(
        ParserSettings.preset("small", **{"tags": given.tags, "epochs": given.epochs, **parser}),
        encoding=EncoderSettings(offline=True),
    )
    return Lab(supply.source(), settings, given.output, Said()), supply.target(given.language)


def print_scores(name: str, lab: Lab, target: Target, parser: Parser) -> None:
    """Score a parser, across a bridge already, on the target's dev file."""
    found = score(lab.trees(target), lab.parse(parser, target, "own")).values
    figures = "  ".join(f"{metric} {found[metric]:.2f}" for metric in ("UAS", "LAS"))
    tags = f"  UPOS {found['UPOS']:.2f}" if lab.settings.parser.tags == "predicted" else ""
    print(f"{name:40} {figures}{tags}", flush=True)
