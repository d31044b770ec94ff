"""The trainer: exact resume, seeds, damaged checkpoints, saved policies, evaluation."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from agents.learned import SB3Policy, load_policy
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import play
from sixnimmt_env.variants import make_rules
from training import checkpoint, evaluate, ppo, report
from training.config import PRESETS, Config, read_config, write_config

TINY = replace(
    PRESETS["quick"],
    total_steps=3 * 4 * 4 * 12,
    num_games=4,
    n_steps=12,
    batch_size=64,
    curve_points=2,
    curve_rounds=8,
    table_rounds=40,
)


def _train(config: Config, folder: Path, resume: bool = False) -> dict[str, np.ndarray]:
    folder.mkdir(exist_ok=True)
    model = ppo.train(config, folder, resume)
    return {name: value.numpy().copy() for name, value in model.policy.state_dict().items()}


def _stop_after(monkeypatch: pytest.MonkeyPatch, rollouts: int) -> None:
    """As if Ctrl-C was pressed during the last of `rollouts` rollouts."""
    step = ppo.Watch._on_step

    def pressed(watch: ppo.Watch) -> bool:
        if watch.num_timesteps >= rollouts * TINY.rollout_steps and not watch.stop:
            signal.raise_signal(signal.SIGINT)
        return step(watch)

    monkeypatch.setattr(ppo.Watch, "_on_step", pressed)


def _assert_equal(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> None:
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    folder = tmp_path_factory.mktemp("whole")
    return folder, _train(TINY, folder)


def test_same_seed_same_weights(whole: tuple[Path, dict[str, np.ndarray]], tmp_path: Path):
    _assert_equal(_train(TINY, tmp_path), whole[1])


def test_another_seed_other_weights(whole: tuple[Path, dict[str, np.ndarray]], tmp_path: Path):
    weights = _train(replace(TINY, seed=1), tmp_path)
    assert any((weights[name] != whole[1][name]).any() for name in weights)


@pytest.mark.parametrize("rollouts", [1, 2])
def test_resume_is_exact(
    whole: tuple[Path, dict[str, np.ndarray]],
    rollouts: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    with monkeypatch.context() as patch:
        _stop_after(patch, rollouts)
        with pytest.raises(ppo.Stopped):
            _train(TINY, tmp_path)
    assert checkpoint.load(tmp_path / ppo.CHECKPOINT)["steps"] == rollouts * TINY.rollout_steps
    np.random.seed(99)
    _assert_equal(_train(TINY, tmp_path, resume=True), whole[1])
    metrics = (tmp_path / "metrics.csv").read_text(encoding="utf-8")
    assert metrics == (whole[0] / "metrics.csv").read_text(encoding="utf-8")


def test_ctrl_c_says_how_to_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(PRESETS, "quick", TINY)
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        _stop_after(patch, 1)
        with pytest.raises(SystemExit, match="--resume") as stop:
            ppo.main(["--run", str(folder)])
    assert str(folder) in str(stop.value)
    ppo.main(["--resume", str(folder)])
    assert "closest_gap" in capsys.readouterr().out
    for name in ("config.json", "metrics.csv", "policy.zip", "results.md", "learning_curve.png"):
        assert (folder / name).stat().st_size > 0
    lines = json.loads((folder / "results.json").read_text(encoding="utf-8"))["table"]
    assert {line["opponents"] for line in lines} == {"random", "closest_gap"}
    assert all(line["heads_interval"] > 0 for line in lines if line["player"] == "trained")
    assert "±" in (folder / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("variant", "title", "simple"),
    [
        ("plus", "| heads collected per round (more is better) |", "sixth_card"),
        ("simplified", "| heads per round |", "closest_gap"),
    ],
)
def test_games_with_zeros_are_trained_and_resumed_exactly(
    variant: str,
    title: str,
    simple: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setitem(PRESETS, "quick", replace(TINY, total_steps=6 * TINY.rollout_steps))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    ppo.main(["--variant", variant, "--run", str(whole)])
    out = capsys.readouterr().out
    assert f"{variant}, 4 players: " in out and title in out
    assert f"3 × {simple}" in out and "row_choice" not in (whole / "results.md").read_text()
    assert (whole / "learning_curve.png").stat().st_size > 0
    with monkeypatch.context() as patch:
        _stop_after(patch, 3)
        with pytest.raises(SystemExit, match="--resume"):
            ppo.main(["--variant", variant, "--run", str(parts)])
    np.random.seed(99)
    ppo.main(["--resume", str(parts)])
    left, right = (checkpoint.load(folder / ppo.CHECKPOINT) for folder in (whole, parts))
    assert left["metrics"] == right["metrics"]
    for name, value in left["policy"].items():
        np.testing.assert_array_equal(value, right["policy"][name], err_msg=name)


def test_self_play_heads_are_left_out_where_no_round_ended(tmp_path: Path):
    config = replace(TINY, variant="simplified", total_steps=5 * TINY.rollout_steps)
    _train(config, tmp_path)
    metrics = checkpoint.load(tmp_path / ppo.CHECKPOINT)["metrics"]
    # A round has 48 decisions and a rollout 12 of each seat.
    assert ["heads_self_play" in row for row in metrics] == [False, False, False, True, False]
    assert metrics[3]["heads_self_play"] > 0
    report.draw_curve(metrics[:3], [], config.rules, tmp_path / "curve.png")


@pytest.mark.parametrize(("variant", "sign"), [("plus", 1), ("simplified", -1)])
def test_a_short_run_learns_the_aim(variant: str, sign: int, tmp_path: Path):
    config = replace(
        TINY, variant=variant, total_steps=16_000, num_games=32, n_steps=24, batch_size=512
    )
    _train(config, tmp_path)
    agent = load_policy(tmp_path / "policy.zip")
    trained, random = (
        evaluate.evaluate(policy, "random", config.rules, rounds=1200, seed=3)
        for policy in (agent, "random")
    )
    assert sign * (trained["heads"] - random["heads"]) > 2
    assert trained["wins"] > 0.3


@pytest.mark.parametrize("damage", ["torn", "flipped", "other", "missing"])
def test_damaged_checkpoint_is_refused(
    whole: tuple[Path, dict[str, np.ndarray]], damage: str, tmp_path: Path
):
    data = bytearray((whole[0] / ppo.CHECKPOINT).read_bytes())
    if damage == "torn":
        data = data[: len(data) // 2]
    elif damage == "flipped":
        data[len(data) // 2] ^= 1
    elif damage == "other":
        data = bytearray(b"something else")
    path = tmp_path / ppo.CHECKPOINT
    if damage != "missing":
        path.write_bytes(data)
    write_config(TINY, tmp_path)
    with pytest.raises(checkpoint.CheckpointError, match=ppo.CHECKPOINT):
        checkpoint.load(path)
    with pytest.raises(SystemExit, match=r"error: .*checkpoint"):
        ppo.main(["--resume", str(tmp_path)])


def test_a_failed_write_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(file: object) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        checkpoint.write_atomically(path, fail)
    assert path.read_bytes() == b"old"


def test_a_run_is_not_overwritten(
    whole: tuple[Path, dict[str, np.ndarray]], capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        ppo.main(["--run", str(whole[0])])
    assert "--resume" in capsys.readouterr().err


def test_bad_settings_are_named(tmp_path: Path):
    with pytest.raises(SystemExit, match="num_players=11"):
        ppo.main(["--players", "11", "--run", str(tmp_path / "a")])
    with pytest.raises(SystemExit, match="no run folder"):
        ppo.main(["--resume", str(tmp_path / "b")])
    assert not (tmp_path / "a").exists()


def test_config_is_kept(tmp_path: Path):
    write_config(TINY, tmp_path)
    assert read_config(tmp_path) == TINY


def test_saved_policy_plays_legally(whole: tuple[Path, dict[str, np.ndarray]]):
    for greedy in (True, False):
        policy = SB3Policy.load(whole[0] / "policy.zip", greedy=greedy)
        play([policy] * 4, TINY.rules, games=50)  # an illegal action would be refused


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (make_rules(num_players=3), "4 players.*3 players"),
        (make_rules("tactics", num_players=4), "tactics"),
        (make_rules("pro", num_players=4), "pro"),
        (make_rules(episode="match"), "match"),
    ],
)
def test_other_rules_are_refused(
    whole: tuple[Path, dict[str, np.ndarray]], rules: object, said: str
):
    policy = load_policy(whole[0] / "policy.zip")
    seen = observe(rules, Engine(rules).reset(0, 2), 0)
    with pytest.raises(ValueError, match=said):
        policy.act(seen, np.random.default_rng(0))


def test_rules_that_differ_in_the_aim_alone_are_refused(tmp_path: Path):
    config = replace(TINY, variant="plus", total_steps=1, curve_points=1)
    _train(config, tmp_path)
    policy = load_policy(tmp_path / "policy.zip")
    play([policy] * 4, config.rules, games=5)
    for variant in ("original_zeros", "plus_equal"):
        rules = make_rules(variant)
        seen = observe(rules, Engine(rules).reset(0, 2), 0)
        with pytest.raises(ValueError, match=f"for plus with 4 players, .*{variant}"):
            policy.act(seen, np.random.default_rng(0))


def test_one_who_chooses_rows_can_do_without(whole: tuple[Path, dict[str, np.ndarray]]):
    policy = load_policy(whole[0] / "policy.zip")
    play([policy] * 4, make_rules(row_choice="fewest_heads"), games=5)


def test_not_a_model_file(tmp_path: Path):
    (tmp_path / "policy.zip").write_bytes(b"no zip")
    with pytest.raises(ValueError, match="not a saved MaskablePPO"):
        load_policy(tmp_path / "policy.zip")
    with pytest.raises(FileNotFoundError, match=r"nothing\.zip"):
        load_policy(tmp_path / "nothing.zip")


@pytest.mark.parametrize(("variant", "players"), [("tactics", 2), ("pro", 3), ("base", 10)])
def test_other_games_can_be_trained(variant: str, players: int, tmp_path: Path):
    config = replace(TINY, variant=variant, num_players=players, total_steps=1, curve_points=1)
    _train(config, tmp_path)
    policy = SB3Policy.load(tmp_path / "policy.zip")
    play([policy] * players, config.rules, games=5)


def test_random_players_score_the_known_mean():
    rules = make_rules(row_choice="fewest_heads")
    result = evaluate.evaluate("random", "random", rules, rounds=20_000, seed=5)
    assert result["rounds"] == 20_000
    assert abs(result["heads"] - 12.14) < result["heads_interval"] + 0.1
    assert abs(result["wins"] - 0.25) < 0.02


def test_evaluation_sits_in_every_seat():
    rules = make_rules()
    lowest = evaluate.evaluate("closest_gap", ["random", "random", "random"], rules, rounds=400)
    assert lowest["heads"] < 9 and lowest["wins"] > 0.4
    assert 0 < lowest["wins_interval"] < 0.1


def test_evaluate_from_the_command_line(
    whole: tuple[Path, dict[str, np.ndarray]], capsys: pytest.CaptureFixture[str]
):
    path = str(whole[0] / "policy.zip")
    evaluate.main(["--policy", path, "--against", "random,highest", "--rounds", "40"])
    out = capsys.readouterr().out
    assert "3 × highest" in out and "±" in out
    with pytest.raises(SystemExit, match="error: policy 'nobody'"):
        evaluate.main(["--policy", path, "--against", "nobody"])


@pytest.mark.parametrize(
    ("variant", "simple", "title"),
    [
        ("base", "closest_gap", "heads per round"),
        ("plus_equal", "sixth_card", "heads collected per round"),
        ("original_zeros", "closest_gap", "heads per round"),
    ],
)
def test_opponents_fit_the_aim(
    variant: str, simple: str, title: str, capsys: pytest.CaptureFixture[str]
):
    evaluate.main(["--policy", "lowest", "--variant", variant, "--rounds", "8"])
    out = capsys.readouterr().out
    assert "3 × random" in out and f"3 × {simple}" in out and title in out
