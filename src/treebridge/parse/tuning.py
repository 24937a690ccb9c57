"""Whether the encoder learns when a parser is refined: as it was asked for, or what agrees better.

A small encoder gains much, one that knows the language well gains nothing, and only held-out source
trees tell which is which.
"""

from __future__ import annotations

from dataclasses import replace

from treebridge.encode.learning import can_learn
from treebridge.parse.refine import Refining


def with_tuning(refining: Refining) -> Refining:
    """The run as it is, or one in which the encoder learns too.

    `auto` trains both for an epoch and prefers the encoder if it agrees clearly better.
    """
    choice = refining.settings.tune
    if choice == "map":
        return refining
    work = refining.work and refining.work.with_name(f"{refining.work.name}-encoder")
    tuned = replace(refining, tune=True, work=work)
    if choice == "encoder":
        return tuned
    if refining.trial is None or not can_learn(refining.parser.load_encoder()):
        return refining
    say = refining.progress.say
    say("one epoch with the encoder as it is, and one in which it learns")
    for run in (refining, tuned):
        run.train(1)
    gain, low, _ = tuned.agreement().gain_over(refining.agreement())
    better = low > 0
    verdict = "the encoder learns" if better else "the encoder stays as it is"
    say(f"{verdict}: agreement with held-out source trees {gain:+.1f}")
    return tuned if better else refining
