"""Joining two bitexts that share a side."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.pivot import join_bitexts

WORDS = st.text("abc", min_size=1, max_size=2)
SIDE = st.dictionaries(WORDS, st.text("xyz", min_size=1, max_size=3), min_size=1)


def write(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    return path


@given(SIDE, SIDE)
def test_what_both_share_is_joined(
    tmp_path_factory: object, one: dict[str, str], other: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("pivot")  # type: ignore[attr-defined]
    files = [write(folder / f"en-{n}.tsv", [*d.items()]) for n, d in (("es", one), ("pt", other))]
    joined = list(join_bitexts(*(Bitext.read(file) for file in files)))
    assert joined == [(one[pivot], text) for pivot, text in other.items() if pivot in one]


def test_a_repeated_sentence_counts_once_and_spaces_do_not_matter(tmp_path: Path) -> None:
    one = write(tmp_path / "en-es.tsv", [("a  b", "uno"), ("a b", "dos"), ("c", "tres")])
    other = write(tmp_path / "en-pt.tsv", [("a b", "um"), ("a b", "dois"), ("d", "quatro")])
    assert list(join_bitexts(Bitext.read(one), Bitext.read(other))) == [("uno", "um")]


def test_the_command(here: Run, tmp_path: Path) -> None:
    one = write(tmp_path / "en-es.tsv", [("a", "uno"), ("b", "dos")])
    other = write(tmp_path / "en-pt.tsv", [("b", "dois"), ("c", "tres")])
    made = here("pivot", one, other, "-o", tmp_path / "es-pt.tsv", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["pairs"] == 1
    assert (tmp_path / "es-pt.tsv").read_text(encoding="utf-8") == "dos\tdois\n"
    assert here("pivot", one, other).stdout == "dos\tdois\n"
    swapped = here("pivot", one, write(tmp_path / "pt-en.tsv", [("dois", "b")]))
    assert swapped.returncode == 2
    assert "no sentence occurs in both" in swapped.stderr and not swapped.stdout
