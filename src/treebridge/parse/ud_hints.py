"""Which rules of Universal Dependencies a tree breaks, in words, for those who annotate it."""

from __future__ import annotations

from collections.abc import Iterator

from treebridge.corpus.sentence import Sentence, Word
from treebridge.corpus.universal import TAGS
from treebridge.parse.ud_rules import Rules


def broken_rules(sentence: Sentence) -> list[str]:
    """Name the rules of `ud_rules` that heads, labels and tags break; unknown ones break none."""
    return list(_broken(sentence))


def _broken(sentence: Sentence) -> Iterator[str]:
    labels = sorted({*sentence.deprels, "punct"} - {"_"})
    tags = list(TAGS)
    rules = Rules.of(labels, tags)
    words = sentence.words
    known = [word for word in words if word.head is not None and word.deprel != "_"]
    for word in known:
        label = labels.index(word.deprel)
        if word.upos in TAGS and not rules.fitting[rules.kinds[label]][tags.index(word.upos)]:
            yield f"{_name(word)}: the label {word.deprel} does not go with the tag {word.upos}"
        if not word.head:
            continue
        head = words[word.head - 1]
        if rules.rightward[label] and head.id > word.id:
            yield f"{_name(word)}: the head of {word.deprel} must stand before it"
        if head.deprel != "_" and not rules.dependents[labels.index(head.deprel), label]:
            below = f"{_name(word)} ({word.deprel})"
            yield f"{_name(head)}: a word with the label {head.deprel} cannot govern {below}"
    for mask, what in zip(rules.unique, ("subjects", "objects"), strict=True):
        groups: dict[int, list[Word]] = {}
        for word in known:
            if word.head and mask[labels.index(word.deprel)]:
                groups.setdefault(word.head, []).append(word)
        for number, several in groups.items():
            if len(several) > 1:
                names = " and ".join(_name(word) for word in several)
                yield f"{_name(words[number - 1])} has {len(several)} {what}: {names}"


def _name(word: Word) -> str:
    return f"{word.id} {word.form}"
