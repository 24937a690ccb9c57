"""Raw text: sentences and words are found, and the text can be rebuilt exactly."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebridge import Splitter, TreebridgeError
from treebridge.corpus.text import rebuild

# Text with what makes splitting hard, more often than chance would bring it.
_awkward = st.sampled_from(
    [" ", "  ", "\n", "\n\n", "\t", ".", "...", "!", "?", "Mr.", "U.S.", "p.m.", "'", "’", "-", "l'eau",
     "don't", "3,5", "。", "我", "हिन्दी", "«", "»", '"', "1.", "\u00a0", "\u2028", "|", "\\", "😀", "A", "b"]
)  # fmt: skip
texts = st.lists(_awkward | st.text(max_size=4), max_size=30).map("".join)


@given(texts, st.sampled_from(["en", None]))
def test_text_is_rebuilt_exactly(text: str, language: str | None) -> None:
    sentences = list(Splitter(language).sentences(text))
    if text.strip():
        assert rebuild(sentences) == text
    for sentence in sentences:
        assert len(sentence) > 0
        assert not any(char.isspace() for form in sentence.forms for char in form)


@given(texts)
def test_words_are_the_words_of_the_sentence(text: str) -> None:
    for engine in ("rules", "spaces"):
        splitter = Splitter(engine=engine)
        assert tuple(splitter.words(text)) == splitter.sentence(text).forms


@given(st.lists(texts, max_size=5))
def test_streamed_in_lines_or_whole(paragraphs: list[str]) -> None:
    text = "\n\n".join(paragraphs)
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    splitter = Splitter()
    assert list(splitter.sentences(lines)) == list(splitter.sentences(text))


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "I don't think it's John's.", "I do n't think it 's John 's ."),
        ("en", "A well-known U.S. plan: $3.5bn!", "A well - known U.S. plan : $ 3.5 bn !"),
        ("pt", "Guarda-chuva d'água; 10:30 (sic)...", "Guarda-chuva d' água ; 10:30 ( sic ) ..."),
        ("fr", "L'homme qu'il a vu aujourd'hui", "L' homme qu' il a vu aujourd'hui"),
        ("uk", "П'ять м'ячів", "П'ять м'ячів"),
        ("fi", "EU:n USA:ssa 1990:n: näin:se", "EU:n USA:ssa 1990:n : näin : se"),
        ("fi", "maa- ja vesirakennus - se", "maa- ja vesirakennus - se"),
        ("en", "He said:yes- no", "He said : yes - no"),
        ("ro", "S-a dus într-o zi; l-am văzut-o.", "S- a dus într- o zi ; l- am văzut -o ."),
        ("ro", "Dă-mi-o, nu-i de-a prim-ministrului!", "Dă -mi -o , nu -i de-a prim-ministrului !"),
        ("es", "¿Qué?, dijo el Sr. Pérez.", "¿ Qué ? , dijo el Sr. Pérez ."),
        (None, "See https://a.org/b?c=d. Mail x.y@z.org, #tag @you",
         "See https://a.org/b?c=d . Mail x.y@z.org , #tag @you"),
        (None, "हिन्दी में लिखा।", "हिन्दी में लिखा ।"),
        (None, "我爱你。", "我 爱 你 。"),
        (None, "می‌خواهم، نه؟", "می‌خواهم ، نه ؟"),
        (None, "👨‍👩‍👧😀 ok", "👨‍👩‍👧 😀 ok"),
        ("en", "J. Smith took vitamin C.", "J. Smith took vitamin C ."),
    ],
)  # fmt: skip
def test_words(language: str | None, text: str, words: str) -> None:
    assert Splitter(language).words(text) == words.split()


@pytest.mark.parametrize(
    "sentences",
    [
        ["Mr. Smith came at 5 p.m. and left.", "He sat down."],
        ["¿Qué dices?", "¡Nada!", "«Vale.»", "Adiós."],
        ["“Why?” she asked.", "“Go!”", "(It was late.)", "1984 was a year."],
        ["He paid 3.50 in the U.S. on Monday.", "We wait ... and see."],
        ["1. Introduction to it.", "Then the rest etc.", "End"],
        ["他来了。", "她走了！", "“好。”", "再见"],
        ["यह है।", "वह है।"],
    ],
)
def test_sentences(sentences: list[str]) -> None:
    wide = "。" in sentences[0]
    text = ("" if wide else " ").join(sentences)
    assert [s.text for s in Splitter("en").sentences(text)] == sentences


def test_paragraphs_and_space_in_misc() -> None:
    title, first, second = Splitter("en").sentences("A title\n\nTwo  words.\nNext one.\n")
    assert title.comments == ["# newpar", "# text = A title"]
    assert first.comments == ["# newpar", "# text = Two words."]
    assert second.comments == ["# text = Next one."]
    assert [word.misc for word in first] == [
        r"SpacesAfter=\s\s",
        "SpaceAfter=No",
        r"SpacesAfter=\n",
    ]
    assert title.to_conllu().splitlines()[
        3
    ] == "2\ttitle" + "\t_" * 7 + r"\tSpacesAfter=\n\n".replace(r"\t", "\t", 1)


def test_text_without_any_full_stop_is_streamed() -> None:
    lines = iter(["word " * 20 + "\n"] * 10_000)
    first = next(iter(Splitter().sentences(lines)))
    assert len(first) < 2000
    assert sum(1 for _ in lines) > 9_000


def test_spacy_rules() -> None:
    pytest.importorskip("spacy", reason="needs the extra text")
    splitter = Splitter("es", engine="spacy")
    text = "El Sr. Pérez vino.  ¿Y  tú?\n"
    assert splitter.words("¿Y tú?") == ["¿", "Y", "tú", "?"]
    assert rebuild(splitter.sentences(text)) == text
    with pytest.raises(TreebridgeError, match="no tokenizer for the language 'zz'"):
        Splitter("zz", engine="spacy")


def test_missing_extra_and_unknown_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(TreebridgeError, match=r"pip install 'treebridge\[text\]'"):
        Splitter("es", engine="spacy")
    with pytest.raises(TreebridgeError, match="unknown tokenizer 'magic'"):
        Splitter(engine="magic")


def test_english_treebank_words_are_found_again(shared: Path) -> None:
    """The rules agree with how EWT was tokenised in nearly all words of its running text."""
    from treebridge import Treebank

    treebank = Treebank.read(shared / "data/ud-2.6/UD_English-EWT/en_ewt-ud-dev.conllu")
    splitter = Splitter("en")
    found = correct = gold = 0
    for sentence in treebank:
        words, truth = ends(splitter.words(sentence.text)), ends(sentence.forms)
        found, gold = found + len(words), gold + len(truth)
        correct += len(words & truth)
    f1 = 2 * correct / (found + gold)
    assert f1 > 0.97, f1


def ends(words) -> set[tuple[int, int]]:
    """Words as spans of the text without its spaces."""
    spans, position = set(), 0
    for word in words:
        length = len(word.replace(" ", ""))
        spans.add((position, position + length))
        position += length
    return spans
