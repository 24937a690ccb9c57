"""Benchmarks find the real data where the tests do, and `make bench` runs all that can run."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

LIST_PATHS = """
import runpy, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
for file in sorted(Path(sys.argv[1]).glob("*.py")):
    for name, value in runpy.run_path(str(file), run_name="asked").items():
        if isinstance(value, Path):
            print(file.name, name, value)
"""


def test_all_real_data_is_looked_for_in_one_place(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIST_PATHS, str(ROOT / "benchmarks")],
        env={**os.environ, "TREEBRIDGE_SHARED": str(tmp_path / "elsewhere")},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    found = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert sum(name == "SHARED" for _, name, _ in found) >= 14
    for file, name, path in found:
        assert Path(path) == ROOT or path.startswith(str(tmp_path / "elsewhere")), (file, name)


def test_one_that_needs_arguments_is_left_out_and_one_that_fails_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(ROOT / "benchmarks" / "run_all.py"))["main"]
    required = "import argparse\np = argparse.ArgumentParser()\n{}p.parse_args()\nprint('ran c')\n"
    (tmp_path / "a.py").write_text("print('ran a')\n")
    (tmp_path / "b.py").write_text("import sys\nsys.exit('no real data')\n")
    (tmp_path / "c.py").write_text(required.format(""))
    (tmp_path / "d.py").write_text(required.format("p.add_argument('--model', required = True)\n"))
    with pytest.raises(SystemExit, match=r"^failed: b\.py$"):
        main(tmp_path)
    out, err = capfd.readouterr()
    assert out.index("ran a") < out.index("== b.py") < out.index("ran c") < out.index("left out")
    assert "the following arguments are required: --model" in err
    (tmp_path / "b.py").unlink()
    main(tmp_path)
