"""Every benchmark, one after the other, for hours: `make bench`.

One that cannot run without arguments says what it needs, ends with argparse's exit code 2 and is
left out. Others that fail do not stop the rest, and are named at the end.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

USAGE = 2  # the exit code of argparse where an argument is missing


def run_all(files: Sequence[Path]) -> list[str]:
    """Run each file; return the names of those that failed."""
    failed = []
    for file in files:
        print(f"== {file.name}", flush=True)
        code = subprocess.run([sys.executable, str(file)], check=False).returncode
        if code == USAGE:
            print(f"left out; see: python {file} --help", flush=True)
        elif code:
            failed.append(file.name)
    return failed


def main(folder: Path = Path(__file__).parent) -> None:
    failed = run_all(sorted(file for file in folder.glob("*.py") if file.name != "run_all.py"))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
