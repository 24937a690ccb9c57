"""Training results on the terminal, and the learning curve."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from treebridge.folders import add_to_note
from treebridge.parse.metrics import Metrics
from treebridge.parse.verdict import parser_verdict
from treebridge.recipes.train import Trained
from treebridge.writing import write_file

CURVE = "learning-curve.png"


def show_trained(trained: Trained) -> None:
    """Print the parser's folder and dev scores, and what is wrong with it, if anything."""
    best = trained.parser.scores
    if trained.found:
        print(f"{trained.folder}: already trained on the same trees with the same settings")
    print(
        f"{trained.folder}: UAS {best['UAS']:.2f}, LAS {best['LAS']:.2f} on dev after epoch "
        f"{best['epoch']:.0f} (convention paper)"
    )
    for source in trained.parser.about.get("sources", []):
        print(
            f"also: {source['treebank']} ({source['licence'] or 'licence unknown'}), "
            f"{source['sentences']:,} sentences, {source['weight']:.1f} times per epoch"
        )
    if verdict := parser_verdict(best):
        print(f"parser: {verdict}")


def as_dict(trained: Trained) -> dict[str, Any]:
    """The figures for `--json`."""
    about = trained.parser.about
    return {
        "folder": str(trained.folder),
        "found": trained.found,
        "scores": trained.parser.scores,
        "treebank": about.get("treebank"),
        "licence": about.get("licence"),
        "sources": about.get("sources", []),
    }


def save_curve(trained: Trained) -> None:
    """Save the learning curve in the parser's folder, if matplotlib is installed."""
    if not trained.found and (picture := draw_curve(trained.parser.history)):
        write_file(trained.folder / CURVE, picture)
        add_to_note(trained.folder, CURVE)


def draw_curve(history: Sequence[Metrics]) -> bytes | None:
    """Loss and dev scores by epoch as PNG; None if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    left = figure.subplots()
    right = left.twinx()
    epochs = [entry["epoch"] for entry in history]
    lines = left.plot(epochs, [entry["loss"] for entry in history], "C7--", label="loss")
    for name, colour in (("UAS", "C0"), ("LAS", "C1")):
        lines += right.plot(epochs, [entry[name] for entry in history], colour, label=name)
    left.set(xlabel="epoch", ylabel="training loss per word")
    right.set_ylabel("dev score, percent")
    left.legend(handles=lines, loc="center right")
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    return picture.getvalue()
