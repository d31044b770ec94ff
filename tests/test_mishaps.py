"""Runs of both trainers that go wrong: damaged files, full disks, numbers that are none."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("tyro")
pytest.importorskip("yaml")

import torch

from agents.learned import load_policy
from training import checkpoint, run
from training.checkpoint import CHECKPOINT
from training.config import write_settings
from training.run import BEST, POLICY, Run

from .runs import (
    LOOKAHEAD,
    POOL,
    PPO,
    TRAINERS,
    UPDATES,
    Full,
    Trainer,
    Whole,
    arguments_for,
    assert_same,
    both,
    stop_after,
    whole_runs,
    without_times,
)


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Whole]:
    return whole_runs(tmp_path_factory)


@pytest.fixture
def whole(trainer: Trainer, wholes: dict[str, Whole]) -> Whole:
    return wholes[trainer.kind.trainer]


# Checkpoints


@both
@pytest.mark.parametrize("damage", ["torn", "flipped", "short", "other", "missing"])
def test_a_damaged_checkpoint_is_refused(
    trainer: Trainer, whole: Whole, damage: str, tmp_path: Path
):
    data = bytearray((whole[0] / CHECKPOINT).read_bytes())
    if damage == "torn":
        data = data[: len(data) // 2]
    elif damage == "flipped":
        data[len(data) // 2] ^= 1
    elif damage == "short":
        data = data[:30]
    elif damage == "other":
        data = bytearray(b"something else")
    path = tmp_path / CHECKPOINT
    if damage != "missing":
        path.write_bytes(data)
    write_settings(trainer.config(), tmp_path)
    (tmp_path / POLICY).write_bytes(b"which was saved after the checkpoint")
    with pytest.raises(checkpoint.CheckpointError, match=CHECKPOINT):
        checkpoint.load(path)
    with pytest.raises(SystemExit, match=r"^error: .*checkpoint"):
        trainer.module.main(["--resume", str(tmp_path)])


@both
def test_a_checkpoint_of_other_settings_is_refused(trainer: Trainer, whole: Whole, tmp_path: Path):
    (tmp_path / CHECKPOINT).write_bytes((whole[0] / CHECKPOINT).read_bytes())
    for changes in ({"width": 32}, {"seed": 3}, {"learning_rate": 0.5}):
        write_settings(trainer.config(**changes), tmp_path)
        with pytest.raises(SystemExit, match=r"^error: .*other settings.*begin a new run"):
            trainer.module.main(["--resume", str(tmp_path)])


@both
def test_a_run_of_the_other_trainer_is_refused(trainer: Trainer, wholes: dict[str, Whole]):
    (other,) = set(TRAINERS) - {trainer.kind.trainer}
    with pytest.raises(SystemExit, match=rf"another trainer: use it with .*training\.{other}"):
        trainer.module.main(["--resume", str(wholes[other][0])])


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path):
    path = tmp_path / CHECKPOINT
    checkpoint.save(path, {"something": 1})
    write_settings(LOOKAHEAD.config(), tmp_path)
    with pytest.raises(SystemExit, match="or by another version"):
        LOOKAHEAD.module.main(["--resume", str(tmp_path)])
    payload = b"no archive of torch"
    path.write_bytes(checkpoint.MAGIC + hashlib.sha256(payload).digest() + payload)
    with pytest.raises(checkpoint.CheckpointError, match="cannot be read by this version"):
        checkpoint.load(path)


# Disks that are full


@both
def test_a_full_disk_does_not_stop_a_run(
    trainer: Trainer,
    whole: Whole,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(run, "CHECKPOINT_SECONDS", -1.0)
    # The first checkpoint is written; then nothing after updates 1 and 2.
    full = Full(monkeypatch, first=1, checkpoint=2, policy=2)
    done = trainer.train(trainer.config(), tmp_path)
    assert full.refused == 4
    warning = f"cannot write to {tmp_path} ([Errno 28] No space left on device); trying again later"
    assert capsys.readouterr().err.count(warning) == 2
    for part in ("trainer", "metrics"):
        assert_same(done[part], whole[1][part])
    assert_same(*(load_policy(folder / POLICY).weights for folder in (whole[0], tmp_path)))
    texts = [(folder / "metrics.csv").read_text("utf-8") for folder in (whole[0], tmp_path)]
    assert texts[0] == texts[1]


def test_the_best_weights_are_kept_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    heads = iter([9.0, 12.0])
    numbers = dict.fromkeys(("heads_interval", "wins", "wins_interval"), 0.0)
    monkeypatch.setattr(run, "evaluate", lambda *_: {"heads": next(heads), **numbers})
    full = Full(monkeypatch, best=1)
    done = LOOKAHEAD.train(LOOKAHEAD.config(), tmp_path)
    assert full.refused == 1 and done["best"] == -9.0
    assert load_policy(tmp_path / BEST).about["decisions"] == UPDATES // 2 * 160


@both
def test_a_disk_that_is_full_at_the_end_is_an_error(
    trainer: Trainer, whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "run"
    begin = [*arguments_for(trainer, tmp_path / "file"), "--run", str(folder)]
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(SystemExit, match="stopped"):
            trainer.module.main(begin)
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with monkeypatch.context() as patch:
        Full(patch, checkpoint=99, policy=99, best=99, metrics=99)
        with pytest.raises(SystemExit, match=r"^error: cannot write to .*: make room there"):
            trainer.module.main(["--resume", str(folder)])
    assert {path: path.read_bytes() for path in before} == before
    config = trainer.config(preset="tiny")
    again = without_times(trainer.train(config, folder, resume=True))
    assert_same(again["trainer"], whole[1]["trainer"])


# Numbers that are none


@pytest.mark.parametrize(("trainer", "changes"), [(PPO, {}), (LOOKAHEAD, POOL)])
def test_weights_that_are_not_finite_never_get_into_a_checkpoint(
    trainer: Trainer, changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(run, "CHECKPOINT_SECONDS", -1.0)
    step, config = torch.optim.Adam.step, trainer.config(preset="tiny", **changes)
    updates = []

    def diverge(optimizer: torch.optim.Adam, *arguments: Any, **options: Any) -> None:
        step(optimizer, *arguments, **options)
        if len(updates) == 2:
            optimizer.param_groups[0]["params"][3].data[0] = float("nan")

    check = Run.check_finite
    monkeypatch.setattr(torch.optim.Adam, "step", diverge)
    monkeypatch.setattr(
        Run, "check_finite", lambda self, weights: (check(self, weights), updates.append(1))
    )
    begin = [*arguments_for(trainer, tmp_path / "file", **changes), "--run", str(tmp_path / "run")]
    with pytest.raises(SystemExit, match=r"^error: the weights are not finite after .*lower"):
        trainer.module.main(begin)
    content = checkpoint.load(tmp_path / "run" / CHECKPOINT)
    assert len(content["metrics"]) == 2 and config.width == 16
    for weights in content["trainer"]["average"], content["trainer"][trainer.network]:
        assert all(weight.isfinite().all() for weight in weights.values())
    load_policy(tmp_path / "run" / POLICY)  # which refuses such numbers
