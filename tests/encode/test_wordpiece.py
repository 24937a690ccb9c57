"""WordPiece of our own: the same pieces as the `tokenizers` package gives, for any text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from treebridge.encode.wordpiece import WordPiece

LETTERS = "aábcñoöuxzßσΣİ東京क्ष1.,¿-"
VOCABULARY = {
    piece: number
    for number, piece in enumerate(
        [
            "[UNK]",
            *LETTERS,
            *(f"##{c}" for c in LETTERS),
            "ab",
            "abc",
            "##bc",
            "##ñoö",
            "n",
            "##n",
            "##o",
        ]
    )
}
assigned = st.characters(exclude_categories=["Cn", "Cs"])
texts = st.text(
    st.one_of(st.sampled_from(LETTERS + " \t\n\u0301\u00ad\ufffd"), assigned), max_size=30
)


def make(normalizer: object, place: Path) -> tuple[Tokenizer, WordPiece]:
    model = models.WordPiece(VOCABULARY, unk_token="[UNK]", max_input_chars_per_word=12)
    oracle = Tokenizer(model)
    if normalizer is not None:
        oracle.normalizer = normalizer
    oracle.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    oracle.save(str(place))
    ours = WordPiece.read(place)
    assert ours is not None
    return oracle, ours


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Tokenizer, WordPiece]]:
    place = tmp_path_factory.mktemp("wordpiece") / "tokenizer.json"
    bert = normalizers.BertNormalizer
    kinds = [
        None,
        normalizers.NFKD(),
        normalizers.Sequence([normalizers.NFC(), bert(lowercase=False, strip_accents=False)]),
        bert(lowercase=True),
        bert(lowercase=True, strip_accents=False, handle_chinese_chars=False),
        bert(lowercase=False, strip_accents=True, clean_text=False),
        normalizers.Sequence([normalizers.Lowercase()]),
    ]
    return [make(kind, place) for kind in kinds]


@settings(max_examples=300)
@given(texts)
def test_the_same_pieces_as_the_package(both: list[tuple[Tokenizer, WordPiece]], text: str) -> None:
    for oracle, ours in both:
        assert ours.cut([text]) == [oracle.encode(text, add_special_tokens=False).ids]


def test_other_tokenizers_are_left_to_the_package(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    Tokenizer(models.BPE()).save(str(path))
    assert WordPiece.read(path) is None
    make(None, path)
    content = json.loads(path.read_text())
    for key, kind in (("pre_tokenizer", "Metaspace"), ("normalizer", "Nmt")):
        path.write_text(json.dumps({**content, key: {"type": kind}}))
        assert WordPiece.read(path) is None
