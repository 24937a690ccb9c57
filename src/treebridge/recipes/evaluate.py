"""Score the trees of a file or of a parser."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from treebridge.corpus.conllu import Treebank, read_conllu
from treebridge.errors import TreebridgeError
from treebridge.parse.score import Scores, score
from treebridge.parse.verdict import parser_verdict
from treebridge.progress import QUIET, Progress
from treebridge.recipes.advice import Advice, advise

TYPE_CHECKING = False
if TYPE_CHECKING:  # comparing two files needs no torch
    from treebridge.parse.parser import Parser


@dataclass(frozen=True)
class Evaluation:
    """Scores of a system against gold trees."""

    scores: Scores
    system: str
    gold: str
    unseen: Counter[str] | None = field(default=None)  # gold labels the parser does not know
    verdict: str | None = None  # why the parser is useless, if it is
    advice: Advice | None = None  # for a parser


def evaluate_files(
    system: str, gold: str, convention: str = "paper", progress: Progress = QUIET
) -> Evaluation:
    """Score the trees of a file against gold trees of the same sentences."""
    if system == gold == "-":
        raise TreebridgeError("standard input can be only one of the two files")
    scores = score(
        progress.count(read_conllu(gold, trees="required"), "sentences"),
        read_conllu(system, trees="required"),
        convention,
        names=(gold, system),
    )
    return _checked(Evaluation(scores, system, gold))


def evaluate_parser(
    parser: Parser,
    gold: str | Path,
    convention: str = "paper",
    *,
    name: str = "parser",
    progress: Progress = QUIET,
) -> Evaluation:
    """Parse the sentences of a gold file and score the trees."""
    from treebridge.parse.vote import Vote

    trees = Treebank.read(gold)
    scores = parser.evaluate(trees, convention, names=(str(gold), name), progress=progress)
    unseen = Counter(x for s in trees for x in s.deprels if x not in parser.labels)
    verdict = parser_verdict(parser.scores)
    single = not isinstance(parser.model, Vote)  # nothing in particular would help several models
    advice = advise(parser, scores.values) if single else None
    return _checked(Evaluation(scores, name, str(gold), unseen, verdict, advice))


def _checked(evaluation: Evaluation) -> Evaluation:
    if not evaluation.scores.words:
        raise TreebridgeError("no words to score", file=evaluation.gold)
    return evaluation
