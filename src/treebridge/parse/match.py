"""Match system words to gold words, even if the two tokenize the text differently."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from treebridge.corpus.sentence import FEATS, FORM, ID, LEMMA, XPOS, Sentence
from treebridge.errors import TreebridgeError

ROOT, NOWHERE = -1, -2  # in place of a head's index; of a gold word's index
_SPACES = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")  # Unicode category Zs
_SHOWN = 20  # characters of differing text in messages


class Place(NamedTuple):
    """The character span of a word, or of its multi-word token."""

    start: int
    end: int
    multiword: bool


class Row:
    """The words of consecutive sentences as one sequence; heads are indices into it, or ROOT."""

    def __init__(self) -> None:
        self.forms: list[str] = []
        self.tags: list[str] = []
        self.lemmas: list[str] = []
        self.xpos: list[str] = []
        self.feats: list[str] = []
        self.labels: list[str] = []
        self.heads: list[int] = []
        self.places: list[Place] = []
        self.text = ""  # all tokens, without spaces
        self.sentences: list[tuple[range, tuple[int, int]]] = []  # word and character spans

    def add(self, sentence: Sentence) -> None:
        """Append a sentence; one without words changes nothing."""
        first, start = len(self.forms), len(self.text)
        for index, head in enumerate(sentence.heads, 1):
            if head is None:
                raise TreebridgeError(f"word {index} has no HEAD; scoring needs complete trees")
            self.heads.append(first + head - 1 if head else ROOT)
        self.tags += sentence.upos
        self.lemmas += sentence.column(LEMMA)
        self.xpos += sentence.column(XPOS)
        self.feats += sentence.column(FEATS)
        self.labels += sentence.deprels
        parts = []  # the tokens
        token = end = start  # span of the current token
        covered = 0  # last word of the current multi-word token
        for number, form in zip(sentence.lines[ID], sentence.lines[FORM], strict=True):
            if "." in number:
                continue
            multiword = "-" not in number and int(number) <= covered
            if not multiword:
                form = _SPACES.sub("", form)
                if not form:
                    raise TreebridgeError(f"the form of word {number} is only spaces")
                parts.append(form)
                token, end = end, end + len(form)
            if "-" in number:
                covered = int(number.partition("-")[2])
            else:
                self.forms.append(form)
                self.places.append(Place(token, end, multiword))
        self.text += "".join(parts)
        if len(self.forms) > first:
            self.sentences.append((range(first, len(self.forms)), (start, end)))


class Match(NamedTuple):
    """Matching stretches of gold and system, and the gold word of each system word."""

    gold: Row
    system: Row
    to_gold: list[int]  # index of the gold word, or NOWHERE
    same_sentences: list[range]  # gold words of sentences found in both


class _Side:
    """The sentences of one file, read one by one, with their position for messages."""

    def __init__(self, sentences: Iterable[Sentence], name: str):
        self.sentences = iter(sentences)
        self.name = name
        self.number = 0
        self.where = "before the first sentence"
        self.row = Row()

    def take(self) -> bool:
        """Append the next sentence to the row; False at the end of the file."""
        sentence = next(self.sentences, None)
        if sentence is None:
            return False
        self.number += 1
        name = sentence.comment("sent_id")
        self.where = f"sentence {self.number}" + (f" ({name})" if name else "")
        try:
            self.row.add(sentence)
        except TreebridgeError as error:
            raise self.error(error.message) from None
        return True

    def error(self, message: str) -> TreebridgeError:
        """An error located at the current sentence."""
        return TreebridgeError(f"{self.where}: {message}", file=self.name)


def match_same_words(
    gold: Iterable[Sentence], system: Iterable[Sentence], names: tuple[str, str]
) -> Iterator[Match]:
    """Match sentences and words one to one; raise an error where they differ."""
    left, right = _Side(gold, names[0]), _Side(system, names[1])
    while True:
        left.row, right.row = Row(), Row()
        both = left.take(), right.take()
        if not any(both):
            return
        if not all(both):
            longer, shorter = (left, right) if both[0] else (right, left)
            raise longer.error(
                f"{shorter.name} ends after {shorter.number} sentences; both files must have the "
                "same sentences"
            )
        pairs = zip_longest(left.row.forms, right.row.forms)
        for index, (wanted, found) in enumerate(pairs, 1):
            if wanted != found:
                raise right.error(
                    f"word {index} is {found or 'missing'} but {wanted or 'missing'} in "
                    f"{left.name}; use the convention conll18 if words differ"
                )
        words = range(len(left.row.forms))
        yield Match(left.row, right.row, list(words), [words] if words else [])


def match_same_text(
    gold: Iterable[Sentence], system: Iterable[Sentence], names: tuple[str, str]
) -> Iterator[Match]:
    """Match words by the characters they cover, as the CoNLL 2018 script does.

    Sentence boundaries may differ too. The script compares whole files; we compare the shortest
    stretches that end with the same token, which neither pointer of the script passes alone.
    """
    left, right = _Side(gold, names[0]), _Side(system, names[1])
    same = 0  # length of the common prefix
    while True:
        sizes = len(left.row.text), len(right.row.text)
        shorter = [side for side, n in zip((left, right), sizes, strict=True) if n == min(sizes)]
        more = [side.take() for side in shorter]
        same = _compare(left, right, same)
        a, b = left.row, right.row
        if not any(more):
            if len(a.text) != len(b.text):
                longer, rest = (left, a.text) if len(a.text) > len(b.text) else (right, b.text)
                message = f"{shorter[0].name} ends before “{rest[same:][:_SHOWN]}”"
                raise longer.error(f"{message}; both files must have the same text")
            if a.text:
                yield _match(a, b)
            return
        if a.text and len(a.text) == len(b.text) and a.places[-1].start == b.places[-1].start:
            yield _match(a, b)
            left.row, right.row, same = Row(), Row(), 0


def _compare(left: _Side, right: _Side, same: int) -> int:
    """The length of the common prefix; raise an error at the first difference."""
    a, b = left.row.text, right.row.text
    end = min(len(a), len(b))
    if a[same:end] == b[same:end]:
        return end
    while a[same] == b[same]:
        same += 1
    raise right.error(
        f"found “{b[same : same + _SHOWN]}” where {left.name}, {left.where}, has "
        f"“{a[same : same + _SHOWN]}”; both files must have the same text"
    )


def _match(gold: Row, system: Row) -> Match:
    """Match two stretches; sentences are the same if characters and word counts agree."""
    sizes = {characters: len(words) for words, characters in system.sentences}
    same = [words for words, place in gold.sentences if sizes.get(place) == len(words)]
    return Match(gold, system, _links(gold, system), same)


def _links(gold: Row, system: Row) -> list[int]:
    """For each system word, the gold word with the same characters.

    Words of multi-word tokens have no characters of their own: if one side has such a token, the
    words of both sides are matched by form up to the end of all tokens involved.
    """
    to_gold = [NOWHERE] * len(system.forms)
    g = s = 0
    while g < len(gold.forms) and s < len(system.forms):
        ours, theirs = gold.places[g], system.places[s]
        if ours.multiword or theirs.multiword:
            # The script skips only one word that begins before the token and treats any others as
            # part of it; we do the same to get identical scores.
            if ours.multiword and not theirs.multiword and theirs.start < ours.start:
                s += 1
            elif theirs.multiword and not ours.multiword and ours.start < theirs.start:
                g += 1
            end = ours.end if ours.multiword else theirs.end
            g_end, s_end = _end_of_tokens(gold.places, system.places, g, s, end)
            for i, j in _same_forms(gold.forms[g:g_end], system.forms[s:s_end]):
                to_gold[s + j] = g + i
            g, s = g_end, s_end
        elif ours == theirs:
            to_gold[s] = g
            g, s = g + 1, s + 1
        elif ours.start <= theirs.start:
            g += 1
        else:
            s += 1
    return to_gold


def _end_of_tokens(
    gold: list[Place], system: list[Place], g: int, s: int, end: int
) -> tuple[int, int]:
    """The first words after character `end`, which overlapping multi-word tokens may extend."""

    def inside(places: list[Place], i: int) -> bool:
        if i == len(places):
            return False
        return places[i].start < end if places[i].multiword else places[i].end <= end

    while inside(gold, g) or inside(system, s):
        first = g < len(gold) and (s == len(system) or gold[g].start <= system[s].start)
        place = gold[g] if first else system[s]
        end = max(end, place.end) if place.multiword else end
        g, s = g + first, s + (not first)
    return g, s


def _same_forms(gold: list[str], system: list[str]) -> Iterator[tuple[int, int]]:
    """The longest common subsequence of two lists of forms, ignoring case."""
    ours, theirs = [form.lower() for form in gold], [form.lower() for form in system]
    length = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]  # from [i, j] to the ends
    for i in range(len(ours) - 1, -1, -1):
        for j in range(len(theirs) - 1, -1, -1):
            longest = max(length[i + 1][j], length[i][j + 1])
            length[i][j] = 1 + length[i + 1][j + 1] if ours[i] == theirs[j] else longest
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif length[i][j] == length[i + 1][j]:
            i += 1
        else:
            j += 1
