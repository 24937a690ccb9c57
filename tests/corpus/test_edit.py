"""Edits of sentences: what is not touched stays, what points to a word still points to it."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import cells, conllu_blocks, names, tree_heads
from treebridge import TreebridgeError
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.edit.graph import Graph
from treebridge.corpus.edit.marks import (
    as_decided,
    decided,
    fixed,
    is_done,
    is_open,
    item,
    with_item,
)
from treebridge.corpus.edit.operations import apply
from treebridge.corpus.edit.sentences import join_sentences, split_sentence
from treebridge.corpus.sentence import (
    DEPREL,
    DEPS,
    FEATS,
    FORM,
    HEAD,
    ID,
    LEMMA,
    MISC,
    UPOS,
    Sentence,
)
from treebridge.corpus.trees import partial_problem, tree_problem
from treebridge.progress import Progress


def read(text: str) -> Sentence:
    (sentence,) = read_conllu(io.BytesIO(text.encode()))
    return sentence


@st.composite
def texts(draw: st.DrawFn) -> Sentence:
    """A tree with a raw text, multi-word tokens, empty nodes and enhanced dependencies.

    Every line has a name of its own in MISC (`Name=…`) by which it can be found again.
    """
    heads: list[int | None] = list(draw(tree_heads(max_size=8)))
    n, rows, covered = len(heads), [], 0
    ids = [str(number) for number in range(n + 1)]
    forms = [draw(st.text("abcé", min_size=1, max_size=4)) for _ in heads]
    spaces = [draw(st.booleans()) for _ in heads]
    lines: list[list[str]] = []
    for word in range(n + 1):
        if word:
            if word > covered and word < n and draw(st.integers(0, 3)) == 0:
                covered = draw(st.integers(word + 1, n))
                form = draw(st.sampled_from(["".join(forms[word - 1 : covered]), "xyz"]))
                lines.append([f"{word}-{covered}", form, *["_"] * 7, _misc("m", spaces[word - 1])])
            inside = word <= covered
            if draw(st.integers(0, 5)) == 0:
                heads[word - 1] = None
            head = heads[word - 1]
            row = [ids[word], forms[word - 1], draw(cells), draw(names), "_", draw(names)]
            label = "_" if head is None else "root" if head == 0 else draw(names)
            row += ["_" if head is None else str(head), label, "_"]
            lines.append([*row, _misc("w", inside or spaces[word - 1])])
        for number in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            ids.append(f"{word}.{number + 1}")
            lines.append([ids[-1], draw(cells), *["_"] * 7, _misc("e", True)])
    for number, line in enumerate(lines):
        line[MISC] = line[MISC].replace("Name=", f"Name={number}")
        if "-" not in line[ID]:
            others = draw(st.lists(st.sampled_from(ids), max_size=2, unique=True))
            line[DEPS] = "|".join(f"{one}:x" for one in others if one != line[ID]) or "_"
    rows = ["\t".join(line) for line in lines]
    lit = draw(st.lists(st.sampled_from(ids[1 : n + 1]), unique=True, max_size=3))
    comments = ["# sent_id = a", "# unknown: kept = as it is "]
    comments += [f"# highlight tokens = {' '.join(lit)}"] if lit else []
    sentence = read("\n".join([*comments, *rows, "", ""]))
    sentence.comments = [*comments, f"# text = {surface(sentence)}"]
    return sentence


def _misc(kind: str, space: bool) -> str:
    return "Name=" + kind + ("" if space else "|SpaceAfter=No")


def surface(sentence: Sentence) -> str:
    """The text that the tokens say."""
    parts = (form + ("" if "SpaceAfter=No" in misc else " ") for form, misc in sentence.written())
    return "".join(parts).strip()


def named(sentence: Sentence) -> dict[str, str]:
    """The name of each line by its number."""
    found = zip(sentence.lines[ID], sentence.lines[MISC], strict=True)
    return {"0": "0", **{number: item(misc, "Name") or f"new {number}" for number, misc in found}}


def pointers(sentence: Sentence) -> dict[str, tuple[object, ...]]:
    """What each line points to, by name: its head, its enhanced heads, the end of its range."""
    names, out = named(sentence), {}
    for row in zip(*sentence.lines, strict=True):
        deps = sorted(names[one.split(":")[0]] for one in row[DEPS].split("|") if one != "_")
        ends = tuple(names[end] for end in row[ID].split("-")) if "-" in row[ID] else ()
        out[names[row[ID]]] = names.get(row[HEAD]), deps, ends
    return out


def lit(sentence: Sentence) -> set[str]:
    names = named(sentence)
    return {names[one] for one in (sentence.comment("highlight tokens") or "").split()}


def check(before: Sentence, after: Sentence) -> None:
    """What holds after every edit of words."""
    assert read(after.to_conllu()) == after and after.heads == read(after.to_conllu()).heads
    assert partial_problem(before.heads) or not partial_problem(after.heads)
    assert after.text == before.text == surface(after)
    assert "# unknown: kept = as it is " in after.comments and after.comment("sent_id") == "a"


@given(conllu_blocks())
def test_a_graph_is_written_as_it_was_read(block: str) -> None:
    sentence = read(block)
    again = Graph.of(sentence).sentence()
    assert again.to_conllu() == block and again.heads == tuple(sentence.heads)
    assert list(again.positions) == list(sentence.positions)


@given(conllu_blocks(), st.data())
def test_a_new_head_keeps_the_tree_and_everything_else(block: str, data: st.DataObject) -> None:
    sentence = read(block)
    n = len(sentence)
    word = data.draw(st.integers(1, n))
    head = data.draw(st.integers(0, n).filter(lambda head: head != word))
    made = apply(sentence, "head", word=word, head=head)
    assert made.heads[word - 1] == head and "HEAD" in fixed(made.column(MISC)[word - 1])
    assert read(made.to_conllu()) == made and list(made.comments) == list(sentence.comments)
    if not partial_problem(sentence.heads):
        assert not partial_problem(made.heads)
    if not tree_problem(sentence.heads):
        assert not tree_problem(made.heads)
    for column, (old, new) in enumerate(zip(sentence.lines, made.lines, strict=True)):
        if column not in (HEAD, DEPREL, DEPS, MISC):
            assert old == new
    moved = [i for i in range(n) if sentence.heads[i] != made.heads[i]]
    for i in range(n):
        if i not in moved and i != word - 1:
            assert sentence[i] == made[i]
    roots = [i for i in range(n) if sentence.heads[i] == 0]
    assert len(moved) <= max(2, 1 + len(roots))


@given(conllu_blocks(), st.data())
def test_labels_tags_and_marks_change_one_line(block: str, data: st.DataObject) -> None:
    sentence = read(block)
    word = data.draw(st.integers(1, len(sentence)))
    at = word - 1
    name, arguments, columns = data.draw(
        st.sampled_from(
            [
                ("tag", {"tag": "NOUN"}, {UPOS, MISC}),
                ("label", {"label": "obl:agent"}, {DEPREL, DEPS, MISC}),
                ("cell", {"column": "LEMMA", "value": "a b"}, {LEMMA, MISC}),
                ("confirm", {}, {MISC}),
                ("release", {}, {HEAD, DEPREL, DEPS, MISC}),
            ]
        )
    )
    try:
        made = apply(sentence, name, word=word, **arguments)
    except TreebridgeError:
        assert sentence.heads[at] in (None, 0) or sentence.deprels[at] == "_"
        return
    assert read(made.to_conllu()) == made
    line = sentence.positions[at]
    for column, (old, new) in enumerate(zip(sentence.lines, made.lines, strict=True)):
        for number, (one, two) in enumerate(zip(old, new, strict=True)):
            assert one == two or (number == line and column in columns)
    old_misc, new_misc = sentence.column(MISC)[at], made.column(MISC)[at]
    assert _others(old_misc) == _others(new_misc)


def _others(misc: str) -> list[str]:
    ours = ("Fixed", "ArcProb", "LabelProb")
    return [one for one in misc.split("|") if one.partition("=")[0] not in ours and one != "_"]


@given(texts(), st.data())
def test_splitting_a_word_renumbers_everything(sentence: Sentence, data: st.DataObject) -> None:
    long = [i for i, form in enumerate(sentence.forms, 1) if len(form) > 1]
    if not long:
        return
    word = data.draw(st.sampled_from(long))
    form = sentence.forms[word - 1]
    cut = data.draw(st.integers(1, len(form) - 1))
    made = apply(sentence, "split", word=word, parts=[form[:cut], form[cut:]])
    check(sentence, made)
    assert made.forms == (*sentence.forms[: word - 1], form[:cut], form[cut:],
                          *sentence.forms[word:])  # fmt: skip
    new = f"new {word + 1}"
    before, after = pointers(sentence), pointers(made)
    assert after.pop(new)[0] is None
    for name, (head, deps, ends) in before.items():  # a range that ended here ends at the new word
        ends = tuple(new if new in after[name][2] and end == ends[-1] else end for end in ends)
        assert after[name] == (head, deps, ends)
    assert lit(made) == lit(sentence)
    back = apply(made, "join", first=word, last=word + 1)
    assert pointers(back) == before and back.forms == sentence.forms
    assert back.column(MISC) == sentence.column(MISC)


@given(texts(), st.data())
def test_expanding_a_word_and_joining_it_again(sentence: Sentence, data: st.DataObject) -> None:
    word = data.draw(st.integers(1, len(sentence)))
    graph = Graph.of(sentence)
    if graph.token_of(graph.word(word)):
        with pytest.raises(TreebridgeError, match="already"):
            apply(sentence, "expand", word=word, parts=["p", "q", "r"])
        return
    made = apply(sentence, "expand", word=word, parts=["p", "q", "r"])
    check(sentence, made)
    assert made.forms[word - 1 : word + 2] == ("p", "q", "r")
    assert (word, word + 2, sentence.forms[word - 1]) in [token[:3] for token in made.tokens()]
    with pytest.raises(TreebridgeError, match="join the words into one instead"):
        apply(made, "ungroup", word=word)
    back = apply(made, "join", first=word, last=word + 2)
    check(sentence, back)
    assert pointers(back) == pointers(sentence) and back.forms == sentence.forms
    assert lit(back) == lit(sentence)


@given(texts(), st.data())
def test_joining_words(sentence: Sentence, data: st.DataObject) -> None:
    n = len(sentence)
    if n < 2:
        return
    first = data.draw(st.integers(1, n - 1))
    last = data.draw(st.integers(first + 1, n))
    try:
        made = apply(sentence, "join", first=first, last=last)
    except TreebridgeError as error:
        assert "different tokens" in str(error)
        return
    check(sentence, made)
    names = [named(sentence)[str(number)] for number in range(first, last + 1)]
    (joined,) = [name for name in names if name in pointers(made)]

    def mapped(name: object) -> object:
        return joined if name in names else name

    after = pointers(made)
    gone = {name for name, (_, _, ends) in pointers(sentence).items() if ends and name not in after}
    for name, (head, deps, ends) in pointers(sentence).items():
        if name in names or name in gone:
            continue
        wanted = sorted({str(mapped(one)) for one in deps} - {name})
        assert after[name] == (mapped(head), wanted, tuple(map(mapped, ends)))
    assert lit(made) == {str(mapped(name)) for name in lit(sentence)}


@given(texts(), st.data())
def test_multi_word_tokens_are_made_and_dissolved(sentence: Sentence, data: st.DataObject) -> None:
    n = len(sentence)
    if n < 2:
        return
    first = data.draw(st.integers(1, n - 1))
    last = data.draw(st.integers(first + 1, n))
    try:
        made = apply(sentence, "group", first=first, last=last)
    except TreebridgeError as error:
        assert "already" in str(error)
        return
    check(sentence, made)
    assert (first, last) in [token[:2] for token in made.tokens()]
    back = apply(made, "ungroup", word=last)
    assert back == sentence


@given(texts(), st.data())
def test_sentences_are_split_and_joined(sentence: Sentence, data: st.DataObject) -> None:
    n = len(sentence)
    if n < 2:
        return
    word = data.draw(st.integers(2, n))
    try:
        one, two = split_sentence(sentence, word, "a-2")
    except TreebridgeError as error:
        assert "inside a multi-word token" in str(error)
        return
    for part in (one, two):
        assert read(part.to_conllu()) == part and part.text == surface(part)
        assert partial_problem(sentence.heads) or not partial_problem(part.heads)
        lost = [word for word in part if word.head is None]
        assert all(word.deprel == "_" and not fixed(word.misc) for word in lost)
    assert (one.comment("sent_id"), two.comment("sent_id")) == ("a", "a-2")
    assert lit(one) | lit(two) == lit(sentence)
    both = {**pointers(one), **pointers(two)}
    for name, (head, deps, ends) in pointers(sentence).items():
        here = pointers(one) if name in pointers(one) else pointers(two)
        known = head if head in {*here, "0"} else None
        assert both[name] == (known, [dep for dep in deps if dep in {*here, "0"}], ends)
    back = join_sentences(one, two)
    assert back.text == sentence.text and back.forms == sentence.forms
    assert back.comment("sent_id") == "a" and "# unknown: kept = as it is " in back.comments
    assert partial_problem(sentence.heads) or not partial_problem(back.heads)
    assert lit(back) == lit(sentence)


@given(
    cells, names.filter(lambda key: "=" not in key and "|" not in key), st.text("ab,", max_size=3)
)
def test_an_item_of_misc_is_replaced_and_removed(misc: str, key: str, value: str) -> None:
    made = with_item(misc, key, value)
    assert item(made, key) == value and with_item(made, key, value) == made
    if item(misc, key) is None:
        assert with_item(made, key, None) == misc


BANK = """\
# sent_id = 1
# text = Vamos del banco.
1	Vamos	ir	VERB	_	_	0	root	0:root	ArcProb=0.9|LabelProb=0.9
2-3	del	_	_	_	_	_	_	_	_
2	de	de	ADP	_	_	4	case	4:case	_
3	el	el	DET	_	_	4	det	4:det	_
4	banco.	banco	NOUN	_	_	1	obl	1:obl	_

"""


def test_a_session_with_one_sentence() -> None:
    sentence = read(BANK)
    sentence = apply(sentence, "split", word=4, parts=["banco", "."])
    assert sentence.to_conllu().splitlines()[6:8] == [
        "4\tbanco\t_\tNOUN\t_\t_\t1\tobl\t1:obl\tSpaceAfter=No",
        "5\t.\t_\t_\t_\t_\t_\t_\t_\t_",
    ]
    sentence = apply(sentence, "tag", word=5, tag="PUNCT")
    with pytest.raises(TreebridgeError, match="no head yet"):
        apply(sentence, "label", word=5, label="punct")
    sentence = apply(sentence, "head", word=5, head=1)
    sentence = apply(sentence, "label", word=5, label="punct")
    assert sentence.column(MISC)[4] == "Fixed=HEAD,DEPREL,UPOS"
    sentence = apply(sentence, "head", word=4, head=0)  # its old head becomes its dependent
    assert sentence.heads == (4, 4, 4, 0, 1)
    assert sentence.column(DEPS) == ("4:_", "4:case", "4:det", "0:root", "_")
    assert sentence.deprels == ("_", "case", "det", "root", "punct")
    sentence = apply(apply(sentence, "note", text=" is\nthis  so? "), "done", done=True)
    assert list(sentence.comments)[-2:] == ["# note = is this so?", "# status = done"]
    assert decided(sentence)[1] == {"HEAD", "DEPREL", "UPOS"}
    sentence = apply(sentence, "release", word=2)
    assert not is_done(sentence)


def test_what_nobody_decided_is_unknown_to_a_learner() -> None:
    whole, other = read(BANK), read(BANK)
    assert as_decided([whole, other]) == [whole, other]  # no marks: as the file has them
    said: list[str] = []
    progress = Progress()
    progress.say = said.append  # type: ignore[method-assign]
    partly = apply(apply(whole, "label", word=2, label="mark"), "cell", word=3, column="LEMMA",
                   value="lo")  # fmt: skip
    done = apply(whole, "done", done=True)
    found = as_decided([done, partly, other], progress)
    assert found[0] == done and len(found) == 2
    assert found[1].heads == (None, whole.heads[1], None, None)
    assert found[1].deprels == ("_", "mark", "_", "_")
    assert found[1].lemmas == ("_", "_", "lo", "_") and set(found[1].upos) == {"_"}
    assert is_open(found[1], FEATS) == [False, True, True, False]
    assert len(said) == 1
    assert "1 of 3 sentences are done, 1 words are decided in others; the other 7 words" in said[0]


def test_decisions_that_cannot_be() -> None:
    sentence = read(BANK)
    for name, arguments, message in [
        ("head", {"word": 1, "head": 1}, "own head"),
        ("head", {"word": 9, "head": 1}, "no word 9; the sentence has 4 words"),
        ("label", {"word": 1, "label": "obj"}, "is the root"),
        ("label", {"word": 2, "label": "root"}, "is not the root"),
        ("tag", {"word": 2, "tag": "A B"}, "UPOS must not"),
        ("cell", {"word": 2, "column": "LEMMA", "value": "a\tb"}, "LEMMA must not"),
        ("split", {"word": 1, "parts": ["Va", "nos"]}, "is not written like “Vamos”"),
        ("split", {"word": 1, "parts": ["Vamos"]}, "at least two parts"),
        ("split", {"word": 1, "parts": ["Vamos", ""]}, "must not be empty"),
        ("join", {"first": 3, "last": 4}, "different tokens"),
        ("join", {"first": 2, "last": 2}, "two words or more"),
        ("ungroup", {"word": 1}, "not part of a multi-word token"),
    ]:
        with pytest.raises(TreebridgeError, match=re.escape(message)):
            apply(sentence, name, **arguments)
    cycle = read(BANK.replace("\t0\troot", "\t4\troot"))
    with pytest.raises(TreebridgeError, match="word 1: no word has HEAD 0"):
        apply(cycle, "done", done=True)
    with pytest.raises(TreebridgeError, match="inside a multi-word token"):
        split_sentence(sentence, 3, None)
    with pytest.raises(TreebridgeError, match="begins here already"):
        split_sentence(sentence, 1, None)
    with pytest.raises(TreebridgeError, match="new document"):
        join_sentences(sentence, read("# newdoc id = x\n" + BANK))


def test_words_with_joiners_can_be_split() -> None:
    sentence = Sentence.from_words(["می‌خواهم"], heads=[0])
    made = apply(sentence, "split", word=1, parts=["می‌", "خواهم"])
    assert made.column(FORM) == ("می‌", "خواهم") and made.text == sentence.text
