"""Figure 3 of the paper: anisotropy of the vectors before and after normalization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from treebridge.bridge.isotropy import Isotropy, anisotropy
from treebridge.encode.encoder import Encoder
from treebridge.encode.store import encode_into_store
from treebridge.experiment.inputs import Target
from treebridge.experiment.lab import Lab
from treebridge.experiment.table import failure_reason

ITERATIONS = 10  # the paper uses 5


@dataclass(frozen=True)
class Cone:
    """The mean cosine of two random words of a language after 0, 1, 2, … iterations."""

    language: str
    name: str
    encoder: str
    degrees: tuple[float, ...]


@dataclass(frozen=True)
class PairOfCones:
    """The cones of a language pair, or the reason they could not be measured."""

    target: Cone | None
    source: Cone | None
    failed: str | None = None


def measure(encoder: Encoder, lab: Lab, text: Sequence[list[str]]) -> tuple[float, ...]:
    """Anisotropy of the words of a text after each iteration."""
    vectors = encode_into_store(encoder, text, progress=lab.progress).vectors
    fitted = Isotropy.fit(vectors, ITERATIONS)
    rounds = (Isotropy(fitted.means[:n]) for n in range(ITERATIONS + 1))
    return tuple(anisotropy(one.transform(vectors)) for one in rounds)


def anisotropy_of_pairs(
    lab: Lab, targets: Sequence[Target], sentences: int
) -> dict[str, PairOfCones]:
    """Measure both sides of every bitext on its first sentences; failures are recorded."""
    found = {}
    for target in targets:
        lab.progress.say(f"{lab.source.code}-{target.code} …")
        try:
            pairs = list(islice(target.find_bitext(), sentences))
            cones = []
            for language in (target, lab.source):
                encoder = lab.encoder(language, "own")
                text = [p.target if language is target else p.source for p in pairs]
                degrees = measure(encoder, lab, text)
                cones.append(Cone(language.code, language.name, encoder.name, degrees))
            found[target.code] = PairOfCones(cones[0], cones[1])
        except Exception as error:  # continue with the other pairs
            reason = failure_reason(error)
            found[target.code] = PairOfCones(None, None, reason)
            lab.progress.say(f"{lab.source.code}-{target.code} failed: {reason}")
        lab.forget(target)
    return found
