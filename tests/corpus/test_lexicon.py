"""Reading a lexicon."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import names
from treebridge.corpus.feats import read_feats, write_feats
from treebridge.corpus.lexicon import UPOS, Entry, Lexicon
from treebridge.errors import TreebridgeError

FORMS = names.filter(lambda form: not form.startswith("#"))
ENTRIES = st.builds(
    Entry,
    FORMS,
    st.sampled_from([*UPOS, "_"]),
    FORMS,
    st.sampled_from(["_", "Number=Sing", "Case=Nom|Gender=Fem"]),
    st.sampled_from(["_", "obj", "nsubj:pass"]),
)


def read(text: str) -> Lexicon:
    stream = io.BytesIO(text.encode())
    stream.name = "words.tsv"
    return Lexicon.read(stream)


@given(st.lists(ENTRIES, min_size=1, max_size=8))
def test_there_and_back(entries: list[Entry]) -> None:
    lexicon = Lexicon(entries)
    again = read(lexicon.to_tsv())
    assert [entry[:5] for entry in again] == [entry[:5] for entry in lexicon]


def test_comments_choices_and_a_header() -> None:
    lexicon = read(
        "# words of a speaker\n\nno\tADV\n\npara\tADP\t_\t_\tcase\t# .6\t# 12\npara\tVERB\tparar\n"
        "#\tSYM\nno\tADV\n"
    )
    assert len(lexicon) == 3 and len(lexicon.find("no")) == 1
    assert [entry.upos for entry in lexicon.find("Para")] == ["ADP", "VERB"]
    assert lexicon.find("para")[0].deprel == "case" and lexicon.find("#")[0].upos == "SYM"
    assert "PARA" in lexicon and "par" not in lexicon
    other = read("upos\tform\tLemma\nNOUN\tCasa\tcasa\n")
    assert other.find("Casa") == [Entry("Casa", "NOUN", "casa", line=2)]
    assert not other.find("casa") and not other.find("CASA")  # it was written with a capital


def test_another_lexicon_replaces_forms() -> None:
    both = read("a\tDET\nb\tADP\n").updated(read("a\tNOUN\n"))
    assert {entry.form: entry.upos for entry in both} == {"a": "NOUN", "b": "ADP"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("casa", "expected a form, a tab and its UPOS tag"),
        ("\tNOUN", "expected a form"),
        ("casa\tNUON", "'NUON' is not a UPOS tag"),
        ("casa NOUN", "expected a form"),
        ("casa\tNOUN\tcasa\tPlur", "'Plur' are not features"),
        ("casa\tNOUN\tcasa\t_\tOBJ", "'OBJ' is not a label"),
        ("casa\tNOUN\tcasa\t_\tobj\tmore", "at most 5 columns"),
    ],
)
def test_a_bad_line_is_named(line: str, problem: str) -> None:
    with pytest.raises(TreebridgeError, match=problem) as error:
        read(f"no\tADV\n{line}\n")
    assert str(error.value).startswith("words.tsv:2: ")


def test_an_empty_lexicon_and_an_unknown_column() -> None:
    with pytest.raises(TreebridgeError, match="found no words"):
        read("# nothing\n")
    with pytest.raises(TreebridgeError, match="unknown column GLOSS"):
        read("FORM\tUPOS\tGLOSS\n")


def test_feats_in_the_order_of_universal_dependencies() -> None:
    assert write_feats({"Number": "Sing", "case": "x", "Gender": "Fem"}) == (
        "case=x|Gender=Fem|Number=Sing"
    )
    assert read_feats("_") == {} and write_feats({}) == "_"
    assert read_feats("A=1|B|=2|C=") == {"A": "1"}
