"""Multi-word tokens."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebridge import Splitter, Treebank
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.multiword import Contractions
from treebridge.corpus.text import rebuild

CODES = ["es", "pt", "it", "fr", "el", "fi", "pl"]


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        ("pt", "Ele gosta do mar e da NA praia.", "Ele gosta de o mar e de a EM A praia ."),
        ("pt", "Àquela hora trata-se disso.", "A aquela hora trata se de isso ."),
        ("es", "Dámelo, vamos al cine del barrio.", "Dá me lo , vamos a el cine de el barrio ."),
        ("es", "Quiere quedarse charlando: perdiéndose la charla.",
         "Quiere quedar se charlando : perdiéndo se la charla ."),
        ("es", "La parte firme del informe", "La parte firme de el informe"),
        ("it", "Vado al mare dell'isola, parlo col mercante.",
         "Vado a il mare di l' isola , parlo con il mercante ."),
        ("it", "Vuole farlo vedendola.", "Vuole far lo vedendo la ."),
        ("fr", "Au bord du lac, auquel il tient", "À le bord de le lac , à lequel il tient"),
        ("el", "Στην πόλη και στο σπίτι", "Σ την πόλη και σ το σπίτι"),
        ("fi", "Sanoin, etten tule.", "Sanoin , että en tule ."),
        ("pl", "Zrobiłem to, żebyśmy mogli; chciałabym.",
         "Zrobił em to , żeby śmy mogli ; chciała by m ."),
        ("pl", "Byliśmy za stołem, liście i hasłem.", "Byli śmy za stołem , liście i hasłem ."),
    ],
)  # fmt: skip
def test_words(code: str, text: str, words: str) -> None:
    splitter = Splitter(code, multiword=Contractions.of(code))
    sentence = splitter.sentence(text)
    assert " ".join(sentence.forms) == words
    assert sentence.text == text and rebuild([sentence]).rstrip() == text


@given(st.sampled_from(CODES), st.text(st.sampled_from("aeiousrnlmdt-ándo Éστηνο.\n"), max_size=60))
def test_what_was_written_is_rebuilt_and_the_file_is_valid(code: str, text: str) -> None:
    plain, apart = Splitter(code), Splitter(code, multiword=Contractions.of(code))
    sentences = list(apart.sentences(text))
    if text.strip():
        assert rebuild(sentences) == text
    written = [[form for form, _ in sentence.written()] for sentence in sentences]
    assert written == [list(sentence.forms) for sentence in plain.sentences(text)]
    conllu = "".join(sentence.to_conllu() for sentence in sentences)
    assert list(read_conllu(io.BytesIO(conllu.encode()))) == sentences


def test_an_ending_has_at_least_two_letters_before_it() -> None:
    table = Contractions({"*se": ("*", "se"), "*lo": ("*", "lo")})
    assert table.split("se") == ("se",) and table.split("ose") == ("ose",)
    assert table.split("dese") == ("de", "se") and table.split("Verlo") == ("Ver", "lo")


def test_no_table() -> None:
    assert Contractions.of("en") is None and Contractions.of(None) is None
    assert Contractions.of("../es") is None
    assert Contractions({}).split("do") == ("do",)


@pytest.mark.parametrize(
    ("code", "file", "least"),
    [
        ("pt", "UD_Portuguese-GSD/pt_gsd", 0.985),
        ("es", "UD_Spanish-GSD/es_gsd", 0.99),
        ("el", "UD_Greek-GDT/el_gdt", 0.985),
    ],
)
def test_syntactic_words_of_treebanks_are_found(
    shared: Path, code: str, file: str, least: float
) -> None:
    """From raw text; without the tables it is 88, 97 and 95 %."""
    splitter = Splitter(code, multiword=Contractions.of(code))
    correct = total = 0
    for gold in Treebank.read(shared / f"data/ud-2.6/{file}-ud-dev.conllu"):
        found, truth = _pieces(splitter.sentence(gold.text)), _pieces(gold)
        correct += 2 * len(found & truth)
        total += len(found) + len(truth)
    assert correct / total > least


def _pieces(sentence) -> set[tuple[int, int, str]]:
    """Syntactic words, with where their token ends and their place in it."""
    pieces, end = set(), 0
    for first, last, form, _ in sentence.tokens():
        end += len(form.replace(" ", ""))
        for word in range(first, last + 1):
            pieces.add((end, word - first, sentence.forms[word - 1].lower()))
    return pieces
