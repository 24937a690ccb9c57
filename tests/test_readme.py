"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def test_python_blocks_print_what_the_readme_shows() -> None:
    blocks = re.findall(
        r"```python\n(.*?)```\n+```\n(.*?)```", README.read_text("utf-8"), re.DOTALL
    )
    assert blocks
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(README), "exec"), {})
        assert printed.getvalue().startswith(shown.partition("…")[0])
