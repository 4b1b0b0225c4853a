"""The two baselines and the context that both render."""

import math
from collections import Counter
from datetime import UTC, datetime

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.baselines import Bm25, Bm25Baseline, best_first, plain_context
from benchmarks.datasets import Question, Unit
from benchmarks.metrics import tokens
from byheart.text.analyzer import count_terms


def unit(number: int, text: str, day: int = 1) -> Unit:
    return Unit(f"u{number}", text, "Ada", None, datetime(2024, 5, day, tzinfo=UTC), "s")


def test_bm25_against_a_score_done_by_hand() -> None:
    index = Bm25([Counter("aab"), Counter("b"), Counter("cc")])
    mean = (3 + 1 + 2) / 3
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / mean))
    assert list(index.scores(Counter("a"))) == pytest.approx([expected, 0, 0])
    assert list(index.scores(Counter("aa"))) == pytest.approx([2 * expected, 0, 0])
    assert list(index.scores(Counter("z"))) == [0, 0, 0]


def test_best_first_keeps_ties_in_order_and_leaves_out_what_has_no_score() -> None:
    index = Bm25([Counter("x"), Counter("y"), Counter("x")])
    assert best_first(index.scores(Counter("x"))) == [0, 2]


def test_bm25_finds_the_turn_by_a_stem_and_the_speaker() -> None:
    units = [unit(0, "I was planting tulips."), unit(1, "The kiln arrived.")]
    baseline = Bm25Baseline(units, count_terms)
    question = Question("q", "Who plants tulips?", ("all",), frozenset({"u0"}), None)

    async def ask() -> tuple[list[str], str]:
        await baseline.fill()
        return await baseline.rank(question, 5), await baseline.context(question, 100)

    ranking, context = anyio.run(ask)
    assert ranking == ["u0"]
    assert context == "## 01 May 2024\nAda: I was planting tulips."


def test_a_context_names_a_date_only_where_it_changes() -> None:
    context = plain_context([unit(0, "one"), unit(1, "two"), unit(2, "three", day=2)], 100)
    assert context == "## 01 May 2024\nAda: one\nAda: two\n## 02 May 2024\nAda: three"


TURNS = st.lists(st.tuples(st.text("ab ", min_size=1, max_size=80), st.integers(1, 3)), max_size=20)


@given(TURNS, st.integers(1, 60))
def test_a_context_stays_in_its_budget_and_holds_units_in_full(texts: list[tuple[str, int]], budget: int) -> None:
    units = [unit(number, text, day) for number, (text, day) in enumerate(texts)]
    context = plain_context(units, budget)
    assert tokens(context) <= budget
    headers = {f"## 0{day} May 2024" for day in (1, 2, 3)}
    assert set(context.split("\n")) <= {one.spoken for one in units} | headers | {""}
    if units and len(units[0].spoken) + 16 <= budget * 4:
        assert units[0].spoken in context
