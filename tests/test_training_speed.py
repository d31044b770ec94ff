"""The benchmark of the trainers runs, and divides time as it says."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from agents.network import CardNetwork
from benchmarks import training_speed
from benchmarks.training_speed import PARTS, REST, Clock, Speed, main, measure, side_by_side


def spend(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_inner_time_counts_once():
    clock = Clock()
    inner = clock.timed(lambda: spend(0.04), "inner")

    def both() -> None:
        spend(0.02)
        inner()

    start = time.process_time()
    clock.timed(both, "outer")()
    whole = time.process_time() - start
    clock.enter(REST)
    assert clock.spent["inner"] >= 0.04 and 0.02 <= clock.spent["outer"] < 0.04
    assert sum(clock.spent.values()) == pytest.approx(whole, abs=0.01)


@pytest.mark.parametrize("trainer", ["ppo", "lookahead"])
def test_all_parts_take_time(trainer: str):
    judge = CardNetwork.judge
    speed = measure(trainer, 0.01, 64)
    assert speed.decisions > 0 and speed.wall > 0.01
    assert set(speed.cpu) == set(PARTS) and min(speed.cpu.values()) > 0
    assert CardNetwork.judge is judge


def test_tables(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    def here(trainer: str, processes: int, seconds: float, seats: int) -> list[Speed]:
        return [measure(trainer, seconds, seats)] * processes

    monkeypatch.setattr(training_speed, "side_by_side", here)
    main(["--seconds", "0.01", "--seats", "64"])
    out = capsys.readouterr().out
    assert out.count("| ppo |") == out.count("| lookahead |") == 3 and "% |" in out
    with pytest.raises(SystemExit):
        main(["--seconds", "0"])


@pytest.mark.slow
def test_processes_side_by_side():
    speeds = side_by_side("lookahead", 2, 0.01, 64)
    assert len(speeds) == 2 and all(speed.decisions > 0 for speed in speeds)
