"""All faces with 0 cards, two cards in a turn, and play one by one."""

import re
import warnings
from dataclasses import fields
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from sixnimmt_env import make_rules, observe, sixnimmt_v0
from sixnimmt_env.cards import ZERO
from sixnimmt_env.encoding import encode
from sixnimmt_env.encoding_loops import observe_encoded
from sixnimmt_env.engine import Engine, IllegalActionError
from sixnimmt_env.envs.options import REWARDS, make_options, seat_rewards
from sixnimmt_env.envs.single import SixNimmtEnv
from sixnimmt_env.envs.vector import SixNimmtVectorEnv
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import PLAY, SECOND
from sixnimmt_env.variants import VARIANTS

from .rounds import PLUS_FAMILY, random_actions
from .test_parallel import episode, expected

TABLES = [(variant, players) for variant in PLUS_FAMILY for players in (2, 4, 7)]
TWO_CARDS = [v for v in PLUS_FAMILY if make_rules(v).cards_per_turn == 2]
ONE_BY_ONE = [v for v in PLUS_FAMILY if make_rules(v).one_by_one]
COLLECT = [v for v in PLUS_FAMILY if make_rules(v).collect]


class TwoCards:
    """Plays two cards in every turn, the lowest ones."""

    def act(self, observation, rng):
        mask = observation.action_mask.copy()
        mask[:, 0] *= mask.sum(axis=1) == 1
        return mask.argmax(axis=1)


def two_cards(mask):
    return int(mask[1:].argmax()) + 1 if mask[1:].any() else 0


def random_legal(masks, rng):
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def score(reward, rules, heads):
    """What the rewards of an episode add up to, by seat."""
    return list(expected(reward, [-int(h) if rules.collect else int(h) for h in heads]))


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_checkers(variant, players):
    options = {"variant": variant, "num_players": players}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Observation space for each agent probably")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        parallel_api_test(sixnimmt_v0.parallel_env(**options), num_cycles=60)
        api_test(sixnimmt_v0.env(**options), num_cycles=40)
    # The AEC checker samples with masks; the others do not.
    seed_test(lambda: sixnimmt_v0.env(**options), num_cycles=40)
    options["illegal_action"] = "lowest"
    parallel_seed_test(lambda: sixnimmt_v0.parallel_env(**options), num_cycles=20)
    env = gymnasium.make("sixnimmt_env:SixNimmt-v0", **options)
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_same_seed_same_episodes_to_the_end(variant, players):
    one, two = (sixnimmt_v0.parallel_env(players, variant) for _ in range(2))
    first = [episode(one, seed=7), episode(one)]
    assert data_equivalence(first, [episode(two, seed=7), episode(two)], exact=True)
    assert not data_equivalence(first[0][0], first[1][0])
    assert first[0][-1][2] == dict.fromkeys(one.possible_agents, True)
    for observations, *_ in first[0]:
        for agent, observation in observations.items():
            assert one.observation_space(agent).contains(observation)
    assert one.state_space.contains(one.state())


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("variant", PLUS_FAMILY)
def test_vector_env_equals_single_envs(variant, mode):
    options = {
        "variant": variant,
        "num_players": 3,
        "opponents": "closest_gap",
        "seat": "random",
        "illegal_action": "lowest",
        "reward": "relative",
    }
    count = 4
    envs = SixNimmtVectorEnv(count, autoreset_mode=mode, **options)
    single = SyncVectorEnv([lambda: SixNimmtEnv(**options)] * count, autoreset_mode=mode)
    assert envs.single_observation_space == single.single_observation_space
    assert envs.single_action_space == single.single_action_space
    rng = np.random.default_rng(0)
    assert data_equivalence(envs.reset(seed=3), single.reset(seed=3), exact=True)
    ended = 0
    for _ in range(45):
        some = random_legal(envs.action_masks(), rng)
        actions = np.where(rng.random(count) < 0.8, some, rng.integers(0, 110, count))
        got, want = envs.step(actions), single.step(actions)
        assert data_equivalence(got, want, exact=True)
        ended += got[2].sum()
        if mode == AutoresetMode.DISABLED and got[2].any():
            again = [e.reset(options={"reset_mask": got[2].copy()}) for e in (envs, single)]
            assert data_equivalence(again[0][0], again[1][0], exact=True)
    assert ended


@pytest.mark.parametrize("variant", PLUS_FAMILY)
def test_stable_baselines(variant):
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_checker import check_env as check_sb3

    from sixnimmt_env.envs.sb3 import SixNimmtVecEnv

    check_sb3(SixNimmtEnv(variant=variant, illegal_action="lowest"))
    if variant not in (*TWO_CARDS[:1], *ONE_BY_ONE):
        return
    for seats in ("all", [1]):
        env = SixNimmtVecEnv(2, seats, variant=variant, num_players=3)
        net = {"net_arch": [8]}
        model = MaskablePPO(
            "MlpPolicy", env, n_steps=20, batch_size=20, n_epochs=1, seed=1, policy_kwargs=net
        )
        model.learn(2 * 20 * env.num_envs)
        assert model.num_timesteps == 2 * 20 * env.num_envs


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("variant", PLUS_FAMILY)
def test_rewards_add_up_to_the_score(variant, reward):
    options = {"variant": variant, "num_players": 3, "episode": "match", "rounds": 2}
    env = sixnimmt_v0.parallel_env(**options, reward=reward)
    seen = episode(env, seed=5)
    heads = [info["heads"] for info in seen[-1][-1].values()]
    sums = [sum(step[1][agent] for step in seen[1:]) for agent in env.possible_agents]
    assert sums == pytest.approx(score(reward, env.rules, heads))
    if reward == "heads":
        assert sums == [h if variant in COLLECT else -h for h in heads]
    if reward == "win":
        assert sums[int((np.argmax if variant in COLLECT else np.argmin)(heads))] > 0

    options |= {"reward": reward, "autoreset_mode": "SameStep"}
    envs = SixNimmtVectorEnv(12, self_play=True, **options)
    envs.reset(seed=1)
    rng, sums, ended = np.random.default_rng(2), np.zeros(12), 0
    while ended < 4:
        _, rewards, over, _, infos = envs.step(random_legal(envs.action_masks(), rng))
        sums += rewards
        for game in np.flatnonzero(over[:4]):
            heads = infos["final_info"]["heads"][game::4].tolist()
            assert sums[game::4] == pytest.approx(score(reward, env.rules, heads))
            ended += 1
        sums[over] = 0


@pytest.mark.parametrize("variant", ONE_BY_ONE)
def test_heads_taken_before_the_learner_first_decides_count(variant):
    """Six cards may lie before the learner's first one, so that an opponent took a row."""
    env = SixNimmtEnv("highest", variant=variant, num_players=7, reward="relative")
    found = 0
    for seed in range(1000):
        observation, _ = env.reset(seed=seed)
        if not env.game.totals().any():
            continue
        assert env.game.totals()[0, 0] == 0
        sums, over = 0.0, False
        while not over:
            action = int(observation["action_mask"].argmax())
            observation, reward, over, _, _ = env.step(action)
            sums += reward
        assert sums == pytest.approx(score("relative", env.rules, env.game.totals()[:, 0])[0])
        found += 1
        if found == 3:
            return
    raise AssertionError("no opponent took a row before the learner decided")


@pytest.mark.parametrize("variant", PLUS_FAMILY)
def test_ties_share_the_win(variant):
    options = make_options(4, variant, reward="win")
    totals = np.array([[9, 3], [3, 3], [9, 3], [5, 3]])
    rewards = seat_rewards(options, totals, totals, np.array([True, True]))
    first = [0.5, 0, 0.5, 0] if variant in COLLECT else [0, 1, 0, 0]
    assert rewards[:, 0].tolist() == first
    assert rewards[:, 1].tolist() == [0.25] * 4


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_masks_are_exact(variant, players):
    """At random points the engine accepts exactly the actions of the mask."""
    rules = make_rules(variant, players)
    assert rules.num_actions == ZERO + 1 == 110
    engine, rng = Engine(rules), np.random.default_rng(players)
    state = engine.reset(3, games=12)
    seats, games = (i.ravel() for i in np.indices((players, 12)))
    while (active := state.phase != 0).any():
        if rng.random() < 0.3:
            refused = [engine.refused(state, np.full((players, 12), a)) for a in range(110)]
            accepted = ~np.array(refused)
            # Where a game is over nothing is accepted, and the mask allows pass.
            accepted[0] |= ~active
            masks = accepted.reshape(110, -1).T
            assert (observe_encoded(rules, state, seats, games)[1] == masks).all()
            assert (observe(rules, state, seats, games).action_mask == masks).all()
            _check_steps(engine, state, masks, rng)
        engine.step(state, random_actions(state, rng), active)


def _check_steps(engine, state, masks, rng):
    """Step one game with every action of one seat."""
    players, game = engine.rules.num_players, int(rng.choice(np.flatnonzero(state.phase)))
    seat = int(rng.integers(players))
    one = state.take([game])
    others = random_actions(one, rng)
    for action, allowed in enumerate(masks[seat * state.num_games + game]):
        joint = others.copy()
        joint[seat] = action
        if allowed:
            engine.step(one.copy(), joint)
        else:
            with pytest.raises(IllegalActionError, match=rf"player_{seat} .*legal actions are"):
                engine.step(one, joint)


def _seen(rules, state, seats):
    """All that the seats see, in every form."""
    games = np.zeros(len(seats), np.intp)
    record = observe(rules, state, np.array(seats), games)
    arrays = [getattr(record, f.name) for f in fields(record) if f.name != "rules"]
    return [*arrays, encode(record), *observe_encoded(rules, state, np.array(seats), games)]


@pytest.mark.parametrize("players", [2, 4, 7])
@pytest.mark.parametrize("variant", TWO_CARDS)
def test_the_first_card_of_others_is_secret(variant, players):
    rules = make_rules(variant, players)
    engine, rng = Engine(rules), np.random.default_rng(1)
    compared = 0
    for seed in range(1 if players == 7 else 2):
        state = engine.reset(seed)
        while state.phase[0]:
            joint = random_actions(state, rng)
            for seat in range(players) if state.phase[0] == PLAY else ():
                others = [s for s in range(players) if s != seat]
                seen = []
                for card in set(state.hand[seat, :, 0].tolist()) - {0}:
                    other = state.copy()
                    other_joint = joint.copy()
                    other_joint[seat] = card
                    engine.step(other, other_joint)
                    if other.phase[0] == SECOND:
                        assert other.committed[seat, 0] == card
                        seen.append(_seen(rules, other, others))
                for again in seen[1:]:
                    assert data_equivalence(again, seen[0], exact=True)
                    compared += 1
            engine.step(state, joint)
    assert compared > 50


@pytest.mark.parametrize("variant", TWO_CARDS)
def test_agents_asked_later_do_not_see_the_second_cards(variant):
    env = sixnimmt_v0.env(variant=variant, num_players=3)
    env.reset(seed=2)
    seen = {agent: env.observe(agent) for agent in env.agents}
    for i, agent in enumerate(env.agent_iter(9)):
        if i % 3 == 0:
            seen = {agent: env.observe(agent) for agent in env.agents}
        assert data_equivalence(env.observe(agent), seen[agent], exact=True)
        env.step(two_cards(seen[agent]["action_mask"]))


@pytest.mark.parametrize("variant", TWO_CARDS)
def test_a_turn_is_two_decisions(variant):
    env = sixnimmt_v0.parallel_env(3, variant)
    observations, _ = env.reset(seed=0)
    hands = [np.flatnonzero(o["action_mask"]).tolist() for o in observations.values()]
    assert all(0 not in hand for hand in hands)
    first = {agent: hand[1] for agent, hand in zip(env.agents, hands, strict=True)}
    observations, rewards, _, _, infos = env.step(first)
    assert set(rewards.values()) == {0} and infos["player_0"]["turn"] == 0
    for (agent, observation), hand in zip(observations.items(), hands, strict=True):
        held = np.flatnonzero(observation["action_mask"]).tolist()
        twice = [ZERO] if hand[1] == ZERO and ZERO in held else []
        assert held == sorted([0, *hand[:1], *hand[2:], *twice]), agent
    before = env.state()
    again = rf"player_1 .* cannot play card {hands[1][1]} in phase 'second card'; legal .*\[0, "
    with pytest.raises(IllegalActionError, match=again):
        env.step(dict.fromkeys(env.agents, 0) | {"player_1": hands[1][1]})
    assert (env.state() == before).all()
    # One plays one card, the others two; there is no third decision in this turn.
    second = {"player_0": 0, "player_1": hands[1][0], "player_2": hands[2][0]}
    observations, _, _, _, infos = env.step(second)
    assert infos["player_0"]["turn"] == 1
    assert [o["action_mask"][0] for o in observations.values()] == [0, 0, 0]
    with pytest.raises(ValueError, match=r"cards_per_turn=3.*one or two cards"):
        Rules(cards_per_turn=3, zeros=7, low_card="append")


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("variant", TWO_CARDS)
def test_who_has_no_cards_waits_for_the_end(variant, players):
    env = sixnimmt_v0.parallel_env(players, variant)
    observations, _ = env.reset(seed=4)
    out = 0
    while env.agents:
        assert env.agents == env.possible_agents
        masks = {agent: o["action_mask"] for agent, o in observations.items()}
        hand_empty = not masks["player_0"][1:].any()
        actions = {agent: int(mask.argmax()) for agent, mask in masks.items()}
        actions["player_0"] = two_cards(masks["player_0"])
        if hand_empty:
            if not out:
                with pytest.raises(IllegalActionError, match=r"player_0 .*legal actions are \[0\]"):
                    env.step(actions | {"player_0": 50})
            out += 1
        observations, rewards, terminations, _, _ = env.step(actions)
        assert not hand_empty or rewards["player_0"] == 0
        assert set(terminations.values()) == {not env.agents}
    # No second card in the eighth turn, then seven turns of the others; their last card is alone.
    assert out == 14


@pytest.mark.parametrize("policy", [TwoCards(), "lowest"], ids=["two", "one"])
@pytest.mark.parametrize("variant", TWO_CARDS)
def test_learners_leave_before_and_after_the_opponents(variant, policy):
    """The learner's last step lasts until the others have no cards either."""
    env = SixNimmtEnv(policy, variant=variant, num_players=3, reward="relative")
    observation, _ = env.reset(seed=1)
    sums, over, steps = 0.0, False, 0
    while not over:
        # Two cards in a turn against opponents who play one, and the other way round.
        mask = observation["action_mask"]
        action = two_cards(mask) if policy == "lowest" else int(mask.argmax())
        observation, reward, over, _, info = env.step(action)
        sums, steps = sums + reward, steps + 1
    heads = env.game.totals()[:, 0].tolist()
    assert info["heads"] == heads[0]
    assert sums == pytest.approx(score("relative", env.rules, heads)[0])
    # Each card but the last is followed by a choice of a second one.
    assert steps == (15 if policy == "lowest" else 29)
    assert not env.game.hand.any()


def test_some_seats_learn_and_one_of_them_leaves():
    pytest.importorskip("stable_baselines3")
    from sixnimmt_env.envs.sb3 import SixNimmtVecEnv

    env = SixNimmtVecEnv(2, [0, 2], TwoCards(), variant=TWO_CARDS[0], num_players=3)
    env.seed(3)
    env.reset()
    sums, waited = np.zeros(4), 0
    dones = np.zeros(4, bool)
    while not dones.any():
        masks = env.action_masks()
        waited += (masks[0].sum() == 1) and masks[0, 0]
        actions = [two_cards(mask) for mask in masks[:2]] + list(masks[2:].argmax(axis=1))
        _, rewards, dones, infos = env.step(np.array(actions))
        sums += rewards
    assert dones.all() and waited == 14
    assert sums.tolist() == [info["heads"] for info in infos]


@pytest.mark.parametrize("variant", PLUS_FAMILY)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 8}, r"num_players=8 .*2 to 7"),
        ({"row_choice": "fewest_heads"}, r"row_choice='fewest_heads' .*leave row_choice out"),
    ],
)
def test_impossible_options(variant, options, message):
    for face in (sixnimmt_v0.parallel_env, sixnimmt_v0.env, SixNimmtEnv, SixNimmtVectorEnv):
        with pytest.raises(ValueError, match=message):
            face(variant=variant, **options)


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_a_match_has_as_many_rounds_as_players(variant, players):
    env = sixnimmt_v0.parallel_env(players, variant, episode="match", reward="win")
    seen = episode(env, seed=2)
    assert seen[-1][-1]["player_0"]["round"] == players - 1
    heads = [info["heads"] for info in seen[-1][-1].values()]
    best = max(heads) if variant in COLLECT else min(heads)
    assert [w > 0 for w in seen[-1][1].values()] == [h == best for h in heads]


@pytest.mark.parametrize("variant", PLUS_FAMILY)
def test_other_ends_of_a_match(variant):
    env = sixnimmt_v0.parallel_env(2, variant, episode="match", rounds=3)
    assert episode(env, seed=0)[-1][-1]["player_0"]["round"] == 2
    env = sixnimmt_v0.parallel_env(2, variant, episode="match", target=100)
    *_, before, last = episode(env, seed=0)
    assert max(info["heads"] for info in last[-1].values()) >= 100
    assert last[-1]["player_0"]["round"] > 0 or before[-1]["player_0"]["turn"] > 0


def test_the_page_lists_all_variants():
    page = (Path(__file__).parent.parent / "docs" / "environments.md").read_text(encoding="utf-8")
    table = re.findall(r'^\| `"(\w+)"` \| (\d+)–(\d+) \|', page, re.MULTILINE)
    limits = {name: (2, make_rules(name, 2).max_players) for name in VARIANTS}
    assert {name: (int(low), int(high)) for name, low, high in table} == limits
