"""Settings and options that no machine has the memory for are refused before anything begins."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("tyro")
pytest.importorskip("yaml")

from agents import runfolder
from sixnimmt_env import make_rules
from training import best_response, cli, evaluate, export, finish
from training.checkpoint import CHECKPOINT, must_write
from training.config import CONFIG

from .networks import write_network
from .runs import LOOKAHEAD, PPO, TRAINERS, Trainer, arguments_for, both

HUGE = 10**12
SHARED: list[tuple[str, Any]] = [
    ("table_rounds", HUGE),
    ("held_rounds", 200_001),  # five times as many are played at the end
    ("seats", HUGE),
    ("width", HUGE),
    ("card_width", HUGE),
    ("threads", HUGE),
    ("learning_rate", 1e300),
]
OWN: dict[str, list[tuple[str, Any]]] = {
    "ppo": [("n_steps", HUGE), ("n_epochs", HUGE), ("ent_coef", 1e300), ("vf_coef", 1e300)],
    "lookahead": [("epochs", HUGE), ("temperature", 1e300), ("value_weight", 1e300)],
}


@pytest.mark.parametrize(
    ("trainer", "name", "value"),
    [
        (trainer, *setting)
        for trainer in TRAINERS.values()
        for setting in SHARED + OWN[trainer.kind.trainer]
    ],
)
def test_settings_have_limits(trainer: Trainer, name: str, value: Any):
    with pytest.raises(ValueError, match=rf"^{name}=.* is not possible: .*at most \d"):
        replace(trainer.config(), **{name: value})


def test_the_decisions_between_two_updates_have_a_limit():
    PPO.config(seats=200_000, n_steps=20)
    with pytest.raises(ValueError, match=r"n_steps=21 .* at most 20 is needed with 200000 seats"):
        PPO.config(seats=200_000, n_steps=21)


@both
def test_nothing_is_begun_beyond_a_limit(
    trainer: Trainer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    run = tmp_path / "run"
    with pytest.raises(SystemExit):
        trainer.module.main(["--table-rounds", str(HUGE), "--run", str(run)])
    assert "table_rounds=1000000000000 is not possible" in "".join(capsys.readouterr())
    assert not run.exists()


def test_the_rounds_of_programs_have_a_limit(tmp_path: Path):
    said = r"^error: rounds=1000000000000 is not possible: at least 1, at most 1000000 "
    with pytest.raises(SystemExit, match=said):
        evaluate.main(["--policy", "random", "--rounds", str(HUGE)])
    run = tmp_path / "run"
    with pytest.raises(SystemExit, match=said):
        best_response.main(["--against", "random", "--rounds", str(HUGE), "--run", str(run)])
    assert not run.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--games", "-1"], "games=-1 is not possible: at least 1"),
        (["--games", str(HUGE)], "games=1000000000000 is not possible"),
        (["--determinisations", "0"], "determinisations=0 is not possible"),
        (["--seed", "-1"], "seed=-1 is not possible"),
        (["--players", "2", "11"], "num_players=11"),
    ],
)
def test_fit_model_checks_before_it_plays(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("numba")
    from training import fit_model

    def never(*options: Any) -> Any:
        raise AssertionError("it played")

    monkeypatch.setattr(fit_model, "collect", never)
    monkeypatch.setattr(fit_model, "write_text", never)
    with pytest.raises(SystemExit, match=f"^error: {said}"):
        fit_model.main(arguments)


@pytest.mark.parametrize("begun", [False, True])
def test_want_of_memory_is_an_error_and_says_how_to_go_on(begun: bool, tmp_path: Path):
    said = r"^error: the memory does not suffice \(so much\): "
    if begun:
        (tmp_path / CONFIG).touch()
        said += f"free some, then --resume {tmp_path}, or "
    with pytest.raises(SystemExit, match=f"{said}begin a run with fewer"):
        _ends_for_want_of_memory(tmp_path)


def _ends_for_want_of_memory(folder: Path) -> None:
    with cli.program("ppo") as folders:
        folders.append(folder)
        raise MemoryError("so much")


def test_no_players_are_not_four():
    with pytest.raises(SystemExit, match=r"^error: .*num_players=0"):
        evaluate.main(["--policy", "random", "--players", "0", "--rounds", "8"])


@pytest.mark.parametrize(
    ("number", "room"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EACCES, False)]
)
def test_room_is_asked_for_where_it_lacks(number: int, room: bool, tmp_path: Path):
    with pytest.raises(OSError, match="then begin it again") as caught, must_write(tmp_path):
        raise OSError(number, "so it is")
    assert ("make room" in str(caught.value)) == room


def test_an_export_to_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source, target = tmp_path / "mine.npz", tmp_path / "there.npz"
    write_network(source, make_rules())

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(runfolder.os, "fsync", full)
    with pytest.raises(SystemExit, match=r"^error: .*there\.npz cannot be written: .*No space"):
        export.main([str(source), str(target)])
    assert not target.exists()


def test_a_finished_run_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "run"
    LOOKAHEAD.module.main([*arguments_for(LOOKAHEAD, tmp_path / "file"), "--run", str(folder)])
    first = capsys.readouterr()
    assert "evaluating" in first.out and "finished;" not in first.out
    (folder / "results.md").unlink()
    monkeypatch.setattr(finish, "compare", None)  # nothing is measured again
    LOOKAHEAD.module.main(["--resume", str(folder)])
    again = capsys.readouterr()
    assert "finished; its files are written again" in again.out and "evaluating" not in again.out
    assert "decisions" not in again.err and (folder / "results.md").exists()
    assert (folder / CHECKPOINT).exists()
