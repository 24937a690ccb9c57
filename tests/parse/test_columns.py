"""XPOS, FEATS and LEMMA: learned beside the parser, over a bridge, from links and from trees."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from far import WORLD
from latent import links_of
from made import DEV, QUICK, TRAIN, bare, command

from treebridge import Parser, Sentence, Treebank
from treebridge.encode.static import StaticEncoder
from treebridge.errors import TreebridgeError
from treebridge.parse.columns.classifiers import XPOS_NAME, Classifiers
from treebridge.parse.columns.columns import Columns
from treebridge.parse.columns.contrasts import UNKNOWN, Contrasts, with_agreement
from treebridge.parse.columns.heads import Heads
from treebridge.parse.columns.learn import Network, new_heads, with_neighbours
from treebridge.parse.columns.project import project_columns
from treebridge.parse.columns.refining import refine_columns
from treebridge.parse.columns.spelling import Spelling
from treebridge.parse.columns.verb_forms import VerbForms
from treebridge.parse.refinement import refine_parser
from treebridge.parse.settings import RefineSettings
from treebridge.recipes.pack import pack

NUMBER = {"a": "Plur", "e": "Plur"}  # by a word's last letter


def rich(trees: Treebank) -> Treebank:
    """Trees with lemmas, features and tags of their own, all of which the form decides."""
    out = []
    for tree in trees:
        feats = [
            f"Number={NUMBER.get(form[-1], 'Sing')}" if upos in ("NOUN", "DET") else "_"
            for form, upos in zip(tree.forms, tree.upos, strict=True)
        ]
        marks = [NUMBER.get(form[-1], "") for form in tree.forms]
        xpos = [upos + mark for mark, upos in zip(marks, tree.upos, strict=True)]
        lemmas = [form.lower() + "x" for form in tree.forms]
        out.append(tree.annotate(feats=feats, xpos=xpos, lemmas=lemmas))
    return Treebank(out)


@pytest.fixture(scope="module")
def taught(encoder: StaticEncoder) -> Parser:
    """The parser of the other tests, with columns."""
    return Parser.train(rich(TRAIN), encoder, rich(DEV), QUICK)


def test_columns_are_learned_and_the_parser_stays_the_same(parser: Parser, taught: Parser) -> None:
    scores = taught.evaluate(rich(DEV), "conll18")
    assert scores["UFeats"] > 95 and scores["XPOS"] > 90 and scores["Lemmas"] > 99
    assert {"XPOS", "UFeats", "AllTags", "Lemmas"} <= set(scores.values)
    for one, other in zip(parser.biaffine.parameters(), taught.biaffine.parameters(), strict=True):
        assert torch.equal(one, other)
    assert parser.predicts == ("upos",) and taught.predicts == ("upos", "xpos", "feats", "lemma")


def test_scores_of_columns_that_a_parser_lacks_are_not_shown(parser: Parser) -> None:
    values = parser.evaluate(rich(DEV)).values
    assert not {"XPOS", "UFeats", "AllTags", "Lemmas"} & set(values)


def test_saved_packed_and_loaded_columns_are_the_same(taught: Parser, place: Path) -> None:
    taught.save(place / "rich")
    pack(place / "rich", place / "rich-packed")
    wanted = taught(bare(DEV[:20]))
    for name in ("rich", "rich-packed"):
        found = Parser.load(place / name)
        assert found.predicts == taught.predicts
        trees = found(bare(DEV[:20]))
        for column in ("xpos", "feats", "lemmas"):
            pairs = [
                (a, b)
                for one, two in zip(wanted, trees, strict=True)
                for a, b in zip(getattr(one, column), getattr(two, column), strict=True)
            ]
            assert np.mean([a == b for a, b in pairs]) > 0.97  # 16 bits, and other tags if packed
    card = (place / "rich" / "README.md").read_text()
    assert "It also predicts XPOS, FEATS (Number) and LEMMA" in card


def test_input_is_kept_and_columns_are_chosen(taught: Parser, place: Path) -> None:
    words = list(DEV[0].forms)
    given = Sentence.from_words(words).annotate(lemmas=["mine"] + ["_"] * (len(words) - 1))
    (kept,) = taught([given])
    assert kept.lemmas[0] == "mine" and "_" not in kept.lemmas
    (again,) = taught.parse([given], retag=True)
    assert "mine" not in again.sentence.lemmas
    (few,) = taught.writing(["feats"])([given])
    assert few.lemmas == given.lemmas and set(few.upos) == {"_"} and few.feats == kept.feats
    with pytest.raises(TreebridgeError, match="unknown column 'lemmas'"):
        taught.writing(["lemmas"])
    taught.save(place / "choice")
    text = " ".join(words)
    out = command("parse", "--model", place / "choice", "--tokens", "--text", text, "--columns",
                  "upos,lemma")  # fmt: skip
    row = out.splitlines()[-2].split("\t")
    assert row[2] != "_" and row[3] != "_" and row[4] == row[5] == "_"
    drawn = command("parse", "--model", place / "choice", "--tokens", "--text", text, "--columns",
                    "lemma,feats", "--format", "text")  # fmt: skip
    assert kept.lemmas[1] in drawn and "Number=" in drawn


def test_over_a_bridge_features_stay_and_the_rest_starts_from_nothing(taught: Parser) -> None:
    assert taught.columns is not None
    columns = taught.columns.across()
    assert columns.names == ("feats", "lemma") and columns.features == ["Number"]
    assert columns.lemmatizer is not None and columns.lemmatizer.lemma("Casas", "NOUN") == "casas"


@pytest.fixture
def heads() -> Heads:
    known = Classifiers({"Number": ("_", "Plur", "Sing"), XPOS_NAME: ("_", "N", "V")})
    made = new_heads(known, 4, 3, 8, seed=1)
    spelling = Spelling.of([["casas"], ["no"]], [np.array([1]), np.array([2])], known.width)
    votes = np.random.default_rng(1).normal(size=spelling.votes.shape).astype(np.float32)
    return replace(made, spelling=replace(spelling, votes=votes))


def some_words() -> tuple[list[np.ndarray], list[np.ndarray], list[list[str]]]:
    rng = np.random.default_rng(2)
    rows = [rng.normal(size=(n, 4)).astype(np.float32) for n in (3, 1)]
    return rows, [np.array([1, -1, 2]), np.array([0])], [["casas", "mesas", "no"], ["si"]]


def test_numpy_scores_like_torch_and_alone_like_together(heads: Heads) -> None:
    rows, tags, forms = some_words()
    scores = heads.scores(rows, tags, forms)
    network = Network(heads).eval()
    assert heads.spelling is not None
    keys = map(torch.from_numpy, heads.spelling.numbers(forms, tags))
    other = network(
        torch.from_numpy(with_neighbours(rows)), torch.from_numpy(np.concatenate(tags)), *keys
    )
    np.testing.assert_allclose(scores, other.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(scores[3:], heads.scores(rows[1:], tags[1:], forms[1:]), atol=1e-5)
    assert not np.allclose(scores[0], replace(heads, spelling=None).scores(rows, tags, forms)[0])


def test_more_and_fewer_classifiers(heads: Heads) -> None:
    words = some_words()
    scores = heads.scores(*words)
    tree = Sentence.from_words(["a"]).annotate(xpos=["A"], feats=["Gender=Fem|Number=Dual"])
    wide = heads.widened(Classifiers.of([tree], heads.classifiers))
    assert wide.classifiers.values["Number"] == ("_", "Plur", "Sing", "Dual")
    new = wide.scores(*words)
    for name, place in heads.classifiers.places.items():
        now = wide.classifiers.places[name]
        size = place.stop - place.start
        np.testing.assert_allclose(
            new[:, now.start : now.start + size], scores[:, place], rtol=1e-5
        )
    assert (new[:, wide.classifiers.places["Gender"]] == 0).all()  # nothing is known yet
    alone = heads.across()
    assert alone is not None
    np.testing.assert_allclose(alone.scores(*words), scores[:, :3], atol=1e-6)
    assert replace(heads).without(["Number", XPOS_NAME]) is None


def test_what_trees_do_not_say_is_not_learned() -> None:
    tree = Sentence.from_words(["a", "b", "c"], upos=["X", "_", "X"]).annotate(
        feats=["Number=Sing", "_", "_"], xpos=["_", "_", "N"]
    )
    known = Classifiers.of([tree])
    rows = known.targets(tree, known.values)
    number, xpos = known.places["Number"], known.places[XPOS_NAME]
    assert rows[:, number].tolist() == [[0, 1], [0, 0], [1, 0]]  # b is not annotated
    assert rows[:, xpos].tolist() == [[0, 0], [0, 0], [0, 1]]  # no XPOS is none, not a tag


ENGLISH = Sentence.from_words(
    "The banks that failed did not close their old doors".split(),
    upos="DET NOUN PRON VERB AUX PART VERB PRON ADJ NOUN".split(),
    heads=[2, 7, 4, 2, 7, 7, 0, 10, 10, 7],
    deprels="det nsubj nsubj acl:relcl aux advmod root nmod:poss amod obj".split(),
).annotate(
    feats="Definite=Def Number=Plur PronType=Rel Tense=Past|VerbForm=Fin Tense=Past|VerbForm=Fin "
    "_ VerbForm=Inf Poss=Yes Degree=Pos Number=Plur".split()
)


def test_agreement_with_heads_and_subjects() -> None:
    feats = with_agreement(ENGLISH, {0, 1, 3, 6, 8})  # did is not linked: close stands for both
    assert feats[0] == {"Definite": "Def", "Number": "Plur"} and feats[8]["Number"] == "Plur"
    past = {"Mood": UNKNOWN, "Tense": "Past", "VerbForm": "Fin", "Number": "Plur", "Person": "3"}
    assert feats[3] == past and feats[6] == past
    assert with_agreement(ENGLISH, range(10))[6] == {"VerbForm": "Inf"}
    alone = Sentence.from_words(["Go"], upos=["VERB"], heads=[0]).annotate(feats=["VerbForm=Fin"])
    assert with_agreement(alone, [])[0]["Person"] == UNKNOWN
    assert with_agreement(alone, [])[0]["Tense"] == UNKNOWN


def test_participles_agree_with_the_noun_they_modify_or_have_as_subject() -> None:
    tree = Sentence.from_words(
        "Doors closed today were painted".split(), upos="NOUN VERB NOUN AUX VERB".split(),
        heads=[5, 1, 2, 5, 0], deprels="nsubj:pass acl obl aux:pass root".split(),
    )  # fmt: skip
    feats = "Number=Plur VerbForm=Part Number=Sing VerbForm=Fin VerbForm=Part|Voice=Pass".split()
    found = with_agreement(tree.annotate(feats=feats), range(5))
    assert found[1]["Number"] == found[4]["Number"] == "Plur"
    active = with_agreement(tree.annotate(feats=[*feats[:4], "VerbForm=Part"]), range(5))
    assert active[4]["Number"] == UNKNOWN


def test_what_a_verb_form_implies() -> None:
    finite = Sentence.from_words(["a", "b"], upos=["VERB", "NOUN"]).annotate(
        feats=["Mood=Ind|VerbForm=Fin", "Number=Sing"]
    )
    bare_form = finite.annotate(feats=["VerbForm=Inf", "Number=Sing"])
    known = Classifiers.of([finite, bare_form])

    def words(*trees: Sentence) -> list[tuple[str, np.ndarray]]:
        rows = [(tree, known.targets(tree, known.values)) for tree in trees]
        return [(u, row) for tree, part in rows for u, row in zip(tree.upos, part, strict=True)]

    assert VerbForms().updated(words(finite, bare_form), known).rules == {}  # too few
    rules = VerbForms().updated(words(finite, bare_form) * 30, known)
    assert rules.rules["VERB Fin"]["Mood"] and not rules.rules["VERB Inf"]["Mood"]
    assert rules.updated(words(finite), known) == rules
    scores = np.zeros(known.width, np.float32)
    scores[known.places["VerbForm"]] = [0, 2, 1]  # none, Fin, Inf
    scores[known.places["Mood"]] = [1, 0]
    assert known.read(scores)[1] == "VerbForm=Fin"
    assert known.read(rules.settled(scores, "VERB", known))[1] == "Mood=Ind|VerbForm=Fin"
    assert known.read(rules.settled(scores, "AUX", known))[1] == "VerbForm=Fin"
    scores[known.places["VerbForm"]], scores[known.places["Mood"]] = [0, 1, 2], [0, 1]
    assert known.read(rules.settled(scores, "VERB", known))[1] == "VerbForm=Inf"


def test_verb_forms_are_saved(tmp_path: Path) -> None:
    rules = VerbForms({"VERB Fin": {"Mood": True}})
    Columns(verb_forms=rules).save(tmp_path)
    found = Columns.load(tmp_path, 4, 2)
    assert found is not None and found.verb_forms == rules
    (tmp_path / "columns.json").write_text('{"origin": "links", "verb_forms": {"VERB Fin": [1]}}')
    with pytest.raises(TreebridgeError, match="'verb_forms' are invalid"):
        Columns.load(tmp_path, 4, 2)


def test_forms_tell_whether_a_feature_is_there() -> None:
    found = Contrasts()
    for stem in ("roj", "negr", "alt", "baj", "nuev", "viej", "roc", "ner"):
        for number, ending in (("Sing", "o"), ("Plur", "os"), ("Sing", "a"), ("Plur", "as")):
            for degree in ("Pos", "Cmp"):
                feats = {"Number": number, "Degree": degree}
                found.add(stem + ending, "ADJ", feats, ["Number", "Degree", "Case"])
    assert found.told("ADJ", "Number") > 0.9
    assert found.told("ADJ", "Degree") < 0.1 and found.told("ADJ", "Case") == 0
    found.add("x", "ADJ", {"Number": UNKNOWN}, ["Number"])
    assert ("x", UNKNOWN) not in found.counts["ADJ", "Number"]


def test_features_over_links(story: tuple[Parser, Parser], tmp_path: Path,
                             monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Features of the source come over the links; trees add what the target has."""
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    source, bridged = story
    trees = marked(WORLD.treebank("source", 300))
    columns = Parser.train(
        trees, source.load_encoder(), trees[:20], replace(QUICK, epochs=1)
    ).columns
    assert columns is not None and columns.heads is not None
    teacher = replace(source, columns=columns)
    pairs = list(links_of(WORLD, "far", 200)())
    found = project_columns(pairs, teacher, bridged, columns.heads.classifiers)
    assert sum(map(len, found.lesson.vectors)) > 500
    refined = refine_columns(
        replace(bridged, columns=columns.across()), teacher=teacher, pairs=pairs
    )
    assert refined is not None and refined.origin == "links" and "feats" in refined.names


def marked(trees: Treebank) -> Treebank:
    """Trees whose verbs have a VerbForm."""
    return Treebank(
        [t.annotate(feats=["VerbForm=Fin" if u == "VERB" else "_" for u in t.upos]) for t in trees]
    )


def test_columns_of_the_users_trees_are_learned(story: tuple[Parser, Parser], tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    _, bridged = story
    trees = rich(WORLD.treebank("far", 60))
    few = RefineSettings(epochs=1, trees_times=1)
    refined = refine_parser(bridged, few, trees=list(trees)).parser
    assert refined.predicts == ("upos", "xpos", "feats", "lemma")
    scores = refined.evaluate(trees[:40], "conll18")
    assert scores["UFeats"] > 80 and scores["Lemmas"] > 95
    assert refined.columns is not None and refined.columns.heads is not None
    refined.columns.save(tmp_path)
    again = Columns.load(tmp_path, refined.space.dim, len(refined.tags))
    assert again is not None and again.heads is not None and again.origin == "trees"
    assert again.heads.classifiers == refined.columns.heads.classifiers
    assert again.heads.spelling is not None and refined.columns.heads.spelling is not None
    assert again.heads.spelling.keys == refined.columns.heads.spelling.keys
    content = json.loads((tmp_path / "columns.json").read_text())
    content["classifiers"]["Number"] = ["Plur"]
    (tmp_path / "columns.json").write_text(json.dumps(content))
    with pytest.raises(TreebridgeError, match="'classifiers' are invalid"):
        Columns.load(tmp_path, refined.space.dim, len(refined.tags))


def test_a_stray_xpos_is_no_column() -> None:
    words = [str(number) for number in range(20)]
    tree = Sentence.from_words(words).annotate(xpos=["N", *["_"] * 19], feats=["A=B"] * 20)
    assert list(Classifiers.of([tree]).values) == ["A"]
    known = Classifiers({XPOS_NAME: ("_", "V")})
    assert Classifiers.of([tree], known).values[XPOS_NAME] == ("_", "V", "N")
