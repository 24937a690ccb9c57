"""CoNLL-U: everything survives a round trip, and everything malformed is named."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tracemalloc
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from strategies import conllu_blocks, tree_heads
from treebridge import Sentence, Treebank, TreebridgeError
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.trees import is_projective, tree_problem

GOOD = """\
# sent_id = 1
# text = Vámonos al mar
1-2	Vámonos	_	_	_	_	_	_	_	_
1	Vamos	ir	VERB	_	_	0	root	0:root	_
2	nos	nosotros	PRON	_	_	1	obj	1:obj	_
3-4	al	_	_	_	_	_	_	_	_
3	a	a	ADP	_	_	5	case	_	_
4	el	el	DET	_	_	5	det	_	_
5	mar	mar	NOUN	_	_	1	obl	_	SpaceAfter=No
5.1	ido	ir	VERB	_	_	_	_	1:conj	_

"""
TWO_WORDS = "1\tA\ta\tX\t_\t_\t{0}\tdep\t_\t_\n2\tB\tb\tX\t_\t_\t{1}\tdep\t_\t_\n\n"


class Named(io.BytesIO):
    name = "file.conllu"


def read(text: str | bytes, **settings) -> list[Sentence]:
    data = text.encode() if isinstance(text, str) else text
    return list(read_conllu(Named(data), **settings))


def write(sentences: list[Sentence]) -> str:
    return "".join(sentence.to_conllu() for sentence in sentences)


def test_what_a_sentence_says() -> None:
    (sentence,) = read(GOOD)
    assert sentence.forms == ("Vamos", "nos", "a", "el", "mar")
    assert sentence.heads == (0, 1, 5, 5, 1)
    assert sentence.upos[0] == "VERB" and sentence.deprels[-1] == "obl"
    assert [word.form for word in sentence if word.head == 5] == ["a", "el"]
    assert sentence.comment("sent_id") == "1"
    assert sentence.text == "Vámonos al mar"
    assert Sentence(sentence.lines, sentence.positions, sentence.heads).text == "Vámonos al mar"


def test_annotating_leaves_everything_else_alone() -> None:
    (sentence,) = read(GOOD)
    changed = sentence.annotate(heads=[5, 1, 1, 1, 0], deprels=["x"] * 5, upos=["X"] * 5)
    expected = GOOD
    for old, new in [
        ("VERB\t_\t_\t0\troot", "X\t_\t_\t5\tx"),
        ("PRON\t_\t_\t1\tobj", "X\t_\t_\t1\tx"),
        ("ADP\t_\t_\t5\tcase", "X\t_\t_\t1\tx"),
        ("DET\t_\t_\t5\tdet", "X\t_\t_\t1\tx"),
        ("NOUN\t_\t_\t1\tobl", "X\t_\t_\t0\tx"),
    ]:
        expected = expected.replace(old, new)
    assert changed.to_conllu() == expected
    assert changed.heads == (5, 1, 1, 1, 0)
    assert sentence.to_conllu() == GOOD
    with pytest.raises(ValueError, match="2 values for a sentence of 5 words"):
        sentence.annotate(heads=[0, 1])


@given(st.lists(conllu_blocks(), max_size=4))
def test_round_trip(blocks: list[str]) -> None:
    text = "".join(blocks)
    assert write(read(text)) == text


@given(st.lists(conllu_blocks(), min_size=1, max_size=3), st.randoms())
def test_other_line_ends_bom_and_missing_last_line(blocks: list[str], rng: random.Random) -> None:
    text = "".join(blocks)
    windows = b"\xef\xbb\xbf" + text.encode().replace(b"\n", b"\r\n")
    assert write(read(windows)) == text
    assert write(read(text.rstrip("\n"))) == text
    assert write(read("\n\n" + text.replace("\n\n", "\n \t\n\n\n"))) == text


@given(conllu_blocks(), st.integers(1, 9))
def test_any_chunk_size(block: str, size: int) -> None:
    class Trickle(io.BytesIO):
        def read1(self, _: int = -1) -> bytes:
            return super().read1(size)

    text = block * 3
    assert write(list(read_conllu(Trickle(text.encode())))) == text


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed(compress, tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(compress(GOOD.encode()))
    assert write(list(read_conllu(path))) == GOOD
    path.write_bytes(compress(GOOD.encode() * 500)[:-12])
    with pytest.raises(TreebridgeError, match=r"any.name: the file is damaged or truncated"):
        list(read_conllu(path))


ROW = "1\tA\ta\tX\t_\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("# c\n1\tA\ta\tX\t_\t_\t0\troot\t_\n\n", 2, "expected 10 columns, found 9"),
        ("1 A a X _ _ 0 root _ _\n\n", 1, "separated by tabs, not spaces"),
        (GOOD + TWO_WORDS.format(0, "x"), 13, "HEAD 'x' is not a number from 0 to 2"),
        (TWO_WORDS.format(0, "-1"), 2, "HEAD '-1' is not a number from 0 to 2"),
        (TWO_WORDS.format(0, "²"), 2, "HEAD '²' is not a number"),
        (TWO_WORDS.format(3, 0), 1, "HEAD 3 is out of range: the sentence has 2 words"),
        (ROW + ROW + "\n", 2, "ID 1 occurs twice"),
        (ROW + ROW.replace("1", "3", 1) + "\n", 2, "expected ID 2, found 3"),
        (ROW.replace("1", "x", 1) + "\n", 1, "ID 'x' is not a number"),
        (ROW + ROW.replace("1", "1-2", 1) + "\n", 2, "must come right before its first word"),
        (ROW.replace("1", "1-2", 1) + ROW + "\n", 2, "ends at 2: the sentence has 1 words"),
        (ROW + ROW.replace("1", "2.1", 1) + "\n", 2, "empty node 2.1 is out of place"),
        (ROW + "# late\n" + "\n", 2, "a comment between words"),
        ("1\t\ta\tX\t_\t_\t0\troot\t_\t_\n\n", 1, "FORM is empty"),
    ],
)
def test_malformed_input_is_named(text: str, line: int, message: str) -> None:
    with pytest.raises(TreebridgeError) as caught:
        read(text)
    assert str(caught.value).startswith(f"file.conllu:{line}: ")
    assert message in str(caught.value)


def test_bad_encodings() -> None:
    with pytest.raises(TreebridgeError, match=r"file.conllu:6: byte 0xe1 is not UTF-8.*iconv"):
        read(b"# a\n# b\n\n" + GOOD.encode("latin-1").replace(b"# text = V\xe1monos", b"# text"))
    with pytest.raises(TreebridgeError, match=r"file.conllu:1: this is UTF-16"):
        read(GOOD.encode("utf-16"))


@pytest.mark.parametrize(
    ("heads", "line", "message"),
    [
        ((2, 1), 1, "no word has HEAD 0"),
        ((0, 0), 2, "2 words have HEAD 0"),
        ((0, 2), 2, "run into a cycle"),
        ((0, "_"), 2, "HEAD is _"),
    ],
)
def test_trees_where_trees_are_required(heads, line: int, message: str) -> None:
    text = TWO_WORDS.format(*heads)
    assert write(read(text)) == text
    with pytest.raises(TreebridgeError, match=rf"file.conllu:{line}: .*{message}"):
        read(text, trees="required")
    if "_" in heads:
        assert write(read(text, trees="checked")) == text


def test_problems_can_be_collected() -> None:
    problems: list[TreebridgeError] = []
    text = GOOD + "1\tbad\n\n" + GOOD + TWO_WORDS.format(2, 1) + GOOD
    sentences = read(text, trees="checked", on_problem=problems.append)
    assert write(sentences) == GOOD * 3
    assert [problem.line for problem in problems] == [12, 25]


def test_a_file_of_another_kind_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treebridge.corpus.conllu.MAX_SENTENCE", 1000)
    with pytest.raises(TreebridgeError, match="no blank line in 1000 characters"):
        read("word\n" * 1000)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_tree_problem_against_networkx(heads: list[int]) -> None:
    heads = [min(head, len(heads)) for head in heads]
    graph = nx.DiGraph((head, word) for word, head in enumerate(heads, 1))
    is_tree = nx.is_arborescence(graph) and heads.count(0) == 1 and len(graph) == len(heads) + 1
    assert (tree_problem(heads) is None) == is_tree


@given(tree_heads())
def test_projectivity_against_the_definition(heads: list[int]) -> None:
    arcs = [(min(i, h), max(i, h)) for i, h in enumerate(heads, 1)]
    crossing = any(a < c < b < d for a, b in arcs for c, d in arcs)
    assert is_projective(heads) == (not crossing)


def test_treebank_is_a_sequence(tmp_path: Path) -> None:
    path = tmp_path / "new" / "t.conllu"
    path.parent.mkdir()
    path.write_text(GOOD * 3, encoding="utf-8")
    treebank = Treebank.read(path)
    assert len(treebank) == 3 and len(treebank[1:]) == 2
    treebank[:2].write(path)
    assert path.read_text(encoding="utf-8") == GOOD * 2
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "t.conllu"
    path.write_text("old")
    with pytest.raises(AttributeError):
        Treebank([*read(GOOD), None]).write(path)  # type: ignore[list-item]
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.conllu"

    def peak(copies: int) -> int:
        path.write_text(GOOD * copies, encoding="utf-8")
        tracemalloc.start()
        assert sum(1 for _ in read_conllu(path)) == copies
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(40_000) < 1.3 * peak(10_000)


def test_real_treebanks_round_trip(shared: Path) -> None:
    files = sorted((shared / "data" / "ud-2.6").glob("*/*.conllu"))
    assert len(files) == 9
    for path in files:
        text = "".join(s.to_conllu() for s in read_conllu(path, trees="required"))
        assert text.encode() == path.read_bytes(), path.name


def test_standard_input(run: Run) -> None:
    done = run("inspect", "--as", "treebank", "--json", "-", stdin=gzip.compress(GOOD.encode()))
    assert done.returncode == 0 and '"words": 5' in done.stdout
