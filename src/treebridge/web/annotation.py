"""A file that is being annotated: what the page shows of it, and its edits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from treebridge.corpus.edit.document import Document
from treebridge.corpus.edit.marks import (
    ARC,
    DECIDED,
    LABEL,
    NOTE,
    decided,
    is_done,
    only_decided,
    probability,
)
from treebridge.corpus.edit.operations import apply, given_problem
from treebridge.corpus.edit.sentences import join_sentences, split_sentence
from treebridge.corpus.sentence import ID, Sentence
from treebridge.corpus.universal import RELATIONS, TAGS
from treebridge.errors import TreebridgeError
from treebridge.parse.parser import Parser
from treebridge.parse.reparse import doubtful, open_arcs
from treebridge.parse.ud_hints import broken_rules


class Annotation:
    """A document and the parser that helps with it."""

    def __init__(self, document: Document, parser: Parser, model: str):
        self.document = document
        self.parser = parser
        self.model = model
        used = {label for sentence in document for label in sentence.deprels}
        own = {label for label in used if label.partition(":")[0] in RELATIONS}
        self.labels = _glossed({*RELATIONS, *parser.labels, *own} - {"_"}, RELATIONS)
        self.tags = _glossed({*TAGS, *parser.tags} - {"_"}, TAGS)

    def overview(self) -> dict[str, Any]:
        """The file, its sentences in short, and the labels and tags to choose from."""
        return {
            "file": self.document.path.name,
            "model": self.model,
            "language": self.parser.language,
            "labels": self.labels,
            "tags": self.tags,
            **self.history(),
            "sentences": self.summaries(),
        }

    def history(self) -> dict[str, Any]:
        """The version of the file, and whether there is anything to undo."""
        document = self.document
        return {"version": document.version, "undo": document.can_undo, "redo": document.can_redo}

    def summaries(self) -> list[dict[str, Any]]:
        """Every sentence in short."""
        return [summary(sentence) for sentence in self.document]

    def check(self, number: int, version: str | None = None) -> Sentence:
        """The sentence with this number; refuse an older version of the file."""
        if version is not None and version != self.document.version:
            raise Outdated("the file was changed in another window; this page shows it now")
        if not 0 <= number < len(self.document):
            raise TreebridgeError(
                f"there is no sentence {number + 1}; the file has {len(self.document)}"
            )
        return self.document[number]

    def shown(self, number: int) -> dict[str, Any]:
        """A sentence in full; its parser may be needed to find the doubtful arcs."""
        sentence = self.check(number)
        return {**detail(sentence, self.parser), "number": number}

    def edit(self, number: int, name: str, **arguments: Any) -> int:
        """Edit a sentence, save the file, and return the number of the sentence to show."""
        sentence = self.document[number]
        if name == "label" and arguments.get("label") not in self.labels:
            raise TreebridgeError(
                f"“{arguments.get('label')}” is not a relation of Universal Dependencies, the "
                "model or this file"
            )
        if name == "tag" and arguments.get("tag") not in self.tags:
            raise TreebridgeError(f"“{arguments.get('tag')}” is not a universal part of speech")
        if name == "split_sentence":
            parts = split_sentence(sentence, arguments["word"], self._new_id(sentence))
            self.document.replace(number, 1, parts)
            return number
        if name == "join_sentences":
            if number + 1 >= len(self.document):
                raise TreebridgeError("this is the last sentence; there is none to join to it")
            joined = join_sentences(sentence, self.document[number + 1])
            self.document.replace(number, 2, [joined])
            return number
        made = apply(sentence, name, **arguments)
        if made != sentence:
            self.document.replace(number, 1, [made])
        return number

    def _new_id(self, sentence: Sentence) -> str | None:
        """An id for the second part of a sentence that no other sentence has."""
        own = sentence.comment("sent_id")
        if own is None:
            return None
        taken = {one.comment("sent_id") for one in self.document}
        number = 2
        while f"{own}-{number}" in taken:
            number += 1
        return f"{own}-{number}"

    def content(self, part: str) -> str:
        """CoNLL-U of all sentences, of those that are done, or of all that was decided.

        In the last, all cells that no person chose are unknown (`_`).
        """
        chosen: Iterable[Sentence] = self.document
        if part == "done":
            chosen = filter(is_done, self.document)
        elif part == "decided":
            chosen = (only_decided(s) for s in self.document if any(decided(s)))
        return "".join(sentence.to_conllu() for sentence in chosen)


class Outdated(TreebridgeError):
    """A page shows an older version of the file."""


def summary(sentence: Sentence) -> dict[str, Any]:
    """A sentence in a list."""
    return {
        "id": sentence.comment("sent_id"),
        "text": sentence.text,
        "words": len(sentence),
        "done": is_done(sentence),
        "note": sentence.comment(NOTE) or "",
    }


def detail(sentence: Sentence, parser: Parser | None = None) -> dict[str, Any]:
    """Everything that the page shows of a sentence."""
    by_person = decided(sentence)
    words = []
    for word, fixed in zip(sentence, by_person, strict=True):
        words.append(
            {
                **word._asdict(),
                "fixed": [column for column in DECIDED if column in fixed],
                "arc": probability(word.misc, ARC),
                "label": probability(word.misc, LABEL),
            }
        )
    return {
        **summary(sentence),
        "words": words,
        "doubtful": doubtful(sentence, parser),
        "open": any(head or label for head, label in open_arcs(sentence)),
        "problem": given_problem(sentence),
        "rules": broken_rules(sentence),
        "tokens": [
            {"first": first, "last": last, "form": form}
            for first, last, form, _ in sentence.tokens()
            if last > first
        ],
        "empty": [number for number in sentence.lines[ID] if "." in number],
        "conllu": sentence.to_conllu(),
    }


def _glossed(names: set[str], glosses: dict[str, str]) -> dict[str, str]:
    """Names in alphabetical order, each with what it means; a subtype means what its type does."""
    return {
        name: glosses.get(name) or glosses.get(name.partition(":")[0], "") for name in sorted(names)
    }
