"""Sentence ends: the same as by looking at everything again, in time that grows with the text."""

from __future__ import annotations

import io
import sys
import time
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from slow_ends import ends_sentence, sentence_texts

from treebridge import Sentence, Splitter
from treebridge.corpus import tokens
from treebridge.corpus.ends import MAX_SPACE, sentence_starts
from treebridge.corpus.multiword import Contractions
from treebridge.corpus.sentence import MAX_WORDS
from treebridge.corpus.text import MAX_PIECE, rebuild
from treebridge.corpus.tokens import rule_spans
from treebridge.errors import Notice

SIZE = 20_000
KINDS = [
    "(", ")", ". ", "a", "a.", "…", '"', "'", "7", "1.", "1,", "http://a.b/c ", "http://a.b/c",
    "www.", "www.!", "😀", "👨‍👩‍👧", "🇦🇧", "e\u0301", "\u0301", "我", "我爱你。", "。」", "Ab. c) “D” 1,5 e@f.gh! ",
    " ", "\t", "\u00a0", "\n", "a\n", ".\n", ")\n", "etc.\n", "etc. )\n", ". ) ", ".", ".)", "-",
    "a-", "qu'", "l'", "a's ", "a@", "a@-", "a..b..", "%", "%+", "@", "#a", "Mr.", "!?", "हिन्दी।", "\\",
    "\x01", "\u200d", "\ufe0f", "\u202e", "1\ufe0f\u20e3", "A. ", "1. ",
]  # fmt: skip
MIXED = [
    "." * (SIZE // 2) + ")" * (SIZE // 2),
    "etc.\n" + ")\n" * (SIZE // 2),
    "http://" + "." * SIZE,
]
_pieces = st.sampled_from(
    [" ", "\n", "\n\n", ".", "...", "!", "etc.", "Jr.", "p.m.", ")", '"', "»", "。", "」", "1.", "12",
     "\n3. ", "A", "b", "C.", "C", "Foo", "e@f.gh", "(", "😀", "🇦🇧"]
)  # fmt: skip
quiet = pytest.mark.filterwarnings("ignore::treebridge.errors.Notice")
texts = st.lists(_pieces, max_size=30).map("".join)


@given(texts, st.sampled_from(["en", None]))
@example("我。C.\nFoo", None)  # an initial only when nothing is joined to it any more
def test_the_same_as_the_slow_way(text: str, language: str | None) -> None:
    def inner(text: str) -> list[tuple[int, int]]:
        return list(rule_spans(text, language, at_end=False))

    spans = inner(text)
    slow = [index + 1 for index in range(len(spans) - 1) if ends_sentence(text, spans, index)]
    assert sentence_starts(text, spans) == [0, *slow]
    found = [rebuild([sentence]) for sentence in Splitter(language).sentences(text)]
    assert found == list(sentence_texts(io.StringIO(text, newline="\n"), inner))


def repeated(kind: str, size: int = SIZE) -> str:
    return (kind * size)[:size]


def split(text: str) -> tuple[list[Sentence], list[str], float]:
    """Its sentences, its words, and the processor seconds that finding both took."""
    splitter = Splitter("pt", multiword=Contractions.of("pt"))
    start = time.process_time()
    sentences = list(splitter.sentences(text))
    words = splitter.words(text)
    return sentences, words, time.process_time() - start


@pytest.fixture(scope="module")
def ordinary() -> float:
    """Processor seconds for as much ordinary text, on this machine and at this moment."""
    return min(split(repeated("Plain words, as people write them. "))[-1] for _ in range(3))


@quiet
@pytest.mark.parametrize("text", [*map(repeated, KINDS), *MIXED], ids=lambda text: ascii(text[:12]))
def test_no_kind_of_text_takes_two_hundred_times_as_long_as_ordinary_text(
    text: str, ordinary: float
) -> None:
    """The worst takes about 17 times as long, most of it because it has more words."""
    sentences, words, seconds = split(text)
    assert seconds < 200 * ordinary
    if text.strip():
        assert rebuild(sentences) == text
        assert max(map(len, sentences)) <= MAX_WORDS
    assert sum(map(len, sentences)) >= len(words)


@quiet
@pytest.mark.parametrize("kind", KINDS[::3], ids=ascii)
def test_twice_the_text_is_twice_the_work(kind: str) -> None:
    """Counted in lines of Python, which are the same on every machine."""

    def steps(size: int) -> int:
        count = 0

        def trace(frame: object, event: str, argument: object) -> object:
            nonlocal count
            count += event == "line"
            return trace

        splitter, text = Splitter(), repeated(kind, size)
        before = sys.gettrace()
        sys.settrace(trace)  # type: ignore[arg-type]
        try:
            list(splitter.sentences(text))
        finally:
            sys.settrace(before)
        return count

    tokens._split_and_remember.cache_clear()
    assert steps(2000) < 2.5 * steps(1000)


def test_long_words_are_not_remembered() -> None:
    tokens._split_and_remember.cache_clear()
    table = Contractions({"do": ("de", "o")})
    for index in range(50):
        Splitter("pt", multiword=table).sentence(f"{index}x" * SIZE + " do")
    assert tokens._split_and_remember.cache_info().currsize == 1
    assert set(table._known) == {"do"}


def test_a_sentence_beyond_the_limit_is_split_with_one_notice() -> None:
    text = "word " * 50 + ("and then, " + "more words " * 9) * 280 + "end.\n\nNext.\n"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        *parts, last = Splitter("en").sentences(text)
    assert [warning.category for warning in said] == [Notice]
    assert "more than 2,000 words was split" in str(said[0].message)
    assert len(parts) == 4 and max(map(len, parts)) <= MAX_WORDS
    assert rebuild([*parts, last]) == text and last.forms == ("Next", ".")
    # It begins one paragraph, and is cut after commas.
    assert [part.comments[0] == "# newpar" for part in parts].count(True) == 1
    assert all(part.forms[-1] == "," for part in parts[:-1])


def test_lines_and_contractions_count_too() -> None:
    table = Contractions({"do": ("de", "o")})
    with pytest.warns(Notice):
        sentences = list(Splitter("pt", multiword=table).lines(["do " * 1500 + "fim C.\n", "do\n"]))
    assert len(sentences) == 3 and max(map(len, sentences)) <= MAX_WORDS
    assert sentences[-1].forms == ("de", "o")
    assert list(map(len, Splitter("pt").lines(["do " * 1500]))) == [1500]


def test_long_lines_are_split_as_short_ones() -> None:
    sentence = 'He said: "It\'s 3.5 m. long (cf. etc.)." And then "he" left. 1. no '
    text = sentence * 1600
    assert len(text) > 3 * MAX_PIECE
    by_word = [word + " " for word in text.split(" ")]
    spans = list(rule_spans(text, "en", at_end=False))
    starts = [spans[index][0] for index in sentence_starts(text, spans)]
    ends = [*starts[1:], len(text)]
    whole = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    assert [rebuild([s]) for s in Splitter("en").sentences(text)] == whole
    assert rebuild(Splitter("en").sentences(by_word)) == text + " "


def test_white_space_without_end_is_cut() -> None:
    def lines() -> Iterator[str]:
        yield "First\n"
        for _ in range(MAX_SPACE):
            yield " \n"
        yield "Second."

    with pytest.warns(Notice, match="white space"):
        first, second = Splitter().sentences(lines())
    assert len(rebuild([first])) == len("First\n") + MAX_SPACE
    assert second.forms == ("Second", ".")
