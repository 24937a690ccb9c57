"""Forecasts: easier text gives more, and nothing surpasses the source parser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebridge.parse.forecast import Profile, forecast

BITEXT = Profile(0.8, 12.0)
shares, lengths = st.floats(0, 1), st.floats(1, 60)


def test_a_profile_counts_known_words_and_lengths() -> None:
    text = [["O", "gato", "dorme", "."], ["Ele", "gato", "!", "miau"]]
    found = Profile.of(text, {"o", "gato", "ele"})
    assert found == Profile(pytest.approx(4 / 6), 4.0)
    assert Profile.of([["!", "…"]], {"o"}) is None and Profile.of([], set()) is None


@given(st.floats(0, 100), shares, shares, lengths, lengths)
def test_harder_text_never_gives_more(
    agreement: float, one: float, other: float, short: float, long: float
) -> None:
    few, many = sorted([one, other])
    short, long = sorted([short, long])
    easy = forecast(agreement, BITEXT, Profile(many, short))["LAS"]
    assert forecast(agreement, BITEXT, Profile(few, long))["LAS"] <= easy
    assert 0 <= easy <= 100


def test_nothing_surpasses_the_agreement_or_the_source_parser() -> None:
    easy = Profile(1.0, 3.0)
    assert forecast(90.0, BITEXT, easy)["LAS"] == 90.0
    assert forecast(90.0, BITEXT, easy, source=84.0)["LAS"] == 84.0


def test_without_a_text_it_is_for_text_like_the_bitext() -> None:
    assert forecast(50.0, BITEXT) == forecast(50.0, BITEXT, BITEXT) | {"text": None}
    assert forecast(50.0, BITEXT, BITEXT, name="news.txt")["text"] == "news.txt"
