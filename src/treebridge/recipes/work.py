"""The hidden folder beside an output that holds unfinished work."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from treebridge.errors import NotWritable, TreebridgeError


def work_folder(output: Path, doing: str) -> Path:
    """The folder for an output's checkpoints while it is being made."""
    return output.absolute().with_name(f".{output.name}.{doing}")


@contextmanager
def working(output: Path, doing: str, *, resume: bool = True) -> Iterator[Path]:
    """Provide a folder for checkpoints; delete it when the work is done, keep it if interrupted.

    Invalid input also deletes it, unless it holds the work of an earlier run.
    """
    folder = work_folder(output, doing)
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
    existed = folder.exists()
    try:
        yield folder
    except TreebridgeError as error:
        if not existed and not isinstance(error, NotWritable):
            shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
