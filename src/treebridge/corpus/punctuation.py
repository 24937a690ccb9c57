"""Words that are punctuation whatever the language, and whatever a tagger has seen."""

from __future__ import annotations

from unicodedata import category

# Unicode calls these punctuation too, but they may be symbols, be read aloud or be part of a word.
_MORE_THAN_PUNCTUATION = frozenset("#%&*@/\\-_'’\"§¶†‡‰‱′″")
_ENDINGS = frozenset(".!?…‽¡¿؟")  # go together: ?!


def is_only_punctuation(word: str) -> bool:
    """Whether a word can be nothing else; `:)` can, `¿`, `«` and `...` cannot.

    >>> [word for word in ("¿", "...", "?!", ":)", "%", "-", "a.") if is_only_punctuation(word)]
    ['¿', '...', '?!']
    """
    characters = set(word)
    if len(characters) != 1 and not characters <= _ENDINGS:
        return False  # two sorts of them may be a face
    return all(category(c)[0] == "P" and c not in _MORE_THAN_PUNCTUATION for c in characters)
