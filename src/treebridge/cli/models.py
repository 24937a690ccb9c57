"""`treebridge models`."""

from __future__ import annotations

from treebridge.cli.app import command


@command("models", "treebridge models")
def models() -> None:
    """List the models shipped with the package."""
    from treebridge.show.models import show_models

    show_models()
