"""What the paper used and where it is: treebanks, encoders, vectors and parallel text.

A checksum stands here only where we have fetched the file ourselves; for the others it is recorded
beside the file at the first download.
"""

from __future__ import annotations

from dataclasses import dataclass

from treebridge.corpus.download import Remote
from treebridge.errors import TreebridgeError

UD = "2.6"
SOURCE = "en"
CORPUS = "ParaCrawl/v6"


@dataclass(frozen=True)
class Entry:
    """A language of the paper."""

    code: str
    name: str
    treebank: str  # the repository's name without UD_
    stem: str  # how its files begin
    encoder: str  # on the Hugging Face hub
    licence: str  # of the treebank

    def file(self, part: str) -> str:
        """The name of a treebank's file."""
        return f"{self.stem}-ud-{part}.conllu"

    def remote(self, part: str) -> Remote:
        """Where it is."""
        base = "https://raw.githubusercontent.com/UniversalDependencies"
        return Remote(f"{base}/UD_{self.treebank}/r{UD}/{self.file(part)}", self.licence)


_SHARE = "CC BY-SA 4.0"
ENTRIES = {
    entry.code: entry
    for entry in (
        Entry("en", "English", "English-EWT", "en_ewt", "bert-base-uncased", _SHARE),
        Entry("es", "Spanish", "Spanish-GSD", "es_gsd",
              "dccuchile/bert-base-spanish-wwm-uncased", _SHARE),
        Entry("pt", "Portuguese", "Portuguese-GSD", "pt_gsd",
              "neuralmind/bert-base-portuguese-cased", _SHARE),
        Entry("ro", "Romanian", "Romanian-RRT", "ro_rrt",
              "dumitrescustefan/bert-base-romanian-uncased-v1", _SHARE),
        Entry("pl", "Polish", "Polish-LFG", "pl_lfg", "dkleczek/bert-base-polish-uncased-v1",
              "GPL 3.0"),
        Entry("fi", "Finnish", "Finnish-TDT", "fi_tdt", "TurkuNLP/bert-base-finnish-uncased-v1",
              _SHARE),
        Entry("el", "Greek", "Greek-GDT", "el_gdt", "nlpaueb/bert-base-greek-uncased-v1",
              "CC BY-NC-SA 3.0"),
    )
}  # fmt: skip
TARGETS = tuple(code for code in ENTRIES if code != SOURCE)
MULTILINGUAL = {
    "multilingual": "bert-base-multilingual-cased",
    "multilingual-uncased": "bert-base-multilingual-uncased",
}


def entry(code: str) -> Entry:
    """A language of the paper by its code."""
    if code not in ENTRIES:
        raise TreebridgeError(f"there is no language {code!r}; there are {', '.join(TARGETS)}")
    return ENTRIES[code]


def vectors(code: str) -> Remote:
    """fastText vectors of Wikipedia, aligned by RCSLS."""
    url = f"https://dl.fbaipublicfiles.com/fasttext/vectors-aligned/wiki.{code}.align.vec"
    return Remote(url, "CC BY-SA 3.0")


def corpus(name: str, code: str) -> Remote:
    """Parallel text with English: ParaCrawl v6, or any corpus of OPUS as NAME/VERSION."""
    if name == CORPUS:
        base = "https://s3.amazonaws.com/web-language-models/paracrawl/release6"
        return Remote(f"{base}/{SOURCE}-{code}.txt.gz", "CC0")
    if name.count("/") != 1:
        raise TreebridgeError(
            f"--corpus {name}: take {CORPUS}, or a corpus of OPUS as NAME/VERSION (Europarl/v8)"
        )
    pair = "-".join(sorted((SOURCE, code)))
    url = f"https://object.pouta.csc.fi/OPUS-{name}/moses/{pair}.txt.zip"
    return Remote(url, "see https://opus.nlpl.eu")
