"""How runs end and go on: everything is written, on full disks and odd terminals too."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("tyro")
pytest.importorskip("yaml")
pytest.importorskip("matplotlib")

from agents.learned import load_policy
from agents.runfolder import LOCK, claim
from sixnimmt_env.variants import make_rules
from training import best_response, checkpoint, cli, finish, run
from training.checkpoint import CHECKPOINT
from training.config import CONFIG
from training.run import BEST, METRICS, POLICY

from .networks import write_network
from .runs import LOOKAHEAD, UPDATES, Full, Trainer, arguments_for, both, stop_after

ROOT = Path(__file__).parent.parent
RESULTS = ("results.json", "results.md", "learning_curve.png")


def _never(*_: Any, **__: Any) -> None:
    raise AssertionError("measured again")


def _content(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and path.name != LOCK
    }


def _damage(folder: Path, names: list[str]) -> None:
    for number, name in enumerate(names):
        if number % 2:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(b"damaged")


@both
def test_resume_writes_all_again_and_measures_nothing(
    trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "run"
    trainer.module.main([*arguments_for(trainer, tmp_path / "file"), "--run", str(folder)])
    names = [POLICY, BEST, METRICS, *RESULTS]
    names += ["policy.zip"] if (folder / "policy.zip").exists() else []
    before = _content(folder)
    assert set(names) < set(before)
    monkeypatch.setattr(finish, "compare", _never)
    for damaged in (names, names[1:]):
        _damage(folder, damaged)
        trainer.module.main(["--resume", str(folder)])
        after = _content(folder)
        assert after.keys() == before.keys()
        for name in (METRICS, "results.json", "results.md"):
            assert after[name] == before[name], name
        assert after["learning_curve.png"][:4] == b"\x89PNG"
        for name in (POLICY, BEST, *(["policy.zip"] if "policy.zip" in names else [])):
            load_policy(str(folder / name))


def test_a_best_response_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tiny = ["--against", "random", "--players", "2", "--steps", "1", "--rounds", "4"]
    best_response.main([*tiny, "--run", str(tmp_path)])
    before = _content(tmp_path)
    monkeypatch.setattr(best_response, "measure", _never)
    _damage(tmp_path, list(RESULTS))
    best_response.main(["--resume", str(tmp_path)])
    after = _content(tmp_path)
    assert all(after[name] == before[name] for name in RESULTS[:2]) and RESULTS[2] in after


@both
def test_what_is_measured_early_is_measured_at_the_end_again(
    trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = trainer.config()
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        with pytest.raises(checkpoint.Stopped):
            trainer.module.train(config, tmp_path)
    early = finish.finish(config, tmp_path)
    assert trainer.train(config, tmp_path, resume=True)["results"] is None
    assert finish.finish(config, tmp_path) != early


# Full disks


@both
def test_a_disk_without_room_for_a_checkpoint_is_noticed_first(
    trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "run"
    begin = [*arguments_for(trainer, tmp_path / "file"), "--run", str(folder)]
    with monkeypatch.context() as patch:
        patch.setattr(run.Run, "after_update", _never)
        Full(patch, checkpoint=1)
        with pytest.raises(SystemExit, match=r"^error: cannot .*make room there, then --resume b"):
            trainer.module.main(begin)
    assert set(_content(folder)) == {CONFIG, "versions.yaml"}
    trainer.module.main(["--resume", str(folder)])
    assert (folder / "results.md").exists()


@both
def test_a_full_disk_costs_little_and_leaves_the_policy(
    trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(run, "CHECKPOINT_SECONDS", -1.0)
    config, updates = trainer.config(), []
    check = run.Run.check_finite
    monkeypatch.setattr(
        run.Run, "check_finite", lambda self, w: (check(self, w), updates.append(self))
    )
    full = Full(monkeypatch, first=2, checkpoint=99)
    with pytest.raises(OSError, match="goes on from the last checkpoint"):
        trainer.module.train(config, tmp_path / "end")
    assert len(updates) == UPDATES  # for so short a time it is tried again
    assert load_policy(tmp_path / "end" / POLICY).about["decisions"] == config.steps
    assert len(checkpoint.load(tmp_path / "end" / CHECKPOINT)["metrics"]) == 1
    full.first["checkpoint"] = 2
    monkeypatch.setattr(run, "PATIENCE", 0.0)
    with pytest.raises(OSError, match="goes on from the last checkpoint"):
        trainer.module.train(config, tmp_path / "early")
    assert len(updates) == UPDATES + 2


# Players that are replaced


@pytest.mark.parametrize("kind", ["pool", "held"])
def test_a_player_that_was_replaced_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file, folder = tmp_path / "other.npz", tmp_path / "run"
    write_network(file, make_rules(row_choice="fewest_heads"))
    name = f"{file}:sampled"
    changes: dict[str, Any] = {"held": ("random", name)}
    if kind == "pool":
        changes = {"pool": (name,), "pool_share": 0.5}
    config = LOOKAHEAD.config(**changes)
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        with pytest.raises(checkpoint.Stopped):
            LOOKAHEAD.train(config, folder)
    data, before = file.read_bytes(), _content(folder)
    write_network(file, make_rules(row_choice="fewest_heads"), seed=1)
    with pytest.raises(SystemExit, match=r"other\.npz:sampled.* are others .*put those back"):
        LOOKAHEAD.module.main(["--resume", str(folder)])
    assert _content(folder) == before
    file.write_bytes(data)
    LOOKAHEAD.train(config, folder, resume=True)


# Two at once


@both
def test_a_run_that_goes_on_is_not_resumed(trainer: Trainer, tmp_path: Path):
    trainer.train(trainer.config(steps=1), tmp_path)
    before = _content(tmp_path)
    said = rf"^error: .* is in use by process {os.getpid()} on .*, since 20"
    with claim(tmp_path), pytest.raises(SystemExit, match=said):
        trainer.module.main(["--resume", str(tmp_path)])
    assert _content(tmp_path) == before


def test_runs_of_the_same_second_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli.time, "strftime", lambda _: "now")
    job = cli.Job(LOOKAHEAD.config(), cli.new_name("quick"), named=False)
    with cli.folder_of(job) as first, cli.folder_of(job) as second:
        assert [first, second] == [Path("runs/quick-now"), Path("runs/quick-now-2")]
        (first / CONFIG).touch()
    assert first.exists() and not second.exists()


# Signals, shells, terminals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_said_can_be_pasted(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "my run's; folder"
    begin = [*arguments_for(LOOKAHEAD, tmp_path / "file"), "--run", str(folder)]
    before = signal.getsignal(number)
    monkeypatch.setattr(finish, "compare", lambda *_: signal.raise_signal(number))
    with pytest.raises(SystemExit, match="stopped; continue with") as stop:
        LOOKAHEAD.module.main(begin)
    said = shlex.split(str(stop.value).partition("with: ")[2])
    assert said == ["python", "-m", "training.lookahead", "--resume", str(folder)]
    assert signal.getsignal(number) is before


def test_no_folder_is_named_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run.Run, "__enter__", lambda _: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(SystemExit, match=r"^stopped before anything was written$"):
        LOOKAHEAD.module.main([])
    assert not list((tmp_path / "runs").iterdir())


@both
def test_a_run_outside_the_main_thread(trainer: Trainer, tmp_path: Path):
    found: list[Any] = []
    thread = threading.Thread(
        target=lambda: found.append(trainer.train(trainer.config(steps=1), tmp_path))
    )
    thread.start()
    thread.join()
    assert len(found[0]["metrics"]) == 1


def test_any_folder_on_any_terminal_without_docstrings(tmp_path: Path):
    folder = tmp_path / "中 é"
    settings = arguments_for(LOOKAHEAD, tmp_path / "file", held=("lowest",), steps=1)
    command = [sys.executable, "-OO", "-m", "training.lookahead", *settings, "--run", str(folder)]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert r"\u4e2d é".encode("cp1252") in done.stdout and b"| 3 \xd7 lowest" in done.stdout
    assert (folder / "results.md").exists()


LATE = """
import sys

def said(main, arguments):
    try:
        main(arguments)
    except SystemExit as error:
        print(error)

from training import best_response, evaluate, lookahead, ppo
said(ppo.main, ["--held", "nobody"])
said(lookahead.main, ["--pool", "nobody", "--pool-share", "0.5", "--held", "lowest"])
said(best_response.main, ["--against", "nobody"])
said(evaluate.main, ["--policy", "model.zip", "--against", "random,nobody"])
print("torch" in sys.modules)
"""


def test_wrong_players_are_refused_before_torch_is_loaded(tmp_path: Path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", LATE],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    *said, torch = done.stdout.splitlines()
    assert [line.startswith("error: player 'nobody' is not known") for line in said] == [True] * 4
    assert torch == "False" and not list(tmp_path.iterdir())
