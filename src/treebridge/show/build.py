"""`treebridge build`: from a treebank and a bitext to one folder that parses the target."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from treebridge.artefact import read_config
from treebridge.bridge.bridge import BridgeSettings
from treebridge.corpus.bitext import Bitext
from treebridge.errors import TreebridgeError
from treebridge.experiment.crossing import Fitted
from treebridge.experiment.lab import Lab, LabSettings
from treebridge.experiment.material import Source, Target
from treebridge.experiment.refining import Refined
from treebridge.folders import check_free, is_finished
from treebridge.keys import key_of
from treebridge.parse.folder import FORMAT, KIND
from treebridge.parse.verdict import bridge_verdict, parser_verdict
from treebridge.show.reproduce import talk

NOTHING = 1.0  # seconds; a step that takes less found its result


class Stopwatch:
    """How long each step took, in the order in which they began."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._now: str | None = None
        self._since = 0.0

    def begin(self, step: str | None) -> None:
        """End the present step and begin another one, or none."""
        now = time.perf_counter()
        if self._now is not None:
            self.seconds[self._now] = self.seconds.get(self._now, 0) + now - self._since
        self._now, self._since = step, now


def build_parser(
    treebank: str,
    dev: str | None,
    bitext: Bitext,
    encoders: tuple[str, str],
    output: Path,
    settings: LabSettings,
    fit: BridgeSettings,
    seed: int,
    *,
    refine: bool = False,
    force: bool = False,
) -> None:
    """Align, collect, train and bridge; a step whose result is there already is not done again.

    With `refine` the bridged parser goes on learning from the same bitext. What later builds can
    use stays in the output's hidden neighbour.
    """
    check_free(output, KIND)
    source = Source("source", "source", (), {"own": encoders[0]}, Path(treebank),
                    Path(dev) if dev else None)  # fmt: skip
    target = Target("target", "target", (), {"own": encoders[1]}, bitext)
    watch = Stopwatch()
    said = talk()

    def step(what: str) -> None:
        watch.begin(what)
        said.say(f"{what} …")

    said.reports = replace(said.reports, step=step)
    work = output.absolute().with_name(f".{output.name}.building")
    lab = Lab(source, settings, work, said)
    step("reading")
    crossing = Refined(Fitted(fit)) if refine else Fitted(fit)
    key = key_of(lab.parser_key("own", True, seed), crossing.key(lab, target, "own"))
    found = not force and _built(output) == key
    if found or is_finished(output, KIND, key, force=force):
        print(f"{output}: there already, from the same treebank, bitext, encoders and settings")
        return
    lab.gathered(target, "own")
    step("training")
    parser = lab.parser("own", True, seed)
    step("bridging")
    bridge = lab.bridge(target, "own", parser.space, fit, dossier=True)
    if refine:
        step("refining")
    bridged = crossing.cross(lab, target, "own", parser)
    step("saving")
    bridged.about = {**parser.about, "treebank": Path(treebank).name,
                     "dev": Path(dev).name if dev else "held out"}  # fmt: skip
    if refine:
        bridged.about["refined"] = {"bitext": bridge.made["bitext"], "seed": seed}
    if "judging by held-out pairs" in watch.seconds:
        watch.seconds.pop("bridging")  # a new bridge has reported its own steps
    bridged.save(output, key=key)
    watch.begin(None)
    verdicts = parser_verdict(parser.scores), bridge_verdict(bridge.quality, parser.scores)
    _show(output, watch.seconds, parser.scores, *verdicts)


def _built(output: Path) -> str | None:
    """The key of a parser that was built before keys were kept in notes."""
    try:
        key = read_config(output, KIND, FORMAT).get("about", {}).get("build")
    except TreebridgeError:
        return None
    return None if key is None else str(key)


def _show(
    output: Path,
    seconds: dict[str, float],
    scores: dict[str, float],
    parser: str | None,
    bridge: str,
) -> None:
    console = Console(highlight=False)
    grid = Grid("step", "seconds", "share", "", box=None)
    for column in grid.columns[1:3]:
        column.justify = "right"
    total = sum(seconds.values())
    for name, spent in seconds.items():
        note = "its result was there" if spent < NOTHING and name not in _QUICK else ""
        grid.add_row(name, f"{spent:,.0f}", f"{100 * spent / total:.0f} %", note)
    grid.add_row("all", f"{total:,.0f}", "", "")
    console.print(grid)
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    facts: Sequence[str] = (
        f"\n{output}: parser, bridge and encoder in one folder ({size / 1e6:,.0f} MB)",
        f"source trees: UAS {scores['UAS']:.2f}, LAS {scores['LAS']:.2f} on dev",
        *([f"parser: {parser}"] if parser else []),
        f"bridge: {bridge}",
        f"\n  treebridge parse --model {output} text.txt",
        f"  treebridge evaluate --model {output} gold.conllu",
    )
    for fact in facts:
        console.print(fact)


_QUICK = ("reading", "saving")
