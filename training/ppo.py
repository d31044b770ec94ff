"""Train a first agent by self-play with MaskablePPO, and show how it does.

    python -m training.ppo --preset quick            # five minutes on two cores
    python -m training.ppo --preset quick --steps 20_000_000 --seed 3 --run runs/mine
    python -m training.ppo --resume runs/mine        # go on after any interruption

Every seat of every game learns; the agent meets itself. Checkpoints are taken between two
rollouts, so a resumed run goes on exactly as if it had not stopped (on one machine, on the CPU).
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

from agents.learned import SB3Policy
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from training.config import PRESETS, Config
from training.evaluate import evaluate
from training.report import Results, learning_curve, table
from training.run import Run, write_atomically

CURVE_SEED = 1_000_003
FINAL_SEED = 2_000_003


class Progress(BaseCallback):
    """Progress bar, metrics and checkpoints, all between two rollouts."""

    def __init__(self, run: Run, config: Config, seconds: float, stop_after: int | None) -> None:
        super().__init__()
        self.run = run
        self.config = config
        self.seconds = seconds
        self.stop_after = stop_after
        self._heads: list[int] = []

    def _on_training_start(self) -> None:
        self._began = self._saved = time.monotonic()
        self._bar = tqdm(
            total=self.config.steps, initial=self.num_timesteps, unit="decisions",
            unit_scale=True, smoothing=0.05, disable=None,
        )  # fmt: skip
        every = max(1, self.config.steps // self.config.curve_points)
        self._curve_every = every
        self._next_curve = -(-self.num_timesteps // every) * every

    def elapsed(self) -> float:
        """Seconds of training, earlier sessions included."""
        return self.seconds + time.monotonic() - self._began

    def _on_rollout_start(self) -> None:
        steps = self.model.num_timesteps
        self._bar.update(steps - self._bar.n)
        if steps >= self._next_curve:
            self._next_curve += self._curve_every
            self.measure()
        due = time.monotonic() - self._saved >= self.config.checkpoint_seconds
        stopping = self.stop_after is not None and steps >= self.stop_after
        if due or stopping:
            self.run.save(self.model, self.elapsed())
            self._saved = time.monotonic()
        if stopping:
            raise KeyboardInterrupt

    def _on_step(self) -> bool:
        for env in np.flatnonzero(self.locals["dones"]):
            self._heads.append(self.locals["infos"][env]["heads"])
        return True

    def measure(self) -> None:
        """Add a point to the learning curve."""
        rules = self.config.rules()
        # The evaluation must not disturb the training's chance.
        state = torch.get_rng_state()
        policy = SB3Policy(self.model, rules)
        strength = evaluate(policy, "random", rules, self.config.curve_rounds, CURVE_SEED)
        torch.set_rng_state(state)
        among = float(np.mean(self._heads)) if self._heads else float("nan")
        self._heads.clear()
        self.run.add_metrics(
            {
                "steps": self.model.num_timesteps,
                "seconds": round(self.elapsed(), 2),
                "heads": strength.heads.mean,
                "half": strength.heads.half,
                "wins": strength.wins.mean,
                "self_play_heads": among,
            }
        )
        self.logger.record("sixnimmt/heads_against_random", strength.heads.mean)
        self.logger.record("sixnimmt/self_play_heads", among)
        self._bar.set_postfix_str(f"heads against random {strength.heads.text()}")

    def _on_training_end(self) -> None:
        self._bar.update(self.model.num_timesteps - self._bar.n)
        self._bar.close()


def make_model(config: Config, env: SixNimmtVecEnv, folder: Path) -> MaskablePPO:
    """Make the model that `config` describes, untrained."""
    rate = config.learning_rate
    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=lambda left: rate * left,
        n_steps=config.rollout,
        batch_size=config.batch,
        n_epochs=config.epochs,
        gamma=1.0,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy,
        vf_coef=config.value_weight,
        policy_kwargs={
            "net_arch": [config.width, config.width],
            "activation_fn": torch.nn.ReLU,
        },
        tensorboard_log=str(folder / "tensorboard"),
        seed=config.seed,
        device="cpu",
    )


def train(
    folder: Path, config: Config | None = None, stop_after: int | None = None
) -> MaskablePPO | None:
    """Begin a run, or go on with one.

    Parameters
    ----------
    folder : Path
        The run folder.
    config : Config, optional
        Settings of a new run; None goes on with the one in `folder`.
    stop_after : int, optional
        Stop, as Ctrl-C does, at the first rollout after so many decisions.

    Returns
    -------
    MaskablePPO or None
        The trained model; None if the training was stopped before its end.
    """
    run = Run(folder)
    if config is None:
        config = run.config()
    else:
        run.create(config)
    torch.set_num_threads(config.threads)
    saved = run.load() if run.checkpoint.exists() else None
    if saved is None:
        env = SixNimmtVecEnv(config.games, **config.env_options())
    else:
        env = saved["env"]
    model = make_model(config, env, folder)
    if saved is not None:
        run.restore(model, saved)
    progress = Progress(run, config, saved["seconds"] if saved else 0.0, stop_after)
    try:
        if config.steps > model.num_timesteps:
            model.learn(
                config.steps - model.num_timesteps,
                callback=progress,
                tb_log_name="ppo",
                reset_num_timesteps=saved is None,
            )
            progress.measure()
            run.save(model, progress.elapsed())
    except KeyboardInterrupt:
        progress._bar.close()
        print(f"\nStopped. Go on with: python -m training.ppo --resume {folder}", file=sys.stderr)
        return None
    save_policy(model, folder)
    return model


def save_policy(model: MaskablePPO, folder: Path) -> None:
    """Write `policy.zip`, whole or not at all."""
    part = folder / "policy.part.zip"
    model.save(part, exclude=["env", "tensorboard_log"])
    part.replace(folder / "policy.zip")


def report(folder: Path, config: Config, model: MaskablePPO) -> str:
    """Measure the trained agent, write `results.*` and the learning curve; returns the table."""
    rules = config.rules()
    agent = SB3Policy(model, rules)
    results: Results = {}
    for opponent in ("random", "closest_gap"):
        for name, player in (("trained", agent), (opponent, opponent)):
            results[name, opponent] = evaluate(
                player, opponent, rules, config.final_rounds, FINAL_SEED
            )
    text = table(results, rules)
    rows = [{"player": p, "against": o, **asdict(s)} for (p, o), s in results.items()]
    write_atomically(folder / "results.json", json.dumps(rows, indent=2).encode())
    write_atomically(folder / "results.md", (text + "\n").encode())
    learning_curve(
        Run(folder).read_metrics(),
        results["random", "random"].heads.mean,
        folder / "learning_curve.png",
    )
    return text


def main(arguments: list[str] | None = None) -> None:
    """Command line: `--preset NAME`, `--run FOLDER`, `--resume FOLDER`, any setting."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    resume, run, preset = (_option(args, name) for name in ("--resume", "--run", "--preset"))
    if resume is not None:
        if args or run or preset:
            sys.exit("--resume goes on with the settings of the run: give nothing else")
        folder, config = Path(resume), None
    else:
        preset = preset or "quick"
        if preset not in PRESETS:
            sys.exit(f"--preset {preset} is not known: choose one of {', '.join(PRESETS)}")
        config = tyro.cli(Config, default=PRESETS[preset], args=args, description=__doc__)
        folder = Path(run or time.strftime(f"runs/{preset}-%Y%m%d-%H%M%S"))
    try:
        config and config.rules()
        model = train(folder, config)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    if model is None:
        sys.exit(130)
    print(report(folder, Run(folder).config(), model))
    print(f"\nSaved in {folder}: policy.zip, results.md, learning_curve.png, tensorboard/")


def _option(args: list[str], name: str) -> str | None:
    """Remove `name VALUE` or `name=VALUE` from `args` and return the value."""
    for i, arg in enumerate(args):
        if arg == name:
            if i + 1 == len(args):
                sys.exit(f"{name} needs a value")
            value = args[i + 1]
            del args[i : i + 2]
            return value
        if arg.startswith(name + "="):
            del args[i]
            return arg.split("=", 1)[1]
    return None


if __name__ == "__main__":
    main()
