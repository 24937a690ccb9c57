"""Edit scripts invert, and a lemmatizer chooses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import cells
from treebridge.errors import TreebridgeError
from treebridge.parse.columns.lemmatizer import Example, Lemmatizer, default_lemma
from treebridge.parse.columns.scripts import Script, script

TAGS = st.sampled_from(["NOUN", "VERB", "PROPN"])
EXAMPLES = st.lists(
    st.builds(Example, cells, TAGS, st.sampled_from(["_", "Number=Plur"]), cells), max_size=12
)


@given(cells, cells)
def test_a_script_gives_the_lemma_it_was_made_from(form: str, lemma: str) -> None:
    assert script(form, lemma).apply(form) == lemma


@pytest.mark.parametrize(
    ("form", "lemma", "made", "other", "others"),
    [
        ("Casas", "casa", Script("lower", cut_end="s"), "Mesas", "mesa"),
        ("gemacht", "machen", Script("lower", "ge", "", "t", "en"), "gelacht", "lachen"),
        ("Madrid", "Madrid", Script("keep"), "IBM", "IBM"),
        ("MADRID", "Madrid", Script("title"), "LIMA", "Lima"),
        ("nato", "NATO", Script("upper"), "onu", "ONU"),
        ("era", "ser", Script("lower", add_start="s", cut_end="a"), "casas", None),
        ("xy", "ab", Script("is", add_end="ab"), "anything", "ab"),
    ],
)
def test_scripts_by_hand(
    form: str, lemma: str, made: Script, other: str, others: str | None
) -> None:
    assert script(form, lemma) == made and made.apply(other) == others


def test_nothing_is_cut_twice_and_no_lemma_is_empty() -> None:
    assert Script("keep", cut_start="aba", cut_end="ba").apply("aba") is None
    assert Script("keep", cut_end="a").apply("a") is None


@given(EXAMPLES)
def test_words_that_were_seen_have_a_lemma_that_was_seen(examples: list[Example]) -> None:
    lemmatizer = Lemmatizer.learn(examples)
    for one in examples:
        found = lemmatizer.lemma(one.form, one.upos, one.feats)
        same = [x for x in examples if (x.upos, x.feats) == (one.upos, one.feats)]
        alike = [x.lemma for x in same if x.form == one.form]
        if len({x.form.lower() for x in same}) == len({x.form for x in same}):
            assert max(map(alike.count, alike)) == alike.count(found)
    content = json.loads(json.dumps(lemmatizer.config()))
    assert Lemmatizer.from_config(content, "columns.json") == lemmatizer


def test_endings_are_chosen_by_tag_and_features_with_back_off() -> None:
    lemmatizer = Lemmatizer.learn(
        [
            Example("casas", "NOUN", "Number=Plur", "casa"),
            Example("mesas", "NOUN", "Number=Plur", "mesa"),
            Example("lunes", "NOUN", "Number=Sing", "lunes"),
            Example("cantas", "VERB", "Person=2", "cantar"),
            Example("Ana", "PROPN", "_", "Ana"),
        ]
    )
    assert lemmatizer.lemma("Rosas", "NOUN", "Number=Plur") == "rosa"
    assert lemmatizer.lemma("jueves", "NOUN", "Number=Sing") == "jueves"
    assert lemmatizer.lemma("rosas", "NOUN", "Case=Nom") == "rosa"  # features never seen
    assert lemmatizer.lemma("saltas", "VERB", "Person=2") == "saltar"
    assert lemmatizer.lemma("Rosas", "PROPN") == "Rosas"
    assert lemmatizer.lemma("Y", "CCONJ") == "y"  # nothing known


def test_without_trees_names_and_numbers_keep_their_case() -> None:
    assert default_lemma("El", "DET") == "el" and default_lemma("Perú", "PROPN") == "Perú"
    same = Lemmatizer().with_words({"Parks": "park"})
    assert not same.is_taught and Lemmatizer.learn([Example("era", "AUX", "_", "ser")]).is_taught
    assert same.lemma("Parks", "NOUN") == "park" and same.lemma("Casas", "NOUN") == "casas"


@pytest.mark.parametrize(
    "damage",
    [
        {"scripts": [["fold", "", "", "", ""]]},
        {"scripts": [["keep"]]},
        {"endings": {"a NOUN": 7}},
        {"endings": {"a NOUN": True}},
        {"words": {"a NOUN": 1}},
        {"words": []},
    ],
)
def test_damage_is_reported(damage: dict[str, object]) -> None:
    config = {**Lemmatizer.learn([Example("as", "NOUN", "_", "a")]).config(), **damage}
    with pytest.raises(TreebridgeError, match="damaged"):
        Lemmatizer.from_config(config, Path("columns.json"))
