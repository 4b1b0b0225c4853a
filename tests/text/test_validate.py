"""What may be stored: well-formed Unicode, and no more of it than the limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.errors import InputError
from byheart.text.validate import checked_tag, checked_text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(str.strip))
def test_any_well_formed_text_passes_unchanged(text: str) -> None:
    assert checked_text("text", text) == text
    assert len(text) > 256 or checked_tag("tag", text) == text


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "NoneType"),
        (b"bytes", "bytes"),
        (7, "int"),
        ("", "empty"),
        (" \t\n\u3000", "white space"),
        ("ab\0c", "NUL at character 2"),
        ("abc\ud83d", "U+D83D) at character 3"),
        ("\udfffx", "U+DFFF) at character 0"),
    ],
)
def test_a_broken_value_is_named_with_its_place(value: object, told: str) -> None:
    for check in (checked_text, checked_tag):
        with pytest.raises(InputError) as caught:
            check("field[1]", value)
        assert str(caught.value).startswith("field[1]: ")
        assert told in caught.value.problem


def test_the_limit_of_a_text_is_in_bytes() -> None:
    assert checked_text("text", "é" * 5, max_bytes=10) == "é" * 5
    with pytest.raises(InputError, match="has 12 bytes; split it into texts of at most 10 bytes"):
        checked_text("text", "é" * 6, max_bytes=10)
    assert checked_text("text", "x" * 1_048_576)
    with pytest.raises(InputError, match="1,048,577 bytes"):
        checked_text("text", "x" * 1_048_577)


def test_the_limit_of_a_tag_is_in_characters() -> None:
    assert checked_tag("tag", "日" * 256) == "日" * 256
    with pytest.raises(InputError, match="257 characters"):
        checked_tag("tag", "日" * 257)
