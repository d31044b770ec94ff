"""The examples run."""

from __future__ import annotations

import pytest

from examples import gymnasium_loop, pettingzoo_loop, play_policies


def test_loops(capsys):
    assert -171 <= gymnasium_loop.main() <= 0
    score = pettingzoo_loop.main()
    assert len(score) == 4
    assert -171 <= sum(score.values()) < 0
    play_policies.main(games=50)
    assert "closest_gap" in capsys.readouterr().out


def test_sb3():
    pytest.importorskip("sb3_contrib")
    from examples import train_with_sb3

    assert train_with_sb3.main(steps=1).num_timesteps == 64 * 4 * 32
