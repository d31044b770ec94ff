"""What is printed: one seat's view, and terminals that know no raised numbers."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from sixnimmt_env import Rules, make_rules, sixnimmt_v0
from sixnimmt_env.engine import Engine
from sixnimmt_env.envs.single import SixNimmtEnv
from sixnimmt_env.envs.vector import SixNimmtVectorEnv
from sixnimmt_env.position import Position
from sixnimmt_env.render.ansi import render
from sixnimmt_env.variants import VARIANTS

NARROW = ["cp1252", "cp932", "gbk", "cp850", "cp437", "ascii", "latin-1", "koi8-r"]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def printed(monkeypatch: pytest.MonkeyPatch, encoding: str, **options: Any) -> list[str]:
    """What each face prints on a terminal of this encoding."""
    texts = []
    for make in (sixnimmt_v0.parallel_env, sixnimmt_v0.env, SixNimmtEnv):
        raw = io.BytesIO()
        with monkeypatch.context() as patch:
            stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
            patch.setattr(sys, "stdout", stream)
            make(render_mode="human", **options).reset(seed=1)
        stream.flush()
        texts.append(raw.getvalue().decode(encoding))
    return texts


@pytest.mark.parametrize("encoding", NARROW)
def test_ascii_where_the_terminal_knows_no_more(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variant in VARIANTS:
        for text in printed(monkeypatch, encoding, variant=variant, num_players=3):
            assert text.isascii() and "^" in text
            assert f"6 nimmt! {variant}, 3 players - " in text
            assert max(map(len, text.splitlines())) <= 80
    named = Rules(2, num_cards=8, hand_size=2, name="six 中")
    for text in printed(monkeypatch, encoding, rules=named):
        assert "6 nimmt! six \\u4e2d, 2 players" in text


def test_raised_numbers_where_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in printed(monkeypatch, "utf-8"):
        assert "¹" in text and " · turn 1 of 10" in text and "^" not in text


def test_no_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under pythonw."""
    monkeypatch.setattr(sys, "stdout", None)
    SixNimmtEnv(render_mode="human").reset(seed=1)


def test_ascii_lines_up() -> None:
    rules = make_rules("base", 2)
    rows = [[104], [36, 37, 38, 39, 100], [70], [5, 91, 92, 93]]
    state = Position(rows, [[29, 103], [62, 66]], [[55], []], [4, 0]).state(rules)
    text = render(state, rules, seat=0, ascii_only=True)
    assert "! row 2    36^1  37^1  38^1  39^1 100^3    7 heads" in text
    assert "  row 4     5^2  91^1  92^1  93^1          5 heads" in text
    assert "hand    29^1 103^1\n" in text and "hand       ?     ?\n" in text
    assert "pile    55^7  7 heads, 11 in all\n" in text and "pile       -  0 heads\n" in text + "\n"
    for mark, raised in {"^1": "¹", "^2": "²", "^3": "³", "^7": "⁷", " - t": " · t"}.items():
        text = text.replace(mark, raised)
    assert text.split() == render(state, rules, seat=0).split()


@pytest.mark.parametrize("face", ["parallel", "aec", "single", "vector"])
def test_one_seat_is_shown(face: str) -> None:
    makers: dict[str, Any] = {
        "parallel": sixnimmt_v0.parallel_env,
        "aec": sixnimmt_v0.env,
        "single": SixNimmtEnv,
        "vector": lambda **options: SixNimmtVectorEnv(2, **options),
    }
    state = Engine(make_rules("base", 3)).reset(5)
    for seat in (None, 0, 2):
        env = makers[face](num_players=3, render_mode="ansi", render_seat=seat)
        env.reset(seed=5)
        shown = env.render()
        # As before without a seat: all for those who see all, else the learner's view.
        learner = 0 if face in ("single", "vector") else None
        want = render(state, make_rules("base", 3), seat=learner if seat is None else seat)
        assert (shown[0] if face == "vector" else shown) == want
