"""Players by name: every spec, every refusal, and the page that lists them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agents import players
from agents.belief import Belief
from agents.cautious import Cautious
from agents.considerate_row import ConsiderateRow, best_row
from agents.guided import Guided
from agents.monte_carlo import MonteCarlo
from agents.players import PLAYERS, load_player, player_table
from sixnimmt_env.policy import POLICIES, Policy, RandomPolicy, cheapest_row, play
from sixnimmt_env.variants import make_rules

ROOT = Path(__file__).parent.parent


class Mine:
    """A player of one's own, used by "module:Class"."""

    def act(self, observation, rng):
        return observation.action_mask.argmax(axis=1)


def test_every_name():
    assert set(POLICIES) <= set(PLAYERS)
    elsewhere = ("monte_carlo", "belief", "guided", "trained")  # test_search, _guided, _trained
    for name, entry in PLAYERS.items():
        if entry.arguments.startswith(":") or name in elsewhere:
            continue
        player = load_player(name)
        assert isinstance(player, Policy)
        result = play([player, "random"], make_rules("base", 2), games=5)
        assert result.heads.shape == (5, 2)
        assert "\n" not in entry.idea and entry.idea


def test_arguments():
    assert load_player("cautious").row is best_row
    assert load_player("cautious:cheapest_row").row is cheapest_row
    player = load_player("considerate_row:cautious:cheapest_row")
    assert isinstance(player, ConsiderateRow) and isinstance(player.player, Cautious)
    assert isinstance(load_player("sixnimmt_env.policy:RandomPolicy"), RandomPolicy)
    assert isinstance(load_player(f"{__name__}:Mine"), Mine)


class Searcher:
    """Stands for a search player: remembers its arguments."""

    def __init__(self, arguments):
        if "x" in arguments:
            raise ValueError("'x' is not known")
        self.arguments = arguments

    @classmethod
    def from_spec(cls, arguments):
        return cls(arguments)

    def act(self, observation, rng):
        raise AssertionError


def test_search_players_get_their_arguments(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr(players, "_imported", lambda *where: asked.append(where) or Searcher)
    assert load_player("monte_carlo").arguments == []
    assert load_player("monte_carlo:200:own").arguments == ["200", "own"]
    assert load_player("belief:50").arguments == ["50"]
    assert asked[-1] == ("agents.belief", "Belief") and asked[0][1] == "MonteCarlo"
    with pytest.raises(ValueError, match="player 'belief:x': 'x' is not known"):
        load_player("belief:x")


def test_missing_modules_are_named(monkeypatch: pytest.MonkeyPatch):
    for module, spec in (
        ("agents.monte_carlo", "monte_carlo:9"),
        ("agents.belief", "belief"),
        ("sb3_contrib", "policy.zip"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ValueError, match=rf"{module} cannot be imported .*make setup"):
            load_player(spec)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("nobody", r"player 'nobody' is not known: choose one of random, .*cautious.*FILE\.zip"),
        ("Cautious", "is not known"),
        ("", "a name is needed"),
        (None, "a name is needed"),
        ("random:5", "player 'random:5': random takes no arguments, found '5'"),
        ("closest_gap:", "takes no arguments"),
        ("cautious:5", "player 'cautious:5': '5' is not known: give nothing, or 'cheapest_row'"),
        ("coldest_row:cheapest_row:2", "is not known"),
        ("considerate_row", "a player of cards is needed"),
        ("considerate_row:random:5", "random takes no arguments"),
        ("nobody:Class", "cannot be made"),
        ("sixnimmt_env.policy:Nobody", "cannot be made"),
        ("sixnimmt_env.engine:IllegalActionError", "has no act"),
    ],
)
def test_refusals(spec, said):
    with pytest.raises(ValueError, match=said):
        load_player(spec)


def test_no_such_file(tmp_path: Path):
    pytest.importorskip("sb3_contrib")
    with pytest.raises(FileNotFoundError, match=r"nothing\.zip"):
        load_player(str(tmp_path / "nothing.zip"))


def test_names_need_no_torch():
    code = (
        "import sys; from agents.players import load_player; load_player('cautious'); "
        "assert not {'torch', 'stable_baselines3', 'numba.cuda'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_the_page_lists_them():
    page = (ROOT / "docs" / "players.md").read_text(encoding="utf-8")
    assert player_table() in page, "put the text of agents.players.player_table() into the page"


def test_a_mixed_table():
    rules = make_rules("original_zeros", 4)
    seats = [load_player(s) for s in ("cautious", "coldest_row", "closest_gap", "random")]
    heads = play(seats, rules, games=200, seed=1).heads
    assert np.argmin(heads.mean(axis=0)) == 0


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("cautius", "player 'cautius' is not known: did you mean 'cautious'"),
        ("Belief", "did you mean 'belief'"),
        ("monte_karlo:100", "no module 'monte_karlo'.* did you mean 'monte_carlo'"),
        ("considerate_row:clostest_gap", "did you mean 'closest_gap'"),
        ("monte_carlo:100:relativ", "'relativ' is not known: did you mean 'relative'"),
        ("belief:strenght=0.5", "did you mean 'strength'.*'strength=NUMBER'"),
        ("belief:skill=high", "'skill=high' is not possible"),
        ("belief:skill=nan", "skill=nan is not possible"),
        ("monte_carlo:skill=0.5", "'skill=0.5' is not known"),
        ("guided:1", "determinisations=1 is not possible: a whole number, 2 to 1000"),
    ],
)
def test_what_nearly_is_a_name_is_recognised(spec, said):
    with pytest.raises(ValueError, match=said):
        load_player(spec)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int64])
def test_small_numpy_numbers_are_numbers(kind):
    assert Belief(kind(100)).tries == 1000
    assert type(MonteCarlo(kind(100)).determinisations) is int
    assert type(Guided(None, kind(100)).determinisations) is int
    assert type(Belief(strength=np.float32(0.5)).strength) is float


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: MonteCarlo("5"), "determinisations='5'"),
        (lambda: MonteCarlo(2.5), "determinisations=2.5"),
        (lambda: MonteCarlo(True), "determinisations=True"),
        (lambda: MonteCarlo(1_000_001), "1 to 1000000"),
        (lambda: MonteCarlo(objective=["win"]), r"objective=\['win'\]"),
        (lambda: Belief(strength="0.5"), "strength='0.5'"),
        (lambda: Belief(skill=True), "skill=True"),
        (lambda: Guided("policy.npz"), "policy='policy.npz' is not possible: a NetworkPolicy"),
        (lambda: Guided(None, 1001), "determinisations=1001"),
        (lambda: Cautious(row="cheapest_row"), "row='cheapest_row'"),
        (lambda: ConsiderateRow(5), "policy 5 has no act"),
        (lambda: ConsiderateRow(Cautious), r"give an object, Cautious\(\)"),
    ],
)
def test_wrong_options_are_refused_where_they_are_given(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_considerate_row_takes_what_play_takes():
    assert isinstance(ConsiderateRow("random").player, RandomPolicy)
