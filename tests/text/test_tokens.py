"""The token estimate."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.text.tokens import estimate_tokens


@given(st.text(alphabet=st.characters(max_codepoint=0x24F, exclude_categories=["Cs"])))
def test_latin_text_has_four_characters_a_token(text: str) -> None:
    """C2: the limit in tokens is one of four characters each."""
    assert estimate_tokens(text) == math.ceil(len(text) / 4)


@given(st.text(), st.text())
def test_a_longer_text_is_never_fewer_tokens(first: str, second: str) -> None:
    both = estimate_tokens(first + second)
    assert max(estimate_tokens(first), estimate_tokens(second)) <= both
    assert both <= estimate_tokens(first) + estimate_tokens(second)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("日本語", 3),
        ("ภาษา", 4),
        ("한국어", 3),
        ("カタカナ", 4),
        ("日本 is Japan", 5),
        ("привет", 2),
        ("🎉🎉", 2),
    ],
)
def test_unspaced_scripts_have_a_token_a_character(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
