"""The paper's data and where to download it: treebanks, encoders, vectors and parallel text.

Checksums of some files are listed here; others are recorded at the first download.
"""

from __future__ import annotations

from dataclasses import dataclass

from treebridge.corpus.download import Remote
from treebridge.errors import TreebridgeError

UD = "2.6"
SOURCE = "en"
CORPUS = "ParaCrawl/v6"
SHA256 = {  # of UD 2.6 files
    "en_ewt-ud-dev.conllu": "c374bf85ed0d3b573dd0483c882ba89613b0412e62276f4be6776c8791fc8da7",
    "en_ewt-ud-test.conllu": "ecb7f754375977d84976fe825416ab104ecb9b79be84cf50be872597963d59af",
    "en_ewt-ud-train.conllu": "efd02bc9a51b38e235332498e808e834d192fb9dae8fc1950a48f2ffa7ca00e7",
    "fi_tdt-ud-dev.conllu": "bd0460795bc26182170ce8a9319e3f93a66b6f6faefb19ffd250fc9a1710a8ae",
    "el_gdt-ud-dev.conllu": "5d0a2e45384b603b23f12e72a22cd0850bec78356484433bba89107f964e78ee",
    "pl_lfg-ud-dev.conllu": "907efdde55fdd506be9758d3efac50a2186c9b07d841b36237b2b1650aad3a5d",
    "pt_gsd-ud-dev.conllu": "898b0429d56d0490245d6896e0365e8d1aa31fb17d2a6f065496fdccf1488461",
    "ro_rrt-ud-dev.conllu": "cb3af174e4484d8798a6406b6ff78bd502fdd1db4171c0cb8a842129855efec2",
    "es_gsd-ud-dev.conllu": "c0c1632f04ba9fcdc3ecc690d5c1ad001ae684aaa4f8d1ec5190074d180a1f6d",
}


@dataclass(frozen=True)
class Entry:
    """A language of the paper."""

    code: str
    name: str
    treebank: str  # repository name without UD_
    stem: str  # prefix of its file names
    encoder: str  # on the Hugging Face hub
    licence: str  # of the treebank

    def file(self, part: str) -> str:
        """File name of a part of the treebank."""
        return f"{self.stem}-ud-{part}.conllu"

    def remote(self, part: str) -> Remote:
        """Download address of a part of the treebank."""
        base = "https://raw.githubusercontent.com/UniversalDependencies"
        file = self.file(part)
        url = f"{base}/UD_{self.treebank}/r{UD}/{file}"
        return Remote(url, self.licence, sha256=SHA256.get(file))


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
    """Look up a language of the paper by its code."""
    if code not in ENTRIES:
        raise TreebridgeError(f"unknown language {code!r}; choose from {', '.join(TARGETS)}")
    return ENTRIES[code]


def vectors(code: str) -> Remote:
    """fastText vectors trained on Wikipedia and aligned with RCSLS."""
    url = f"https://dl.fbaipublicfiles.com/fasttext/vectors-aligned/wiki.{code}.align.vec"
    return Remote(url, "CC BY-SA 3.0")


def corpus(name: str, code: str) -> Remote:
    """Parallel text with English: ParaCrawl v6, or an OPUS corpus as NAME/VERSION."""
    if name == CORPUS:
        base = "https://s3.amazonaws.com/web-language-models/paracrawl/release6"
        return Remote(f"{base}/{SOURCE}-{code}.txt.gz", "CC0")
    if name.count("/") != 1:
        raise TreebridgeError(
            f"unknown corpus {name!r}; use {CORPUS} or an OPUS corpus as NAME/VERSION (Europarl/v8)"
        )
    pair = "-".join(sorted((SOURCE, code)))
    url = f"https://object.pouta.csc.fi/OPUS-{name}/moses/{pair}.txt.zip"
    return Remote(url, "see https://opus.nlpl.eu")
