"""Rows of the table with a refined parser, trained without target trees."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from treebridge.experiment.inputs import Target
from treebridge.experiment.lab import Lab
from treebridge.experiment.transfer import Crossing, Fitted
from treebridge.keys import key_of
from treebridge.parse.parser import Parser
from treebridge.parse.refinement import refine_parser
from treebridge.parse.settings import RefineSettings


@dataclass(frozen=True)
class Refined(Crossing):
    """Refine on the bridge's bitext, with source trees mixed in.

    Without `links`, the target side is used as plain text for self-training. A parser that needs
    gold tags gets them from one that predicts tags, trained on the same trees.
    """

    start: Fitted = field(default_factory=Fitted)
    links: bool = True
    refine: RefineSettings = field(default_factory=RefineSettings)

    def key(self, lab: Lab, target: Target, role: str) -> Any:
        """The key of the bridge, plus how the parser is refined."""
        return [self.start.key(lab, target, role), self.links, asdict(self.refine)]

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Cross the bridge and refine; an interrupted run resumes."""
        seed, isotropic = parser.settings.seed, bool(parser.settings.isotropy)
        needs_tags = parser.settings.tags == "gold"
        key = key_of(lab.parser_key(role, isotropic, seed), self.key(lab, target, role))
        work = lab.folder / "refining" / f"{target.code}-{seed}-{key[:8]}"
        gathered = lab.gathered(target, role, self.start.settings)
        refinement = refine_parser(
            self.start.cross(lab, target, role, parser),
            replace(self.refine, seed=seed),
            pairs=gathered.pairs() if self.links else None,
            sentences=None if self.links else (pair.target for pair in gathered.bitext),
            treebank=lab.trees(lab.source, "train"),
            teacher=parser,
            tagger=lab.parser(role, isotropic, seed, "predicted") if needs_tags else None,
            work=work,
            progress=lab.progress,
        )
        shutil.rmtree(work, ignore_errors=True)
        return refinement.parser
