"""The command, as a user calls it."""

from __future__ import annotations

import subprocess
import sys


def treebridge(*arguments: str) -> str:
    """What it prints; the benchmark ends with its message where it fails."""
    command = [sys.executable, "-m", "treebridge", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"treebridge {' '.join(arguments)} failed:\n{done.stderr.strip()[-2000:]}")
    return done.stdout
