"""Write trees as CoNLL-U, JSON lines, text or pictures to standard output, a file or a folder."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from treebridge.corpus.files import write_text
from treebridge.corpus.sentence import Sentence
from treebridge.errors import OutputExists, TreebridgeError
from treebridge.parse.confidence import SCORE, confidences
from treebridge.writing import filling, is_stream

Trees = Iterable[Sentence]


def check_output(output: Path | None, kind: str, *, force: bool) -> None:
    """Check, before any work is done, that the output can be written."""
    if output is None or is_stream(output):
        return
    if output.exists() and not force:
        what = "folder" if output.is_dir() else "file"
        raise OutputExists(f"this {what} exists", file=output)
    if kind != "svg" and output.is_dir():
        raise TreebridgeError("this is a folder; choose a file inside it", file=output)
    if kind == "svg" and output.is_file() and output.suffix != ".svg":
        raise TreebridgeError(
            "expected a folder or an .svg file for pictures, found another file", file=output
        )


def write_conllu(trees: Trees, output: Path | None, columns: Sequence[str] = ()) -> None:
    """Write CoNLL-U, one sentence at a time; it has all columns anyway."""
    _write((tree.to_conllu() for tree in trees), output)


def write_json(trees: Trees, output: Path | None, columns: Sequence[str] = ()) -> None:
    """Write one JSON object per line; it has all columns anyway."""
    _write((json.dumps(as_dict(t), ensure_ascii=False) + "\n" for t in trees), output)


def write_drawn(trees: Trees, output: Path | None, columns: Sequence[str] = ()) -> None:
    """Write drawings as text, cut to the width of the terminal."""
    width = shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else None
    _write((_drawn(tree, width, columns) for tree in trees), output)


def write_html(trees: Trees, output: Path | None, columns: Sequence[str] = ()) -> None:
    """Write one HTML page."""
    from treebridge.show.html import html_page

    _write(html_page(trees, output.stem if output else "Trees", columns), output)


def write_svg(trees: Trees, output: Path | None, columns: Sequence[str] = ()) -> None:
    """Write one picture, or a folder with one picture per sentence."""
    if output is not None and output.suffix != ".svg" and not is_stream(output):
        pictures = (tree.draw(format="svg", columns=columns) + "\n" for tree in trees)
        _write_pictures(pictures, output)
        return
    tree, *more = _first_two(trees)
    if more:
        raise TreebridgeError(
            "several sentences give several pictures; choose a folder as output, or the format html"
        )
    _write([tree.draw(format="svg", columns=columns) + "\n"], output)


Writer = Callable[[Trees, Path | None, Sequence[str]], None]
WRITERS: dict[str, Writer] = {
    "conllu": write_conllu,
    "json": write_json,
    "text": write_drawn,
    "svg": write_svg,
    "html": write_html,
}


def as_dict(sentence: Sentence) -> dict[str, Any]:
    """The sentence as plain objects, with probabilities where they are known."""
    made = sentence.to_dict()
    if (score := sentence.comment(SCORE)) is not None:
        made["score"] = float(score)
    for word, found in zip(made["words"], confidences(sentence), strict=True):
        if found:
            word |= {"arc_probability": found.arc, "label_probability": found.label}
    return made


def _drawn(tree: Sentence, width: int | None, columns: Sequence[str]) -> str:
    return f"{tree.text}\n{tree.draw(width=width, columns=columns)}\n\n"


def _first_two(trees: Trees) -> list[Sentence]:
    some = []
    for tree in trees:
        some.append(tree)
        if len(some) == 2:
            break
    if not some:
        raise TreebridgeError("no sentences to draw")
    return some


def _write(pieces: Iterable[str], output: Path | None) -> None:
    """Write and flush whole pieces; an interrupted run keeps the pieces written so far."""
    if output is None:
        _write_whole(pieces, sys.stdout)
        return
    interrupted = _Interrupted()
    with write_text(output) as stream, interrupted:
        _write_whole(pieces, stream)
    interrupted.resume(output)


def _write_pictures(pictures: Iterable[str], output: Path) -> None:
    """Write one file per picture into a new folder, which appears only when it is complete."""
    interrupted = _Interrupted()
    with filling(output) as folder, interrupted:
        for number, picture in enumerate(pictures, 1):
            with _uninterrupted():
                (folder / f"{number:04d}.svg").write_text(picture, encoding="utf-8")
    interrupted.resume(output)


class _Interrupted(suppress):
    """Delays Ctrl-C until the output is in place, so that finished sentences are kept."""

    def __init__(self) -> None:
        super().__init__(KeyboardInterrupt)
        self.pressed = False

    def __exit__(self, *error: Any) -> bool:
        self.pressed = super().__exit__(*error)
        return self.pressed

    def resume(self, output: Path) -> None:
        """End the program now, if Ctrl-C was pressed."""
        if self.pressed:
            print(f"{output} has the sentences finished so far", file=sys.stderr)
            raise KeyboardInterrupt


def _write_whole(pieces: Iterable[str], stream: Any) -> None:
    iterator = iter(pieces)
    try:
        for piece in iterator:
            with _uninterrupted():
                stream.write(piece)
                stream.flush()
    except KeyboardInterrupt:
        if isinstance(iterator, Iterator) and hasattr(iterator, "throw"):
            # Let a page write its end.
            stream.writelines(_rest(iterator))
        raise


def _rest(iterator: Any) -> Iterator[str]:
    try:
        yield iterator.throw(KeyboardInterrupt)
    except (KeyboardInterrupt, StopIteration):
        return


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the block ends, so that no sentence is cut off."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
