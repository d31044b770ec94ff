"""Attributes and methods of each env of a batch, as `gymnasium.vector.SyncVectorEnv` has them."""

from __future__ import annotations

from typing import Any

from sixnimmt_env.envs.batch import SeatBatch

# What can be called for each env, and attributes that are named otherwise here.
_METHODS = ("action_masks", "render")
_SPACES = ("observation_space", "action_space")


class EachEnv:
    """Reads and notes what belongs to each env, although they are one.

    Parameters
    ----------
    batch : SeatBatch
        The envs.
    """

    def __init__(self, batch: SeatBatch) -> None:
        self._batch = batch
        self._noted: dict[str, tuple[Any, ...]] = {}

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every env, "action_masks" or "render", or read an attribute.

        Parameters
        ----------
        name : str
            "seat", "game" and what was set for each differ between the envs. All else they share;
            "observation_space" and "action_space" are those of one env.
        *args, **kwargs
            For the method.

        Returns
        -------
        tuple of n

        Raises
        ------
        AttributeError
            If they have no such method or attribute.
        """
        if name in _METHODS:
            return tuple(getattr(self, name)(*args, **kwargs))
        if name in self._noted:
            return self._noted[name]
        batch = self._batch
        if name == "seat":
            return tuple(batch.seat.tolist())
        if name == "game":
            return tuple(batch.state.take([game]) for game in batch.game.tolist())
        value = getattr(self, f"single_{name}" if name in _SPACES else name)
        if callable(value) and not isinstance(value, type):
            raise AttributeError(
                f"{name!r} cannot be called for each env: they have {list(_METHODS)}"
            )
        return (value,) * self._batch.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Read an attribute of every env, see `call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Note something of every env, for `get_attr` to read.

        Parameters
        ----------
        name : str
            No attribute of the environment itself: those are set when it is made.
        values : list or tuple of n, or anything else
            One for each env, or the same for all.

        Raises
        ------
        AttributeError
            If the environment has an attribute of this name.
        ValueError
            If there are not as many values as envs.
        """
        if hasattr(self, name) or name in ("seat", "game"):
            raise AttributeError(f"{name!r} cannot be set: make a new environment instead")
        noted = (
            tuple(values) if isinstance(values, (list, tuple)) else (values,) * self._batch.num_envs
        )
        if len(noted) != self._batch.num_envs:
            raise ValueError(
                f"{len(noted)} values for {self._batch.num_envs} envs: one each is needed"
            )
        self._noted[name] = noted
