"""Tokenization by rules for scripts rather than languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import regex

from treebridge.errors import MissingExtra, TreebridgeError

Span = tuple[int, int]
FindSpans = Callable[[str], Iterable[Span]]
# Characters. Longer chunks rarely recur, and caching them would let hostile text fill the memory.
REMEMBERED_LENGTH = 32

# Abbreviations that keep their full stop and do not end a sentence, in any language …
_TITLES = """
    Mr Mrs Ms Dr Drs Prof vs cf pp Sr Sra Srta Srs Sras Dª Dña Uds Vds Ilmo Excmo Exmo Exma
    núm Núm pág págs Mme Mlle Dott Avv Hr Nr prof dr mgr inż św tzn tzw esim κ κα
""".split()
# … and in one language, where others have words of the same form.
_BY_LANGUAGE = {
    "en": "No Nos Mt St Rep Rev Hon Gen Col Capt Lt Sgt Gov Sen Fig Vol Eq eq fig p".split(),
    "es": "Ud Vd Av av Art art Arts arts D tel Tel p ej aprox".split(),
    "pt": "Av av Art art Arts arts D tel Tel p ex aprox".split(),
    "ro": "dl nr art str dna".split(),
    "pl": "ul im np tj ok nr al".split(),
    "fi": "mm ks ns ts nk".split(),
    "de": "bzw ca usf Abs".split(),
}
# These keep it too, but may end a sentence.
MAYBE_LAST = frozenset(
    f"{word}." for word in "etc Etc Jr Inc Ltd Co Corp Bros usw itp itd jne ym jms κλπ".split()
)

_LETTER = r"[[\p{L}\p{M}\p{N}\p{Pc}\u00ad\u200c\u200d]--[\p{Han}]]"
# Every alternative has bounded lookahead or consumes what it has examined, so matching takes linear
# time. Mail addresses are limited as in RFC 5321; \X would count all flags before a flag.
_TOKEN = regex.compile(
    rf"""
    (?:https?://|www\.)[^<>"”»]*[^<>"”»\p{{P}}]/?          # web addresses
  | [\p{{L}}\p{{N}}._%+-]{{1,64}}+@[\p{{L}}\p{{N}}.-]{{1,255}}\.\p{{L}}{{2,}}  # mail addresses
  | [@\#][\p{{L}}\p{{N}}_]+                                # mentions, hashtags
  | (?:\p{{L}}\.){{2,}}                                    # U.S., e.g.
  | \p{{Nd}}+(?:[.,:/]\p{{Nd}}+)+                          # 1.234,56  10:30
  | {_LETTER}+(?:[-‐‑'’ʼ·]{_LETTER}+)*                     # words, also with - or ' inside
  | \p{{Han}}                                              # a character is a word
  | \.{{2,}} | !+ | \?+ | -{{2,}} | \p{{P}}                # punctuation
  | \p{{RI}}{{2}}[\p{{GCB=Extend}}\p{{GCB=SpacingMark}}\p{{GCB=ZWJ}}]*  # flags
  | \X                                                     # everything else, emoji whole
    """,
    regex.VERBOSE | regex.V1,
)
_HAN = regex.compile(r"\p{Han}")
_INITIAL = regex.compile(r"\p{Lu}\p{M}*\.")
# Where to split at an apostrophe: English clitics, and elided articles, pronouns and prepositions
# in French, Italian, Catalan and Portuguese. Others (Ukrainian м'яч, Uzbek oʻzbek) are one word.
_CLITIC = regex.compile(r"(?i)(?<=\p{L})(?:n['’]t|['’](?:s|re|ve|ll|d|m))$")
_ELISION = regex.compile(
    r"(?i)(?:[dlmnstj]|c(?!['’]h)|qu|un|lorsqu|puisqu|jusqu|quest|quell|bell|sant"
    r"|(?:de|a|ne|su|da|co)ll)['’](?=\p{L}\p{L})"
)
_CASE_ENDING = regex.compile(r"\p{Ll}{1,5}")  # Finnish EU:n, 1990:ssä, Swedish SVT:s
_LOOSE_PARTS = ("fi", "sv", "de")  # maa- ja metsätalous: a part of a compound keeps its hyphen
_HYPHENS = re.compile(r"-|[^-]+")
# Romanian writes short words with a hyphen to their neighbour, and the hyphen is theirs:
# s-a, într-o, l-am; nu-i, cumpărat-o, dă-mi-o; also endings of foreign nouns, as in site-ul.
# The preposition de-a is one word.
_ROMANIAN_FIRST = regex.compile(
    r"(?i)(?:s|[șş]i|n|i|l|m|v|te|ne|le|mi|[țţ]i|ni|vi|li|c|într|dintr|printr)-(?=\p{L})"
)
_ROMANIAN_LAST = regex.compile(
    r"(?i)(?<=\p{L}\p{L}|\ba)(?<!\bde)-(?:i|l|[șş]i|se|o|mi|[țţ]i|mă|te|ne|vă|le|li|ni|vi|n"
    r"|a[mir]?|au|a[șş]|a[țţ]i|or|va|vor|ul|ului|uri|urile|urilor)$"
)
_SPACES = re.compile(r"\S+")


def _split_chunk(chunk: str, language: str | None) -> tuple[str, ...]:
    """Split a chunk without spaces into words, whose concatenation is the chunk."""
    if chunk.isalpha() and not _HAN.search(chunk):
        return (chunk,)
    words: list[str] = []
    for token in _TOKEN.findall(chunk):
        if _is_case_ending(token, words, language):
            words[-2:] = ["".join([*words[-2:], token])]
        elif token == "-" and words and words[-1].isalpha() and language in _LOOSE_PARTS:
            words[-1] += "-"
        elif token == "." and words and _keeps_stop(words[-1], language, alone=len(words) == 1):
            words[-1] += "."
        elif token[0].isalpha() and not token.isalnum() and not {"@", "/"} & set(token):
            words += _split_joined(token, language)
        else:
            words.append(token)
    return tuple(words)


def _is_case_ending(token: str, words: list[str], language: str | None) -> bool:
    """Whether a token and the colon before it are the ending of the word before that."""
    return (
        language in ("fi", "sv")
        and words[-1:] == [":"]
        and len(words) > 1
        and words[-2].isalnum()
        and not words[-2].islower()  # an abbreviation or a number, not a word before a clause
        and _CASE_ENDING.fullmatch(token) is not None
    )


# Chunks recur: with a cache, long corpora are split ten times as fast.
_split_and_remember = lru_cache(maxsize=1 << 17)(_split_chunk)


def _keeps_stop(word: str, language: str | None, *, alone: bool) -> bool:
    if f"{word}." in MAYBE_LAST or word in _TITLES or word in _BY_LANGUAGE.get(language or "", ()):
        return True
    return alone and _INITIAL.fullmatch(f"{word}.") is not None  # J. Smith


def _split_joined(token: str, language: str | None) -> Iterator[str]:
    """Split at apostrophes and, in English and Romanian, at hyphens."""
    start = 0
    while found := _ELISION.match(token, start):
        yield found[0]
        start = found.end()
    token = token[start:]
    clitic = _CLITIC.search(token)
    tail = token[clitic.start() :] if clitic else ""
    token = token.removesuffix(tail) if tail else token
    if language == "en":  # English treebanks split well-known into three words, most others do not
        yield from _HYPHENS.findall(token)
    elif language == "ro":
        yield from _split_romanian(token)
    elif token:
        yield token
    if tail:
        yield tail


def _split_romanian(token: str) -> Iterator[str]:
    """Split off the short words that a hyphen joins to the one before or after."""
    if first := _ROMANIAN_FIRST.match(token):
        yield first[0]
        token = token[first.end() :]
    last: list[str] = []
    while found := _ROMANIAN_LAST.search(token):
        last.append(found[0])
        token = token[: found.start()]
    yield from (word for word in (token, *reversed(last)) if word)


def rule_words(text: str, language: str | None = None, *, at_end: bool = True) -> list[str]:
    """Split a text into words; `at_end` is false if it continues on another line."""
    words: list[str] = []
    for chunk in text.split():
        split = _split_and_remember if len(chunk) <= REMEMBERED_LENGTH else _split_chunk
        words += split(chunk, language)
    if at_end and words and len(words[-1]) == 2 and _INITIAL.fullmatch(words[-1]):
        words[-1:] = words[-1]  # a final "vitamin C." is not an initial
    return words


def rule_spans(text: str, language: str | None = None, *, at_end: bool = True) -> Iterator[Span]:
    """Yield the spans of the words of a text."""
    end = 0
    for word in rule_words(text, language, at_end=at_end):
        start = text.index(word, end)  # only white space is skipped
        end = start + len(word)
        yield start, end


def rules_of(language: str | None) -> list[str]:
    """All that decides where `rule_words` cuts, so that a cache knows when it is out of date."""
    patterns = [_TOKEN, _CLITIC, _ELISION]
    if language == "ro":
        patterns += [_ROMANIAN_FIRST, _ROMANIAN_LAST]
    if language in ("fi", "sv"):
        patterns.append(_CASE_ENDING)
    further = [*_TITLES, *_BY_LANGUAGE.get(language or "", ()), str(language in _LOOSE_PARTS)]
    return [*(one.pattern for one in patterns), *further]


def space_spans(text: str) -> Iterator[Span]:
    """Yield the spans of words separated by white space, for text that is already tokenized."""
    return (found.span() for found in _SPACES.finditer(text))


def spacy_spans(language: str) -> FindSpans:
    """Return spaCy's tokenizer for a language (extra `text`)."""
    try:
        import spacy
    except ImportError:
        raise MissingExtra("spaCy", "text", "tokenizing with spaCy") from None
    try:
        tokenizer: Any = spacy.blank(language).tokenizer
    except ImportError:
        raise TreebridgeError(
            f"spaCy has no tokenizer for the language {language!r}; use the tokenizer 'rules' "
            "or a language that spaCy supports (es, pt, fi, …)"
        ) from None

    def spans(text: str) -> Iterator[Span]:
        for token in tokenizer(text):
            if not token.is_space:
                yield token.idx, token.idx + len(token)

    return spans
