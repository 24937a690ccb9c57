"""Long sentences: raw text is split, given words are refused, and memory stays bounded."""

from __future__ import annotations

import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import Run
from treebridge import Parser, Sentence, TreebridgeError
from treebridge.corpus.sentence import MAX_WORDS
from treebridge.parse.chunking import CHUNK, CHUNK_WORDS, chunks_of
from treebridge.parse.padding import cut_batches

PEAK = """
import resource, sys, warnings
from itertools import islice
from treebridge import Parser
from treebridge.corpus.input import read_sentences

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10  # MB

warnings.simplefilter("ignore")
parser = Parser.load(sys.argv[1])
parser("a short sentence to begin with.")
before = peak()
words = sum(len(one.sentence) for one in parser.parse(read_sentences(sys.argv[2])))
assert words == 12_000, words
assert len(list(islice(parser.parse(read_sentences(sys.argv[3])), 16))) == 16
print(peak() - before)
"""


def test_one_long_line_and_a_bomb_take_little_memory(home: Path, tmp_path: Path) -> None:
    line, bomb = tmp_path / "line.txt", tmp_path / "bomb.txt.xz"
    line.write_text("word " * 12_000)
    bomb.write_bytes(lzma.compress(b"word " * (8 << 20), preset=0))
    assert bomb.stat().st_size < 58_000
    done = subprocess.run(
        [sys.executable, "-c", PEAK, home / "model", line, bomb],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 500  # MB; 8,000 and 9,000 when sentences had no limit


@pytest.mark.filterwarnings("ignore:.*no vector")
def test_the_command_splits_text_and_says_so(home: Path, here: Run, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("word " * 3000)
    done = here("parse", "--model", home / "model", "long.txt", "-o", "out.conllu")
    assert done.returncode == 0
    assert (tmp_path / "out.conllu").read_text().count("\tword\t") == 3000
    said = "note: a sentence of more than 2,000 words was split; is this running text?\n"
    assert done.stderr.count(said) == 1


def test_given_words_beyond_the_limit_are_refused(home: Path, here: Run, tmp_path: Path) -> None:
    row = "{}\ta" + "\t_" * 8 + "\n"
    long = "".join(row.format(number + 1) for number in range(MAX_WORDS + 1))
    (tmp_path / "long.conllu").write_text(row.format(1) + "\n" + long + "\n")
    done = here("parse", "--model", home / "model", "long.conllu", "-o", "out.conllu")
    assert done.returncode == 2 and not (tmp_path / "out.conllu").exists()
    assert done.stderr.splitlines()[-1] == (
        "error: sentence 2 has 2,001 words, and a parser takes at most 2,000; split it into several"
    )


def test_a_treebank_is_checked_before_anything_is_encoded() -> None:
    long = Sentence.from_words(["a"] * (MAX_WORDS + 1))
    with pytest.raises(TreebridgeError, match="sentence 1 has 2,001 words"):
        Parser.train([long], None)  # type: ignore[arg-type]


def test_no_batch_has_a_sentence_beyond_the_limit() -> None:
    """Training and refining come this way, too."""
    lengths = np.array([3, MAX_WORDS, MAX_WORDS + 1])
    with pytest.raises(TreebridgeError, match="sentence 3 has 2,001 words"):
        cut_batches(lengths, np.arange(3), 700)
    assert len(cut_batches(lengths[:2], np.arange(2), 1500)) == 2


def test_chunks_hold_a_bounded_number_of_words() -> None:
    def chunks(words: int, count: int) -> list[int]:
        sentence = Sentence.from_words(["a"] * words)
        return [len(chunk) for _, chunk in chunks_of([sentence] * count)]

    assert chunks(20, 1500) == [16, 64, 256, CHUNK, 1500 - 16 - 64 - 256 - CHUNK]
    assert max(chunks(2000, 100)) * 2000 == CHUNK_WORDS
