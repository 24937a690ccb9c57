"""`treebridge bridge`, and what people see of a bridge."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from treebridge.bridge.bridge import KIND, Bridge
from treebridge.bridge.make import MakeSettings, Reports, bridge_key, make_bridge
from treebridge.cluster.engine import ClusterSettings
from treebridge.cluster.pieces import ray_crew
from treebridge.corpus.bitext import Bitext
from treebridge.encode.encoder import Encoder, EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.folders import check_free, is_finished
from treebridge.parse.parser import Parser
from treebridge.parse.verdict import bridge_verdict
from treebridge.show.progress import watch


def bridge_files(
    bitext: Bitext,
    source_name: str | None,
    target_name: str,
    parser: Path | None,
    output: Path,
    settings: MakeSettings,
    encoding: EncoderSettings,
    *,
    parsers_layers: bool,
    as_json: bool,
    cluster: ClusterSettings | None = None,
    force: bool = False,
) -> None:
    """Make a bridge, here or on a cluster, write its folder, show how good it is.

    With `parsers_layers` the target's encoder gives the layers that the parser was trained on.
    """
    check_free(output, KIND)
    leads_to = Parser.load(parser) if parser else None
    into = leads_to.space if leads_to else None
    if into is None and source_name is None:
        raise TreebridgeError(
            "--into PARSER says where the bridge leads; without one, --source ENCODER"
        )
    started = time.perf_counter()
    there = replace(encoding, layers=into.layers or encoding.layers) if into else encoding
    source = Encoder.load(source_name or (into.encoder if into else ""), there)
    target = Encoder.load(target_name, there if parsers_layers else encoding)

    key = bridge_key(bitext, source, target, into, settings)
    if is_finished(output, KIND, key, force=force):
        print("already made from the same bitext, encoders and settings", file=sys.stderr)
        _report(Bridge.load(output), output, as_json=as_json)
        return

    def step(what: str) -> None:
        print(f"{what} … ({time.perf_counter() - started:.0f} s)", file=sys.stderr)

    reports = Reports(pairs=watch("pairs"), senses=watch("groups of words"), step=step)
    with ray_crew(cluster) if cluster else nullcontext() as crew:
        bridge = make_bridge(bitext, source, target, into, settings, reports, crew)
    if leads_to:
        bridge.quality["verdict"] = bridge_verdict(bridge.quality, leads_to.scores)
    bridge.save(output, key=key)
    _report(bridge, output, as_json=as_json)


def _report(bridge: Bridge, path: Path, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"made": bridge.made, "quality": bridge.quality}, ensure_ascii=False))
    else:
        show_bridge(bridge, path)


def show_bridge(bridge: Bridge, path: Path) -> None:
    """The quality block."""
    q = bridge.quality
    console = Console()
    table = Table(
        title=Text(f"{path}: bridge", "bold"), title_justify="left", box=None, show_header=False
    )
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    rows = {
        "from": bridge.target.encoder,
        "into": bridge.into.encoder,
        "links": f"{q['links']:,}, of {100 * q['linked_target_words']:.0f} % of the target words",
        "occurrences kept": f"{q['occurrences']:,} of {q['types']:,} types",
        "anchors": f"{q['anchors']:,}; {q['types_with_several_senses']:,} with several senses",
        "anisotropy, target": _change(q["anisotropy"], "target"),
        "anisotropy, source": _change(q["anisotropy"], "source"),
        "cosine of anchors": f"{q['anchor_cosine']:.3f}",
        "cosine, held out": f"{q['cosine_unmapped']:.3f} unmapped → {q['cosine']:.3f}",
        "target → source": _retrieval(q["target_to_source"]),
        "source → target": _retrieval(q["source_to_target"]),
        "unmapped": _retrieval(q["unmapped"]),
        "verdict": q.get("verdict", "nothing was held out"),
    }
    for name, value in rows.items():
        table.add_row(name, value)
    console.print(table)


def _change(figures: dict[str, float], side: str) -> str:
    return f"{figures[side]:.3f} → {figures[f'{side}_isotropic']:.4f}"


def _retrieval(figures: dict[str, float]) -> str:
    if not figures:
        return "not comparable (different dimensions)"
    return (
        f"P@1 {figures['nn_p1']:.1f} %, P@5 {figures['nn_p5']:.1f} %; "
        f"with CSLS {figures['csls_p1']:.1f} % and {figures['csls_p5']:.1f} %"
    )


def inspect_bridge(path: Path, words: Sequence[str], *, as_json: bool) -> None:
    """Show a bridge's quality, or the senses of some words in it."""
    bridge = Bridge.load(path)
    if not words:
        _report(bridge, path, as_json=as_json)
        return
    for word in words:
        senses = [sense for sense in bridge.senses if sense["word"] == word.lower()]
        if as_json:
            print(json.dumps({"word": word, "senses": senses}, ensure_ascii=False))
        else:
            _show_word(word, senses, bridge)


def _show_word(word: str, senses: list[dict[str, Any]], bridge: Bridge) -> None:
    console = Console()
    if not senses:
        console.print(f"[bold]{word}[/] is no anchor of this bridge: {_why_none(bridge)}")
        return
    table = Table("sense", "size", "source words", "typical contexts", box=None, header_style="dim")
    for sense in senses:
        sources = ", ".join(f"{w} {n}" for w, n in sense["source"].items())
        table.add_row(
            str(sense["sense"]), f"{sense['size']:,}", sources, Text("\n".join(sense["contexts"]))
        )
    console.print(f"[bold]{word}[/]")
    console.print(table)


def _why_none(bridge: Bridge) -> str:
    """Why a word may be missing, by the settings that the bridge was made with."""
    reasons = f"linked fewer than {bridge.made.get('collect_min_per_type', 5)} times"
    if bridge.made.get("collect_anchor_words") == "whole":
        reasons += ", or not a single piece of the vocabulary"
    return reasons
