"""The hidden folder beside an output that holds unfinished work."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from treebridge.errors import NotWritable, TreebridgeError


def work_folder(output: Path, doing: str) -> Path:
    """Where the checkpoints of an output lie while it is being made."""
    return output.absolute().with_name(f".{output.name}.{doing}")


@contextmanager
def working(output: Path, doing: str, *, resume: bool = True) -> Iterator[Path]:
    """A folder for checkpoints; it goes when the work is done and stays after an interruption.

    Bad input leaves nothing behind, unless an earlier run had begun the work.
    """
    folder = work_folder(output, doing)
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
    begun = folder.exists()
    try:
        yield folder
    except TreebridgeError as error:
        if not begun and not isinstance(error, NotWritable):
            shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
