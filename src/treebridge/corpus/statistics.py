"""Statistics of corpus files, computed in one streaming pass."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from treebridge.corpus.bitext import Bitext, Counts
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.files import name_of, read_lines
from treebridge.corpus.sentence import ID, Sentence
from treebridge.corpus.text import Splitter
from treebridge.corpus.trees import is_projective
from treebridge.errors import TreebridgeError
from treebridge.progress import QUIET, Progress

EXAMPLES = 3


@dataclass
class Lengths:
    """A histogram of sentence lengths in words."""

    counts: Counter[int] = field(default_factory=Counter)

    def add(self, length: int) -> None:
        """Count one sentence."""
        self.counts[length] += 1

    @property
    def total(self) -> int:
        """Total number of words."""
        return sum(length * count for length, count in self.counts.items())

    @property
    def mean(self) -> float:
        """Words per sentence."""
        return self.total / max(1, self.counts.total())

    def quantile(self, share: float) -> int:
        """The length that this share of the sentences does not exceed."""
        left = share * self.counts.total()
        for length in sorted(self.counts):
            left -= self.counts[length]
            if left <= 0:
                return length
        return 0


@dataclass
class TreebankStatistics:
    """Statistics of a CoNLL-U file."""

    file: str
    sentences: int = 0
    trees: int = 0  # sentences whose heads are all given
    projective: int = 0
    multiword_tokens: int = 0
    empty_nodes: int = 0
    lengths: Lengths = field(default_factory=Lengths)
    upos: Counter[str] = field(default_factory=Counter)
    deprels: Counter[str] = field(default_factory=Counter)
    types: set[int] = field(default_factory=set)
    examples: list[Sentence] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass
class BitextStatistics:
    """Statistics of a parallel corpus."""

    file: str
    bitext: Bitext
    counts: Counts
    source: Lengths = field(default_factory=Lengths)
    target: Lengths = field(default_factory=Lengths)
    examples: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass
class TextStatistics:
    """Statistics of a file of raw text."""

    file: str
    lines: int = 0
    blank: int = 0
    lengths: Lengths = field(default_factory=Lengths)
    examples: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def kind_of(path: str | Path) -> str:
    """Detect `treebank`, `bitext` or `text` by file name, else by the first lines."""
    name = Path(str(path)).name.lower()
    if ".conllu" in name:
        return "treebank"
    if any(suffix in name for suffix in (".tsv", ".tmx")) or name.endswith(".zip"):
        return "bitext"
    lines = [line for _, line in islice(read_lines(path, cut_long=True), 50) if line.strip()]
    bare = [line for line in lines if not line.startswith("#")]
    if bare and bare[0].count("\t") >= 7 and bare[0].split("\t")[0].split("-")[0].isdecimal():
        return "treebank"
    for separator in ("\t", "|||"):
        if lines and all(separator in line for line in lines):
            return "bitext"
    return "text"


def treebank_statistics(path: str | Path, progress: Progress = QUIET) -> TreebankStatistics:
    """Compute the statistics of a CoNLL-U file; malformed sentences are reported and skipped."""
    result = TreebankStatistics(name_of(path))

    def note(error: TreebridgeError) -> None:
        result.problems.append(str(error))

    read = read_conllu(path, trees="checked", on_problem=note)
    for sentence in progress.count(read, "sentences"):
        result.sentences += 1
        result.lengths.add(len(sentence))
        result.multiword_tokens += sum("-" in cell for cell in sentence.lines[ID])
        result.empty_nodes += sum("." in cell for cell in sentence.lines[ID])
        result.upos.update(sentence.upos)
        result.deprels.update(sentence.deprels)
        result.types.update(map(hash, sentence.forms))
        heads = [head for head in sentence.heads if head is not None]
        if len(heads) == len(sentence) > 0:
            result.trees += 1
            result.projective += is_projective(heads)
        if len(result.examples) < EXAMPLES and 5 <= len(sentence) <= 12:
            result.examples.append(sentence)
    return result


def bitext_statistics(bitext: Bitext, progress: Progress = QUIET) -> BitextStatistics:
    """Compute the statistics of a parallel corpus with its filters."""
    walk = iter(bitext)
    result = BitextStatistics(" + ".join(map(name_of, bitext.paths)), bitext, walk.counts)
    try:
        for pair in progress.count(walk, "pairs"):
            result.source.add(len(pair.source))
            result.target.add(len(pair.target))
            if len(result.examples) < EXAMPLES and len(pair.source) >= 4:
                result.examples.append((" ".join(pair.source), " ".join(pair.target)))
    except TreebridgeError as error:
        result.problems.append(str(error))
    return result


def text_statistics(path: str | Path, progress: Progress = QUIET) -> TextStatistics:
    """Compute the statistics of a file of raw text."""
    result = TextStatistics(name_of(path))
    words = Splitter().words
    for _, line in progress.count(read_lines(path, cut_long=True), "lines"):
        result.lines += 1
        if not line.strip():
            result.blank += 1
            continue
        result.lengths.add(len(words(line)))
        if len(result.examples) < EXAMPLES:
            result.examples.append(line.strip())
    return result
