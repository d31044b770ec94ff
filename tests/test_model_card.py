"""Model cards: made of a run, and those of the package say what their commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tyro")

from agents.players import load_player
from sixnimmt_env.policy import make_policy
from training import evaluate, model_card

from .runs import LOOKAHEAD

FOLDER = Path("sixnimmt_env/trained/policies")
CARDS = sorted(FOLDER.glob("*.md"), key=lambda path: path.name)
BLOCK = re.compile(r"```sh\npython -m training\.evaluate (.*)\n```\n\n((?:\|.*\n)+)")


def test_measures_are_read():
    assert model_card.Measure.parse("4/random,highest/100") == model_card.Measure(
        4, "player", ("random", "highest"), 100
    )
    assert model_card.Measure.parse("2/fewest_heads/random/8").row_choice == "fewest_heads"
    for text in ("4", "4/random", "four/random/100", "4/random/many"):
        with pytest.raises(ValueError, match="no measurement: give PLAYERS"):
            model_card.Measure.parse(text)


def test_a_card_holds_what_its_command_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    config, run = LOOKAHEAD.config(), tmp_path / "run"
    LOOKAHEAD.train(config, run)
    file = run / "policy.npz"
    model_card.main([str(file), "--run", str(run), "--measure", "4/fewest_heads/random,highest/80"])
    text = capsys.readouterr().out
    assert file.with_suffix(".md").read_text(encoding="utf-8").strip() == text.strip()
    assert f"seed\n  {config.seed}" in text and "numpy" in text
    command, table = BLOCK.findall(text)[0]
    assert 'opponents="trained"' not in text  # that is one of the package
    evaluate.main(shlex.split(command))
    assert _numbers(capsys.readouterr().out) == _numbers(table)
    with pytest.raises(SystemExit, match=r"error: .*no measurement"):
        model_card.main([str(file), "--run", str(run), "--measure", "nothing"])


@pytest.mark.slow
@pytest.mark.parametrize("card", [c for c in CARDS if c.stem != "README"], ids=lambda c: c.stem)
def test_the_cards_of_the_package_are_right(card: Path, capsys: pytest.CaptureFixture[str]):
    blocks = BLOCK.findall(card.read_text(encoding="utf-8"))
    checked = [block for block in blocks if "monte_carlo" not in block[0]]
    assert checked or card.stem == "base2"  # all of its tables have Monte Carlo players
    for command, table in checked:
        evaluate.main(shlex.split(command))
        assert _numbers(capsys.readouterr().out) == _numbers(table)


def _numbers(table: str) -> list[list[str]]:
    lines = [line for line in table.splitlines() if "±" in line]
    return [re.findall(r"\d+\.\d+", line) for line in lines]


def test_a_file_is_a_policy_in_every_face():
    path = str(FOLDER / "base4.npz")
    for made in (make_policy(path), load_player(path)):
        assert made.greedy and made.scope.players == (4,)
    assert not make_policy(f"{path}:sampled").greedy
    with pytest.raises(ValueError, match="'trained' or 'trained:sampled'"):
        make_policy("trained:other")
    assert not make_policy("trained:sampled").greedy and make_policy("trained").greedy
