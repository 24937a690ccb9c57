"""Choose the sentences that an annotator should correct next."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.files import Source, name_of
from treebridge.corpus.input import Reading, read_sentences
from treebridge.corpus.sentence import Sentence
from treebridge.errors import TreebridgeError
from treebridge.parse.confidence import with_highlights
from treebridge.parse.parser import Parser
from treebridge.parse.selection import Candidate, choose
from treebridge.parse.settings import NextSettings
from treebridge.progress import QUIET, Progress


@dataclass(frozen=True)
class NextTrees:
    """The chosen sentences, pre-annotated, the most useful first, and what they came from."""

    sentences: list[Sentence]
    candidates: int  # sentences of a suitable length, without repetitions, that were parsed
    seen: int  # sentences in the text
    expected_errors: float  # in the chosen sentences
    doubtful: int  # highlighted words


def next_trees(
    parser: Parser,
    files: Sequence[Source],
    settings: NextSettings | None = None,
    reading: Reading | None = None,
    *,
    done: Sequence[str | Path] = (),
    progress: Progress = QUIET,
) -> NextTrees:
    """Choose the sentences of some text whose correction teaches the parser most.

    They come with the parser's trees, its confidence, and the arcs worth a look highlighted.
    Sentences in the files `done`, and near duplicates of them, are not chosen again. Memory does
    not grow with the text: of a long one, only a sample is parsed.
    """
    settings, reading = settings or NextSettings(), reading or Reading()
    known = [sentence for file in done for sentence in read_conllu(file)]
    sample = _Sample(settings, known)
    for sentence in progress.count(_sentences(files, parser.language, reading), "sentences"):
        sample.add(sentence)
    drawn = sample.drawn()
    if not drawn:
        raise TreebridgeError(
            f"none of {sample.seen:,} sentences has {settings.shortest} to {settings.longest} words"
            " and is not annotated yet; give more text"
        )
    progress.step(f"parsing {len(drawn):,} candidates")
    candidates = [Candidate.of(parsed) for parsed in parser.parse(drawn)]
    chosen = choose(candidates, settings.count, known)
    marked = [with_highlights(candidate.parsed) for candidate in chosen]
    return NextTrees(
        [sentence for sentence, _ in marked],
        len(candidates),
        sample.seen,
        sum(candidate.errors for candidate in chosen),
        sum(count for _, count in marked),
    )


def _sentences(
    files: Sequence[Source], language: str | None, reading: Reading
) -> Iterator[Sentence]:
    """Sentences with an id that says which file they came from, and where in it they are."""
    splitter = reading.splitter(language)
    for file in files:
        name = name_of(file)
        stem = Path(name).name.partition(".")[0] or "text"
        for number, sentence in enumerate(read_sentences(file, splitter, reading), 1):
            yield _identified(sentence, f"{stem}-{number}")


def _identified(sentence: Sentence, name: str) -> Sentence:
    """A sentence with `sent_id` and `text`; ids of CoNLL-U stay, the numbers of raw text do not."""
    stated = sentence.comment("sent_id")
    if stated is not None and not stated.isdecimal():
        name = stated
    kept = [
        line for line in sentence.comments
        if line[1:].partition("=")[0].strip() not in ("sent_id", "text", "newpar", "newdoc id")
    ]  # fmt: skip
    made = sentence.annotate()
    made.comments = [f"# sent_id = {name}", f"# text = {sentence.text}", *kept]
    return made


class _Sample:
    """A uniform sample of the different sentences in a stream of any length.

    Each has a random number that depends on the seed and its words only; the lowest are kept. So
    copies of a sentence count once, wherever they are.
    """

    def __init__(self, settings: NextSettings, done: Iterable[Sentence]):
        self.settings = settings
        self.done = {_key(sentence) for sentence in done}
        self.seen = 0
        self.kept: dict[int, tuple[int, Sentence]] = {}  # by random number
        self.highest: list[int] = []  # the same numbers, negative, as a heap

    def add(self, sentence: Sentence) -> None:
        """Consider a sentence."""
        self.seen += 1
        if not self.settings.shortest <= len(sentence) <= self.settings.longest:
            return
        key = _key(sentence)
        salted = f"{self.settings.seed} {key}".encode("utf-8", "surrogatepass")
        number = int.from_bytes(blake2b(salted, digest_size=8).digest(), "big")
        full = len(self.kept) == self.settings.candidates
        if key in self.done or number in self.kept or (full and number > -self.highest[0]):
            return
        self.kept[number] = (self.seen, sentence)
        if full:
            del self.kept[-heapq.heapreplace(self.highest, -number)]
        else:
            heapq.heappush(self.highest, -number)

    def drawn(self) -> list[Sentence]:
        """The sample in the order of the text."""
        return [sentence for _, sentence in sorted(self.kept.values(), key=lambda one: one[0])]


def _key(sentence: Sentence) -> str:
    """What two copies of a sentence have in common, whatever their case, digits and marks."""
    words = (form.lower() for form in sentence.forms)
    return " ".join("0" if word.isdecimal() else word for word in words if word.isalnum())
