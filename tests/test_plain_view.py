"""Every fact of an observation, and every number of its encoding, against a plain statement.

Both ways to gather observations, and both encoders, are compared with `tests.plain_view`, which
looks at one seat of one game at a time; with and without a compiler alike.
"""

from __future__ import annotations

from dataclasses import fields as fields_of

import numpy as np
import pytest

from sixnimmt_env import encoding_loops
from sixnimmt_env.encoding import encode, field_table, observation_size
from sixnimmt_env.observe import Observation, observe
from tests.plain_view import NUMBERS, case_name, cases, facts, fields, moments

RULES = cases()
NAMES = [field.name for field in fields_of(Observation) if field.name != "rules"]


def some_seats(rules, state, rng, count=5):
    """Random seats and games, a game more than once among them."""
    seats = rng.integers(0, rules.num_players, count)
    games = rng.integers(0, state.num_games, count)
    games[-1] = games[0]
    return seats, games


@pytest.mark.parametrize("rules", RULES, ids=case_name)
@pytest.mark.parametrize(("few", "block"), [(64, 512), (2, 4)], ids=["few", "blocks"])
def test_every_number(rules, few, block, monkeypatch):
    monkeypatch.setattr(encoding_loops, "FEW", few)
    monkeypatch.setattr(encoding_loops, "BLOCK", block)
    rng = np.random.default_rng(3)
    for state in moments(rules, games=9, seed=4, share=0.15):
        seats, games = some_seats(rules, state, rng)
        known = [
            facts(rules, state, seat, game)
            for seat, game in zip(seats.tolist(), games.tolist(), strict=True)
        ]
        masks = [one["action_mask"] for one in known]
        vectors = [[x for _, part in fields(rules, one) for x in part] for one in known]
        seen = observe(rules, state, seats, games)
        given = np.full((len(seen), observation_size(rules)), 7, np.float32)
        assert encode(seen, given) is given
        made = [(given, seen.action_mask), (encode(seen), seen.action_mask)]
        for compiled in (False, True):
            # The loops are the same in plain Python, where nothing has compiled them.
            monkeypatch.setattr(encoding_loops, "COMPILED", compiled)
            made.append(encoding_loops.observe_encoded(rules, state, seats, games))
        for vector, mask in made:
            assert vector.dtype == np.float32 and mask.dtype == np.int8
            np.testing.assert_allclose(vector, vectors, rtol=1e-6)
            np.testing.assert_array_equal(mask, masks)


@pytest.mark.parametrize("rules", RULES, ids=case_name)
def test_every_fact(rules):
    rng = np.random.default_rng(1)
    phases = set()
    for state in moments(rules, games=6, seed=2, share=0.3):
        seats, games = some_seats(rules, state, rng)
        pairs = observe(rules, state, seats, games)
        assert len(pairs) == len(seats)
        for i, (seat, game) in enumerate(zip(seats.tolist(), games.tolist(), strict=True)):
            known = facts(rules, state, seat, game)
            phases.add(known["phase"])
            one = observe(rules, state, seat)
            assert len(one) == state.num_games
            some = observe(rules, state, seat, [game])
            for name in [*NAMES, "decides"]:
                for seen, place in ((pairs, i), (one, game), (some, 0)):
                    value = getattr(seen, name)[place]
                    told = value.item() if name in NUMBERS else value.tolist()
                    assert told == known[name], (name, seat, game)
    kinds = 1 + rules.draft + (rules.cards_per_turn == 2)
    kinds += rules.low_card == "take" and rules.row_choice == "player"
    assert len(phases) >= kinds


@pytest.mark.parametrize("rules", RULES, ids=case_name)
def test_fields_are_where_the_table_says(rules):
    state = next(moments(rules, games=1, seed=0))
    parts = fields(rules, facts(rules, state, 0, 0))
    table = field_table(rules)
    assert [(field.name, field.size) for field in table] == [(n, len(p)) for n, p in parts]
    start = 0
    for field in table:
        assert (field.start, field.stop) == (start, start + field.size)
        assert field.meaning
        start = field.stop
    assert observation_size(rules) == start


@pytest.mark.parametrize("rules", RULES, ids=case_name)
def test_the_meaning_names_the_scale(rules):
    """What the docs print of a field is the number that it is divided by."""
    meanings = {field.name: field.meaning for field in field_table(rules)}
    assert "/ 104" in meanings["rows"] and "/ 5" in meanings["row_len"]
    assert "/ 27" in meanings["row_heads"] and "/ 171" in meanings["pile_heads"]
    if rules.episode == "match":
        most = 171 * rules.rounds if rules.rounds else rules.target + 171
        assert meanings["score"].endswith(f"/ {most}")
    if rules.zeros:
        assert meanings["zeros"].endswith(f"/ {rules.zeros}")
    assert ("second card" in meanings["phase"]) == (rules.cards_per_turn == 2)
