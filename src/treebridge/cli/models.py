"""`treebridge models`."""

from __future__ import annotations

from treebridge.cli.app import app


@app.command()
def models() -> None:
    """Which models come with the package."""
    from treebridge.show.models import show_models

    show_models()
