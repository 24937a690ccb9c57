"""The licence of a treebank, found beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from treebridge.corpus.licence import licence_in, licence_of

TEXTS = {
    "Attribution-ShareAlike 4.0 International\n\n=====": "CC BY-SA 4.0",
    "under the Creative Commons License Attribution-ShareAlike 4.0 International.": "CC BY-SA 4.0",
    "Creative Commons Attribution-NonCommercial-ShareAlike 3.0 license:": "CC BY-NC-SA 3.0",
    "- http://creativecommons.org/licenses/by-nc-sa/3.0/\n": "CC BY-NC-SA 3.0",
    "          GNU GENERAL PUBLIC LICENSE\n             Version 3, 29 June 2007": "GPL 3",
    "# Summary\n\n=== Machine-readable metadata\nLicense: CC BY-SA 4.0\n": "CC BY-SA 4.0",
    "All rights reserved.": None,
}


@pytest.mark.parametrize("text", TEXTS)
def test_the_name_of_a_licence(text: str) -> None:
    assert licence_in(text) == TEXTS[text]


def test_it_is_looked_for_beside_the_treebank(tmp_path: Path) -> None:
    assert licence_of(tmp_path / "x.conllu") is None
    (tmp_path / "README.md").write_text("# A treebank\n")
    (tmp_path / "LICENSE.txt").write_text("Attribution-ShareAlike 4.0 International\n")
    assert licence_of(tmp_path / "x.conllu") == "CC BY-SA 4.0"


def test_real_ones(shared: Path) -> None:
    found = {
        path.parent.name: licence_of(path) for path in shared.glob("data/ud-2.6/*/*dev.conllu")
    }
    assert found["UD_Spanish-GSD"] == found["UD_Romanian-RRT"] == "CC BY-SA 4.0"
    assert found["UD_Greek-GDT"] == "CC BY-NC-SA 3.0" and found["UD_Polish-LFG"] == "GPL 3"
    assert None not in found.values()
