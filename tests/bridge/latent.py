"""An encoder for artificial languages whose spaces are known to be rotations of one another.

A word's vector is made of the concepts it can mean, of its neighbours' concepts (so that context
tells senses apart), turned by a rotation of the language's own, and pushed into a cone, as the
vectors of real encoders are.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import numpy as np

from treebridge.corpus.artificial import Language, World
from treebridge.corpus.artificial.grammar import topic_of
from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoded, Encoder, Words

DIM = 48


def direction(name: str) -> np.ndarray:
    return np.random.default_rng(zlib.crc32(name.encode())).normal(size=DIM)


class LatentEncoder(Encoder):
    dim = DIM

    def __init__(self, language: Language, context: float = 1.0, cone: float = 1.0):
        self.name = language.code
        self.context = context
        self.encoded = 0
        rng = np.random.default_rng(zlib.crc32(language.code.encode()))
        self.rotation = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0]
        self.cone = cone * direction(language.code)
        self.latent: dict[str, np.ndarray] = {}
        for concept, form in language.forms.items():
            vector = direction(concept)
            if concept[:4] in ("NOUN", "VERB"):
                vector = vector + 1.5 * direction(f"topic {topic_of(concept)}")
            self.latent[form] = self.latent.get(form, 0) + vector

    @property
    def fingerprint(self) -> str:
        return f"latent {self.name}"

    def whole(self, words: Words):
        return np.array([len(word) < 12 for word in words], bool)

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        for words in sentences:
            self.encoded += 1
            own = np.array([self._latent(word) for word in words]).reshape(len(words), DIM)
            around = (own.sum(0) - own) / max(1, len(words) - 1)
            vectors = (own + self.context * around) @ self.rotation.T + self.cone
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            yield Encoded(vectors.astype(np.float32), self.whole(words))

    def _latent(self, word: str) -> np.ndarray:
        word = word.lower()
        for end in range(len(word), 1, -1):  # inflected forms share their stem's vector
            if word[:end] in self.latent:
                return self.latent[word[:end]]
        return direction(f"form {word}")


def links_of(world: World, target: str, sentences: int):
    """A function that starts a pass over pairs with their gold links."""

    def walk():
        for pair in world.pairs(target, sentences):
            links = np.array(sorted(pair.sure), np.int64).reshape(-1, 2)
            yield Pair(list(pair.source.forms), list(pair.target.forms)), links

    return walk
