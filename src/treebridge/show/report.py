"""A report as one HTML file: headings, paragraphs, tables, figures, commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from treebridge.corpus.files import write_text

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color:#222;background:#fff}h2{margin-top:2.5rem}table{border-collapse:collapse}"
    "td,th{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #ddd;vertical-align:top}"
    ".n{text-align:right;white-space:nowrap}pre{font:14px/1.4 ui-monospace,monospace;"
    "overflow-x:auto;background:#f5f5f5;padding:.75rem}figure{margin:1rem 0;overflow-x:auto}"
    "figcaption{color:#555;font-size:90%}"
)


class Report:
    """The parts of a report, in order; `write` saves them."""

    def __init__(self, title: str):
        self.title = title
        self._parts = [f"<h1>{escape(title)}</h1>"]

    def heading(self, text: str) -> None:
        """Start a section."""
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{escape(text)}</p>")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table; text between ** and ** is bold."""
        lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
        lines += ["".join(map(_cell, row)) for row in rows]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        self._parts.append(f"<table>{body}</table>")

    def figure(self, svg: str, caption: str) -> None:
        """Add an SVG with a caption."""
        caption = f"<figcaption>{escape(caption)}</figcaption>"
        self._parts.append(f"<figure>{svg}{caption}</figure>")

    def points(self, texts: Sequence[str]) -> None:
        """Add a bulleted list."""
        items = "".join(f"<li>{escape(text)}</li>" for text in texts)
        self._parts.append(f"<ul>{items}</ul>")

    def commands(self, lines: str) -> None:
        """Add commands to type."""
        self._parts.append(f"<pre>{escape(lines)}</pre>")

    def write(self, path: Path) -> None:
        """Write one self-contained file."""
        with write_text(path) as stream:
            stream.write(
                '<!DOCTYPE html><html lang="en"><meta charset="utf-8">'
                f"<title>{escape(self.title)}</title><style>{_STYLE}</style>"
                + "\n".join(self._parts)
                + "</html>\n"
            )


def _cell(text: str) -> str:
    number = ' class="n"' if re.fullmatch(r"[\d.*]+", text) else ""
    marked = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text))
    return f"<td{number}>{marked}</td>"
