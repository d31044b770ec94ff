"""What a training run is made of: settings, presets in YAML, and what was run with them."""

from __future__ import annotations

import platform
import reprlib
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import yaml

from agents.runfolder import write_text
from sixnimmt_env import __version__
from sixnimmt_env.checks import did_you_mean, one_of
from sixnimmt_env.rules import ROW_CHOICES, Rules
from sixnimmt_env.trained.scope import in_words, scope_of
from sixnimmt_env.variants import DEFAULT, VARIANTS, make_rules
from training.evaluate import MOST_ROUNDS

PACKAGES = ("numpy", "torch", "stable-baselines3", "sb3-contrib", "gymnasium")
HELD_AT_END = 5
"""How many times as many rounds as `held_rounds` are played at the end."""
PRESETS = Path(__file__).with_name("presets")
CONFIG = "config.yaml"
MOST = 2**53
"""Of what costs time alone: whole numbers up to here are floats, too."""
MOST_SEATS = 200_000
MOST_UNITS = 8192
MOST_THREADS = 1024
MOST_EPOCHS = 1000
MOST_WEIGHT = 1e6
"""Limits of what would end a run for want of memory or with numbers that are none, perhaps only
after its training, when its settings cannot be changed any more."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings that all trainers share."""

    trainer: ClassVar[str]

    preset: str = ""
    """Name of the settings."""
    variant: str = DEFAULT
    """Which game."""
    players: tuple[int, ...] = (4,)
    """Numbers of players, one network for all; one that is named twice is played twice as often."""
    row_choice: Literal["player", "fewest_heads", "both"] = "player"
    """Whether the owner of a low card chooses the row; both: half of the games each."""
    seed: int = 0
    """Of weights, deals and choices."""
    steps: int = 2_000_000
    """Decisions to learn from."""
    width: int = 128
    """Units in each layer of the network's trunk."""
    card_width: int = 64
    """Units in each layer of its scorers."""
    threads: int = 1
    """Processor threads; more is little faster alone and far slower on a busy machine."""
    held: tuple[str, ...] = ("random", "monte_carlo:100")
    """Players the run is measured against; the last one decides which weights are best, so it
    should not be in a pool."""
    held_rounds: int = 400
    """Rounds against each of them."""
    evaluations: int = 10
    """How often in the run."""
    table_rounds: int = 20_000
    """Rounds for each line of the table at the end."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for name in (field.name for field in fields(self)):
            value = _plain(getattr(self, name))
            object.__setattr__(self, name, value)
            self.need(name, _fits(value, hints[name]), f"{_in_words(hints[name])} is needed")
        one_of("variant", self.variant, VARIANTS)
        self.need("seed", 0 <= self.seed < 2**31, "a seed is a number from 0 to 2147483647")
        self.need_within(1, MOST, "steps", "evaluations")
        self.need_within(1, MOST_THREADS, "threads")
        self.need_within(1, MOST_UNITS, "width")
        self.need_within(2, MOST_UNITS, "card_width")
        self.need_within(1, MOST_ROUNDS, "table_rounds")
        self.need_within(1, MOST_ROUNDS // HELD_AT_END, "held_rounds")
        for name in ("players", "held"):
            self.need(name, len(getattr(self, name)) > 0, "at least one entry is needed")
        scope_of(list(self.games))

    def need(self, name: str, holds: bool, needed: str) -> None:
        """Refuse a setting that does not make sense.

        Raises
        ------
        ValueError
            Naming it and what is needed, unless it `holds`.
        """
        if not holds:
            value = reprlib.repr(getattr(self, name))
            raise ValueError(f"{name}={value} is not possible: {needed}")

    def need_within(self, least: int, most: float, *names: str) -> None:
        """Refuse settings that are below or above a number."""
        for name in names:
            value = getattr(self, name)
            self.need(
                name, least <= value <= most, f"at least {least}, at most {most:.0f} is needed"
            )

    def need_above_0(self, most: float, *names: str) -> None:
        """Refuse settings that are 0 or below, or above a number."""
        for name in names:
            value = getattr(self, name)
            self.need(name, 0 < value <= most, f"more than 0, at most {most:.0f} is needed")

    def need_seats(self) -> None:
        """Refuse seats with which not every kind of game can be played, or too many."""
        self.need(
            "seats",
            self.fewest_seats <= self.seats <= MOST_SEATS,  # type: ignore[attr-defined]
            f"{self.fewest_seats} are needed, one game of each kind, at most {MOST_SEATS}",
        )

    def need_share(self, *names: str) -> None:
        """Refuse settings that are not from 0 to 1."""
        for name in names:
            self.need(name, 0 <= getattr(self, name) <= 1, "a number from 0 to 1 is needed")

    @property
    def named(self) -> tuple[str, ...]:
        """Players that the run depends on."""
        return self.held

    @property
    def games(self) -> tuple[Rules, ...]:
        """What is learned, in equal shares."""
        if make_rules(self.variant, min(self.players)).low_card == "append":
            return tuple(make_rules(self.variant, count) for count in self.players)
        choices = ROW_CHOICES if self.row_choice == "both" else (self.row_choice,)
        return tuple(
            make_rules(self.variant, count, row_choice=choice)
            for count in self.players
            for choice in choices
        )

    @property
    def fewest_seats(self) -> int:
        """With how many seats there is a game of each kind."""
        return len(self.games) * max(self.players)

    @property
    def rules(self) -> Rules:
        """What is measured: four players if they are among the games, rows taken by rule."""
        few = [rules for rules in self.games if rules.num_players == 4]
        return (few or list(self.games))[-1]

    @property
    def game(self) -> str:
        """What is learned, in words."""
        return str(scope_of(list(self.games)))

    @property
    def measured(self) -> str:
        """What is measured, in words."""
        return in_words(self.rules)


C = TypeVar("C", bound=Config)


def _plain(value: Any) -> Any:
    """Python's own number for one of NumPy, and a tuple for a list, so that YAML can hold them."""
    if isinstance(value, (list, tuple)):
        return tuple(each.item() if isinstance(each, np.generic) else each for each in value)
    return value.item() if isinstance(value, np.generic) else value


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value, which may come from a file, is of the type of its setting."""
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_fits(each, get_args(hint)[0]) for each in value)
    if isinstance(value, bool) or hint is bool:
        return isinstance(value, bool) and hint is bool
    return isinstance(value, (int, float) if hint is float else hint)


def _in_words(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return f"one of {list(get_args(hint))}"
    if get_origin(hint) is tuple:
        return f"a list, each of it {_in_words(get_args(hint)[0])}"
    return {
        int: "a whole number",
        float: "a number (in a file 0.001 or 1.0e-3, as 1e-3 is a text in YAML)",
        str: "a text",
        bool: "true or false",
    }[hint]


def read_settings(path: Path, kind: type[C]) -> C:
    """Read settings from a YAML file: those it does not name have their default.

    Raises
    ------
    ValueError
        If it cannot be read, is of another trainer, or names a setting that there is not.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds no settings: lines such as 'seed: 0' are needed")
    trainer = content.pop("trainer", kind.trainer)
    if trainer != kind.trainer:
        raise ValueError(_other_trainer(path, trainer))
    known = sorted(field.name for field in fields(kind))
    if odd := [name for name in content if name not in known]:
        raise ValueError(
            f"{path} names {odd}, which are no settings of this trainer: "
            f"{did_you_mean(odd[0], known)} one of {known}"
        )
    try:
        return kind(**content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _other_trainer(path: Path, trainer: Any) -> str:
    trainers = sorted(folder.name for folder in PRESETS.iterdir() if folder.is_dir())
    if trainer in trainers:
        return f"{path} is of another trainer: use it with python -m training.{trainer}"
    return f"{path}: trainer={trainer!r} is not known: {did_you_mean(trainer, trainers)} " + (
        f"one of {trainers}"
    )


def presets(trainer: str) -> dict[str, Path]:
    """Preset files of a trainer by name."""
    return {path.stem: path for path in sorted((PRESETS / trainer).glob("*.yaml"))}


def refuse_begun(folder: Path) -> None:
    """Refuse a folder in which a run was begun: ValueError."""
    if (folder / CONFIG).exists():
        raise ValueError(
            f"{folder} has a run already: continue it with --resume, or choose another folder"
        )


def write_settings(config: Config, folder: Path) -> None:
    """Write all settings of a run, and the versions they were used with."""
    settings = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(config).items()}
    for name, content in (
        (CONFIG, {"trainer": config.trainer, **settings}),
        ("versions.yaml", versions()),
    ):
        write_text(folder / name, yaml.safe_dump(content, sort_keys=False))


def versions() -> dict[str, Any]:
    """Versions of Python and the packages that the numbers depend on."""
    packages = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), "sixnimmt-env": __version__, **packages}
