"""Words that are punctuation in every language."""

from __future__ import annotations

from unicodedata import category

# Unicode punctuation that may also be a symbol, be read aloud or be part of a word.
_MORE_THAN_PUNCTUATION = frozenset("#%&*@/\\-_'’\"§¶†‡‰‱′″")
_ENDINGS = frozenset(".!?…‽¡¿؟")  # may be combined: ?!


def is_only_punctuation(word: str) -> bool:
    """Whether a word can only be punctuation, such as `¿`, `«` and `...` but not `:)`.

    >>> [word for word in ("¿", "...", "?!", ":)", "%", "-", "a.") if is_only_punctuation(word)]
    ['¿', '...', '?!']
    """
    characters = set(word)
    if len(characters) != 1 and not characters <= _ENDINGS:
        return False  # different characters may be an emoticon
    return all(category(c)[0] == "P" and c not in _MORE_THAN_PUNCTUATION for c in characters)
