"""treebridge and spaCy."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest
import tomllib
from hypothesis import given
from hypothesis import strategies as st
from made import DEV

from strategies import tree_heads
from treebridge import Parser, Sentence, TreebridgeError
from treebridge.corpus.multiword import Contractions
from treebridge.corpus.trees import tree_problem

spacy = pytest.importorskip("spacy", reason="needs the extra text")


def back(doc) -> list[Sentence]:
    """A spaCy document as sentences."""
    return [
        Sentence.from_words(
            [token.text for token in span],
            upos=[token.pos_ or "_" for token in span],
            heads=[0 if t.head is t or t.head == t else t.head.i - span.start + 1 for t in span],
            deprels=["root" if t.dep_ == "ROOT" else t.dep_ or "_" for t in span],
            misc=["_" if token.whitespace_ else "SpaceAfter=No" for token in span],
        )
        for span in doc.sents
    ]


@given(tree_heads(), st.data())
def test_there_and_back(heads: list[int], data: st.DataObject) -> None:
    n = len(heads)
    some = st.sampled_from(["NOUN", "VERB", "ADP"])
    columns = {
        "upos": data.draw(st.lists(some, min_size=n, max_size=n)),
        "deprels": ["root" if head == 0 else f"x{i}" for i, head in enumerate(heads)],
        "misc": data.draw(
            st.lists(st.sampled_from(["_", "SpaceAfter=No"]), min_size=n, max_size=n)
        ),
    }
    sentence = Sentence.from_words([f"w{i}" for i in range(n)], heads=heads, **columns)
    doc = sentence.to_spacy()
    assert doc.text.strip() == sentence.text
    assert back(doc) == [sentence]


def test_sentences_of_a_treebank_there_and_back() -> None:
    for sentence in DEV[:20]:
        (again,) = back(sentence.to_spacy())
        assert again.heads == sentence.heads and again.deprels == sentence.deprels
        assert again.forms == sentence.forms and again.upos == sentence.upos
    assert Sentence.from_words(["a", "b"]).to_spacy().has_annotation("DEP") is False


def test_component(home: Path, text: str) -> None:
    import treebridge.spacy  # noqa: F401  installed, the entry point does this

    nlp = spacy.blank("xx")
    nlp.add_pipe("treebridge", config={"model": str(home / "model")})
    text = f"  {text}\n\n{text}"
    doc = nlp(text)
    assert doc.text == text and len(list(doc.sents)) == 24
    parser = Parser.load(home / "model")
    for span in doc.sents:
        words = [token for token in span if not token.is_space]
        (tree,) = parser([[token.text for token in words]])
        places = [token.i for token in words]
        heads = [0 if t.head == t else places.index(t.head.i) + 1 for t in words]
        assert tuple(heads) == tree.heads
        assert [t.pos_ for t in words] == list(tree.upos)
        assert [t.dep_.replace("ROOT", "root") for t in words] == list(tree.deprels)
    assert [d.text for d in nlp.pipe(["", " ", text], batch_size=2)] == ["", " ", text]
    given_starts = spacy.blank("xx")
    given_starts.add_pipe("sentencizer", config={"punct_chars": ["#"]})
    given_starts.add_pipe("treebridge", config={"model": str(home / "model")})
    assert len(list(given_starts(DEV[0].text + " " + DEV[1].text).sents)) == 1


def test_lemmas_features_and_tags_of_the_language(home: Path, tmp_path: Path) -> None:
    form = DEV[0].forms[0]
    (tree,) = Parser.load(home / "model")([[form]])
    words = tmp_path / "words.tsv"
    words.write_text(f"{form}\t{tree.upos[0]}\tlemma\tCase=Nom|Number=Sing\n", encoding="utf-8")
    nlp = spacy.blank("xx")
    nlp.add_pipe("treebridge", config={"model": str(home / "model"), "lexicon": str(words)})
    token = nlp(form)[0]
    assert token.lemma_ == "lemma" and token.morph.to_dict() == {"Case": "Nom", "Number": "Sing"}
    sentence = DEV[0].annotate(
        lemmas=["a"] * len(DEV[0]), feats=["Number=Sing"] * len(DEV[0]), xpos=["N"] * len(DEV[0])
    )
    doc = sentence.to_spacy()
    assert {(t.lemma_, str(t.morph), t.tag_) for t in doc} == {("a", "Number=Sing", "N")}


def test_the_entry_point_names_the_factory() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    module, name = project["project"]["entry-points"]["spacy_factories"]["treebridge"].split(":")
    assert callable(getattr(import_module(module), name))


def test_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    for name in [name for name in sys.modules if name.startswith("spacy.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "treebridge.spacy", raising=False)
    with pytest.raises(TreebridgeError, match=r"pip install 'treebridge\[text\]'"):
        DEV[0].to_spacy()


@given(tree_heads(), st.data())
def test_contractions_put_together_again_make_a_tree(heads: list[int], data: st.DataObject) -> None:
    """Written words of one to three syntactic words each, in a tree of any shape."""
    from treebridge.spacy import together

    sizes = [data.draw(st.integers(1, 3))]
    while sum(sizes) < len(heads):
        sizes.append(data.draw(st.integers(1, 3)))
    sizes[-1] -= sum(sizes) - len(heads)
    table = Contractions({f"w{i}": tuple(f"p{j}" for j in range(n)) for i, n in enumerate(sizes)})
    written = Sentence.from_words([f"w{i}" for i in range(len(sizes))])
    labels = ["root" if head == 0 else f"x{i}" for i, head in enumerate(heads)]
    apart = table.expand(written)
    tree = apart.annotate(heads=heads, deprels=labels, upos=["X"] * len(heads))
    made = together(written, tree)
    assert tree_problem(made.heads) is None and made.forms in (written.forms, apart.forms)
    assert list(made.deprels).count("root") == 1
    assert set(made.deprels) <= set(labels)


def test_component_takes_contractions_apart(home: Path) -> None:
    """The parser sees *de o* where the document has *do*."""
    from treebridge.spacy import TreebridgeComponent

    seen: list[tuple[str, ...]] = []
    parser = Parser.load(home / "model")

    def parse(sentences: list[Sentence]) -> list[Sentence]:
        seen.extend(sentence.forms for sentence in sentences)
        return parser(sentences)

    component = TreebridgeComponent(parse, multiword=Contractions.of("pt"))
    doc = component(spacy.blank("pt")("O fim do dia"))
    assert seen == [("O", "fim", "de", "o", "dia")]
    assert [token.text for token in doc] == ["O", "fim", "do", "dia"] and all(t.dep_ for t in doc)
