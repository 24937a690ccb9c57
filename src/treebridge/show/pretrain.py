"""Pre-training results on the terminal."""

from __future__ import annotations

from treebridge.recipes.pretrain import Pretrained
from treebridge.show.words import minutes


def show_pretrained(pretrained: Pretrained) -> None:
    """Print a few filled masks and the held-out accuracy."""
    for line in pretrained.examples:
        print(line)
    last = pretrained.history[-1]
    if pretrained.found:
        print(f"{pretrained.folder}: already pre-trained on the same text with the same settings")
        return
    print(
        f"{pretrained.folder}: masked accuracy {last['accuracy']:.3f} on held-out text after "
        f"{last['tokens'] / 1e6:.1f}M tokens, {minutes(last['seconds'])}"
    )
