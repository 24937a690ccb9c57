"""Rows whose parser goes on learning after it has crossed, from text without a target tree."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from treebridge.experiment.crossing import Crossing
from treebridge.experiment.lab import Lab
from treebridge.experiment.material import Target
from treebridge.keys import key_of
from treebridge.parse.carry import CarrySettings, carry, choose_pairs, choose_sentences, own_beliefs
from treebridge.parse.order import WordOrder, in_order
from treebridge.parse.parser import Parser
from treebridge.parse.projected import Projected
from treebridge.parse.refine import RefineSettings, Refining


@dataclass(frozen=True)
class Refined(Crossing):
    """`treebridge refine` with the bitext of the bridge, and the source trees mixed in.

    Without `links` the target side is mere text, and the parser learns from its own beliefs. A
    parser that is given tags gets those of one that predicts them, trained on the same trees.
    """

    start: Crossing
    links: bool = True
    carry: CarrySettings = field(default_factory=CarrySettings)
    refine: RefineSettings = field(default_factory=RefineSettings)

    def key(self, lab: Lab, target: Target, role: str) -> Any:
        """Of where it starts and what it learns from."""
        settings = [self.links, asdict(self.carry), asdict(self.refine)]
        return [self.start.key(lab, target, role), lab.gathered_key(target, role), *settings]

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Across the bridge, and refined; after an interruption it goes on."""
        bridged = self.start.cross(lab, target, role, parser)
        seed = parser.settings.seed
        place = key_of(lab.parser_key(role, bool(parser.settings.isotropy), seed),
                       self.key(lab, target, role))  # fmt: skip
        work = lab.folder / "refining" / f"{target.code}-{seed}-{place[:8]}"
        watcher = lab.talk.training()
        projected, order = self._learned_from(lab, target, role, parser, bridged)
        source = lab.source_examples(parser, role)
        refining = Refining(
            bridged,
            projected,
            in_order(source, order) if self.refine.reorder else source,
            None,
            replace(self.refine, seed=seed),
            watcher,
            work,
        )
        try:
            refined, _ = refining.run()
        finally:
            watcher.stop()
        shutil.rmtree(work, ignore_errors=True)
        return refined

    def _learned_from(
        self, lab: Lab, target: Target, role: str, parser: Parser, bridged: Parser
    ) -> tuple[Projected, WordOrder]:
        seed, isotropic = parser.settings.seed, bool(parser.settings.isotropy)
        given = parser.settings.tags == "gold"
        tagger = lab.parser(role, isotropic, seed, "predicted") if given else None
        settings = replace(self.carry, seed=seed)
        gathered, watch = lab.gathered(target, role), lab.talk.reports.pairs
        if self.links:
            pairs = choose_pairs(gathered.pairs(), settings)
            # What was gathered has been checked.
            return carry(
                pairs, parser, bridged, settings, tagger=tagger, watch=watch, check_sides=False
            )
        sentences = choose_sentences((pair.target for pair in gathered.bitext), settings)
        mine = own_beliefs(sentences, bridged, settings, tagger=tagger, watch=watch)
        return mine, WordOrder()  # without links nothing is known of it
