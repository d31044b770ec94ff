"""Turn a training run into a file that plays without torch. `python -m training.export --help`"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.learned import SB3Policy
from agents.runfolder import write_atomically
from agents.terminal import write_anywhere
from sixnimmt_env import __version__, load_policy
from sixnimmt_env.trained.network import NetworkPolicy, policy_bytes
from sixnimmt_env.trained.scope import scope_of

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO


def exported(model: MaskablePPO, about: dict[str, Any]) -> NetworkPolicy:
    """Copy a model's network into a policy that needs NumPy alone.

    Parameters
    ----------
    model : MaskablePPO
        With `CardPolicy`. Its attribute `scope` says which games it learned; without it they are
        the one that its network was made for.
    about : dict
        How it came to be, in what JSON can hold; kept in the file.

    Returns
    -------
    NetworkPolicy
        Greedy, with the same probabilities as the model.

    Raises
    ------
    ValueError
        If the model has another network.
    """
    from agents.network import CardNetwork, CardPolicy, network_policy  # torch takes seconds

    policy = model.policy
    if not isinstance(policy, CardPolicy) or not isinstance(policy.features_extractor, CardNetwork):
        raise ValueError(
            f"a model with {type(policy).__name__} cannot be exported: only agents.network's "
            "CardPolicy with its CardNetwork can; other models play from their .zip"
        )
    network = policy.features_extractor
    scope = getattr(model, "scope", None) or scope_of([network.rules])
    return network_policy(network.state_dict(), scope, about)


def export(source: Path, target: Path) -> NetworkPolicy:
    """Write the policy of a run folder, or of a MaskablePPO .zip, to a file.

    A run that has a file already, policy.npz, is checked and copied.

    Raises
    ------
    FileNotFoundError
        If there is no such run or folder.
    OSError
        If the target cannot be written.
    ValueError
        If the model has another network, or the target is no .npz.
    """
    if target.suffix != ".npz":
        raise ValueError(f"{target} is no name for an exported policy: it has to end in .npz")
    if source.is_dir():
        source = source / ("policy.npz" if (source / "policy.npz").is_file() else "policy.zip")
    if source.suffix == ".npz":
        policy = load_policy(source)
    else:
        model = SB3Policy.load(source).model
        policy = exported(model, {"steps": model.num_timesteps, "version": __version__})
    data = policy_bytes(policy)
    try:
        write_atomically(target, lambda file: file.write(data))
    except OSError as error:
        raise OSError(f"{target} cannot be written: {error}") from error
    return policy


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m training.export",
        description="Write a trained network to a file that plays without torch.",
    )
    parser.add_argument("source", type=Path, metavar="RUN_OR_ZIP", help="run folder or its .zip")
    parser.add_argument("target", type=Path, metavar="FILE.npz", help="what is written")
    options = parser.parse_args(arguments)
    write_anywhere()
    try:
        policy = export(options.source, options.target)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    size = options.target.stat().st_size / 1024
    print(f"{options.target}: {size:.0f} KiB, plays {policy.scope}")


if __name__ == "__main__":
    main()
