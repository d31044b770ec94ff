"""Settings of training runs: presets, YAML, values that make no sense, the command line."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("tyro")
pytest.importorskip("yaml")

import yaml

from training.cli import parse
from training.config import CONFIG, PRESETS, presets, read_settings, write_settings
from training.players import PAST, load_players

from .runs import LOOKAHEAD, PPO, TRAINERS, Trainer, both

FILES = sorted(PRESETS.glob("*/*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_presets_are_valid(path: Path):
    pytest.importorskip("numba")  # for the players that they are measured against
    config = read_settings(path, TRAINERS[path.parent.name].kind)
    assert config.preset == path.stem and config.steps >= 500_000
    assert config.rules in config.games
    load_players(config.held, [config.rules])
    pool = set(getattr(config, "pool", ())) - {PAST}
    runs = {name for name in pool if ".npz" in name}  # of another preset, as the file says
    for name in runs:
        folder = Path(name.partition(":")[0]).parent
        command = f"--preset {folder.name} --run {folder}"
        assert command in path.read_text(encoding="utf-8")
        assert folder.name in presets(path.parent.name)
    load_players(pool - runs, config.games)


@both
def test_each_trainer_has_a_quick_preset(trainer: Trainer):
    name = trainer.kind.trainer
    known = presets(name)
    assert "quick" in known and set(known.values()) <= set(FILES)


@both
def test_settings_are_kept(trainer: Trainer, tmp_path: Path):
    """Every setting, with a value that is not its default."""
    changes: dict[str, Any] = {
        "preset": "x: y, 'z' # ü",
        "variant": "simplified",
        "players": (2, 2, 5),
        "row_choice": "both",
        "held": ("closest_gap", "monte_carlo:100"),
        "learning_rate": 1e-05,
        "average": 0.1 + 0.2,
        "pool": ("past",),
        "alone": True,
    }
    for field in fields(trainer.kind):
        if field.name not in changes:
            whole = isinstance(field.default, int)
            changes[field.name] = 2 * field.default + 1 if whole else 0.7 - field.default / 10
    known = {field.name for field in fields(trainer.kind)}
    config = trainer.kind(**{name: changes[name] for name in known})
    assert all(getattr(config, field.name) != field.default for field in fields(trainer.kind))
    write_settings(config, tmp_path)
    assert read_settings(tmp_path / CONFIG, trainer.kind) == config
    written = yaml.safe_load((tmp_path / CONFIG).read_text(encoding="utf-8"))
    assert set(written) == known | {"trainer"}


@both
def test_settings_that_a_file_does_not_name_have_their_default(trainer: Trainer, tmp_path: Path):
    path = tmp_path / "mine.yaml"
    path.write_text("seed: 5\nplayers: [3]\n", encoding="utf-8")
    assert read_settings(path, trainer.kind) == trainer.kind(seed=5, players=(3,))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "seeds: 5\n",
            r"names \['seeds'\], .*no settings of this trainer: did you mean 'seed'\? Choose",
        ),
        ("- 1\n", "holds no settings"),
        ("", "holds no settings"),
        ("seed: [\n", "cannot be read"),
        ("steps: many\n", "steps='many' is not possible: a whole number is needed"),
        ("steps: 1e6\n", "steps='1e6' is not possible: a whole number is needed"),
        ("steps: 1.5\n", "steps=1.5 is not possible"),
        ("steps: true\n", "steps=True is not possible"),
        ("steps:\n", "steps=None is not possible"),
        ("learning_rate: 1e-3\n", r"learning_rate='1e-3' .* 1\.0e-3, as 1e-3 is a text in YAML"),
        ("players: 4\n", "players=4 is not possible: a list, each of it a whole number is needed"),
        ("players: [4, x]\n", r"players=\(4, 'x'\) is not possible"),
        ("held: random\n", "held='random' is not possible: a list, each of it a text"),
        ("row_choice: all\n", "row_choice='all' is not possible: one of .*'both'"),
        ("variant: 6\n", "variant=6 is not possible: a text"),
        ("variant: bass\n", "variant='bass' is not known: did you mean 'base'"),
        ("seed: 2026-01-01\n", r"seed=datetime.* is not possible: a whole number"),
        ("row_choice: [player]\n", r"row_choice=\('player',\) is not possible: one of"),
        ("players: [[4]]\n", "is not possible: a list"),
        ("players: &a [*a]\n", "is not possible: a list"),
        ("held: {random: 1}\n", "is not possible: a list"),
        ("steps: 0x" + "f" * 500 + "\n", r"steps=.* is not possible: at least 1, at most 9007"),
        ("1: 2\nseed: 1\n", r"names \[1\], which are no settings"),
        ("? [a]\n: 2\n", "cannot be read"),
        ("[" * 1000, "cannot be read"),
        ("trainer: lookahaed\n", "trainer='lookahaed' is not known: did you mean 'lookahead'"),
        ("trainer: [1]\n", r"trainer=\[1\] is not known"),
        ("seed: \ud800", "cannot be read"),
    ],
)
@both
def test_bad_files_are_refused(trainer: Trainer, text: str, said: str, tmp_path: Path):
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(ValueError, match=said):
        read_settings(path, trainer.kind)
    with pytest.raises(SystemExit, match=f"^error: .*{said}"):
        trainer.module.main(["--preset", str(path), "--run", str(tmp_path / "run")])
    assert not (tmp_path / "run").exists()


NAN, INFINITY = float("nan"), float("inf")
SHARED: list[tuple[str, Any]] = [
    ("steps", 0),
    ("seed", -1),
    ("seed", 2**31),
    ("width", 0),
    ("card_width", 1),
    ("threads", 0),
    ("held", ()),
    ("held_rounds", 0),
    ("evaluations", 0),
    ("table_rounds", 0),
    ("players", ()),
    ("seats", 3),
    ("batch_size", 0),
    ("learning_rate", 0.0),
    ("learning_rate", -0.1),
    ("learning_rate", NAN),
    ("learning_rate", INFINITY),
    ("average", -0.1),
    ("average", 1.0),
    ("average", NAN),
    # More memory than there is, at the end of the run at the latest.
    ("table_rounds", 10**12),
    ("held_rounds", 2_000_001),  # five times as many are played at the end
    ("width", 10**12),
    ("card_width", 10**12),
    ("seats", 10**11),
    ("threads", 10**8),
    ("learning_rate", 1e300),
]
OWN: dict[str, list[tuple[str, Any]]] = {
    "ppo": [
        ("n_steps", 0),
        ("batch_size", 1),
        ("n_epochs", 0),
        ("gamma", 1.1),
        ("gae_lambda", -0.1),
        ("ent_coef", -0.1),
        ("vf_coef", NAN),
    ],
    "lookahead": [
        ("share", 0.0),
        ("share", 1.1),
        ("share", NAN),
        ("share", 0.01),
        ("epochs", 0),
        ("temperature", 0.0),
        ("temperature", -1.0),
        ("temperature", INFINITY),
        ("trace", 1.1),
        ("trace", NAN),
        ("value_weight", -0.1),
        ("pool_share", 0.5),
        ("pool_share", -0.5),
        ("past_updates", 0),
    ],
}


@pytest.mark.parametrize(
    ("trainer", "name", "value"),
    [
        (trainer, *setting)
        for trainer in TRAINERS.values()
        for setting in SHARED + OWN[trainer.kind.trainer]
    ],
)
def test_values_that_make_no_sense_are_named(trainer: Trainer, name: str, value: Any):
    good = trainer.config()
    with pytest.raises(ValueError, match=re.escape(f"{name}={value!r} is not possible: ")):
        replace(good, **{name: value})


@pytest.mark.parametrize(
    ("trainer", "changes", "said"),
    [
        (PPO, {"players": (11,)}, "num_players=11"),
        (LOOKAHEAD, {"players": (4, 1)}, "num_players=1 "),
        (PPO, {"variant": "nothing"}, "variant='nothing' is not known: choose one of"),
        (PPO, {"players": (2, 3, 10), "seats": 29}, "seats=29 is not possible: 30 are needed"),
        (LOOKAHEAD, {"pool": ("random",)}, "pool_share=0.0 is not possible: above 0"),
        (
            LOOKAHEAD,
            {"pool": ("random",), "pool_share": 1.5},
            "pool_share=1.5 is not possible: a number from 0 to 1",
        ),
    ],
)
def test_settings_that_do_not_fit_each_other(trainer: Trainer, changes: dict[str, Any], said: str):
    with pytest.raises(ValueError, match=said):
        trainer.config(**changes)


@pytest.mark.parametrize("changes", [{"seats": 4}, {"players": (2, 3), "seats": 6}])
@both
def test_the_fewest_seats_are_enough(trainer: Trainer, changes: dict[str, Any], tmp_path: Path):
    steps = {"steps": 1, "evaluations": 1, "held_rounds": 2}
    trainer.train(trainer.config(**changes, **steps), tmp_path)


# The command line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--players", "11"], "num_players=11"),
        (["--learning-rate", "-1"], "learning_rate=-1.0"),
        (["--average", "1"], "average=1.0"),
        (["--seed", "abc"], "abc"),
        (["--nonsense", "1"], "--nonsense"),
        (["--row-choice", "all"], "all"),
        (["--preset", "nobody"], "preset 'nobody' is not known: choose one of ['"),
        (["--preset", "quik"], "did you mean 'quick'?"),
    ],
)
@both
def test_bad_arguments_are_named(
    trainer: Trainer,
    arguments: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    with pytest.raises(SystemExit) as stop:
        trainer.module.main([*arguments, "--run", str(tmp_path / "run")])
    assert stop.value.code == 2
    output = capsys.readouterr()
    assert said in output.err + output.out and "Traceback" not in output.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("trainer", "arguments", "said"),
    [
        (PPO, ["--preset", "nobody.yaml"], r"nobody\.yaml cannot be read"),
        (PPO, ["--held", "nobody"], "player 'nobody' is not known: choose one of random"),
        (PPO, ["--held", "lowest:5"], "player 'lowest:5': lowest takes no arguments"),
        (PPO, ["--held", "no.npz"], r"no policy file no\.npz"),
        (LOOKAHEAD, ["--held", "random", "nobody"], "player 'nobody' is not known"),
        (
            LOOKAHEAD,
            ["--pool", "past", "nobody", "--pool-share", "0.5"],
            "player 'nobody' is not known: choose one of random",
        ),
        (
            LOOKAHEAD,
            ["--variant", "plus", "--pool", "tests.test_settings:BaseOnly", "--pool-share", "0.5"],
            "player 'tests.test_settings:BaseOnly' cannot be used here: it plays base alone",
        ),
    ],
)
def test_players_are_tried_before_the_run_begins(
    trainer: Trainer, arguments: list[str], said: str, tmp_path: Path
):
    arguments = ["--held", "random", *arguments] if "--held" not in arguments else arguments
    with pytest.raises(SystemExit, match=f"^error: .*{said}"):
        trainer.module.main([*arguments, "--run", str(tmp_path / "run")])
    assert not (tmp_path / "run").exists()


class BaseOnly:
    """A player that knows one game."""

    def act(self, observation: Any, rng: Any) -> Any:
        raise ValueError("it plays base alone")


@both
def test_resume_takes_nothing_else(
    trainer: Trainer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write_settings(trainer.config(), tmp_path)
    for others in (["--steps", "5"], ["--run", "a"], ["--preset", "quick"], ["--seed", "0"]):
        with pytest.raises(SystemExit):
            trainer.module.main(["--resume", str(tmp_path), *others])
        assert "leave all else out" in capsys.readouterr().err


@both
def test_what_is_no_run_folder_is_not_continued(trainer: Trainer, tmp_path: Path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(
            SystemExit, match=r"^error: .* is no run folder: it has no config\.yaml"
        ):
            trainer.module.main(["--resume", str(folder)])
    (tmp_path / CONFIG).write_text("nonsense: 1\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"^error: .*config.yaml names \['nonsense'\]"):
        trainer.module.main(["--resume", str(tmp_path)])


@both
def test_help_names_presets_and_settings(trainer: Trainer, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stop:
        trainer.module.main(["--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    for words in ("--preset", "--resume", "quick", "--learning-rate", "--held"):
        assert words in out


@both
def test_settings_of_another_trainer_are_named(trainer: Trainer, tmp_path: Path):
    write_settings(trainer.config(), tmp_path)
    for other in TRAINERS.values():
        if other is not trainer:
            with pytest.raises(
                ValueError, match=f"another trainer.*training.{trainer.kind.trainer}"
            ):
                read_settings(tmp_path / CONFIG, other.kind)


def test_a_preset_may_be_named_with_its_trainer(tmp_path: Path):
    job = parse("ppo", PPO.kind, ["--preset", "ppo/quick", "--run", str(tmp_path / "a")])
    assert job.config.preset == "quick"
