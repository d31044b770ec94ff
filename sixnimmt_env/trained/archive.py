"""What is in a policy file, looked at before memory is spent on it.

A policy file is a NumPy archive (.npz): a zip of one member for each array. What its members say of
themselves, sizes and kinds, is read first and held against what a network has.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from typing import IO, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_BYTES: Final = 2**28
"""Largest policy file, packed and unpacked. Those of the package have 0.3 and 0.4 MB."""
MOST_WEIGHT: Final = 1000
"""Those that were trained are below 10, and no product of those below this overflows."""
_MOST_TEXT: Final = 2**20
ABOUT: Final = "about"
"""Array that holds the text about the network."""

Shape = tuple[int, ...]


class Archive:
    """An open policy file.

    Parameters
    ----------
    file : binary file
        Its content.

    Raises
    ------
    ValueError
        If it is none, or too large for one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        packed = file.seek(0, os.SEEK_END)
        if packed > MOST_BYTES:
            raise ValueError(f"it has {packed} bytes, a policy at most {MOST_BYTES}")
        try:
            self._zip = zipfile.ZipFile(file)
        except Exception as error:  # a damaged one fails in many ways
            raise ValueError(f"it cannot be opened as an archive ({error!r})") from error
        members = self._zip.infolist()
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        if len(self._members) < len(members):
            raise ValueError("two arrays in it have the same name")
        unpacked = sum(member.file_size for member in members)
        if unpacked > MOST_BYTES:
            raise ValueError(f"it unpacks to {unpacked} bytes, a policy to at most {MOST_BYTES}")
        for name, member in self._members.items():
            # The other methods unpack without a limit.
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{name!r} is packed in a way that NumPy does not use")

    def about(self) -> Any:
        """Read what is said about the network, as JSON holds it.

        Raises
        ------
        ValueError
            If it has none, or one of another kind.
        """
        if ABOUT not in self._members:
            raise ValueError(f"it has no array {ABOUT!r}")
        shape, dtype = self._header(ABOUT)
        if dtype != np.uint8 or len(shape) != 1 or shape[0] > _MOST_TEXT:
            raise ValueError(f"{ABOUT!r} is {dtype} {shape}, not a text of uint8")
        text = self._read(ABOUT).tobytes()
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"the array {ABOUT!r} is damaged ({error!r})") from error

    def shapes(self) -> dict[str, Shape]:
        """Shapes of the weights by name.

        Raises
        ------
        ValueError
            If some are no numbers.
        """
        shapes = {}
        for name in self._members.keys() - {ABOUT}:
            shapes[name], dtype = self._header(name)
            _check_kind(name, dtype)
        return shapes

    def weights(self) -> dict[str, NDArray[Any]]:
        """Read all weights.

        Raises
        ------
        ValueError
            If one is damaged; it names it.
        """
        return {name: self._read(name) for name in self._members if name != ABOUT}

    def _header(self, name: str) -> tuple[Shape, np.dtype[Any]]:
        member = self._members[name]
        try:
            with self._zip.open(member) as file:
                version = np.lib.format.read_magic(file)
                if version == (1, 0):
                    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
                else:
                    shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        except Exception as error:  # as above
            raise ValueError(f"the array {name!r} is damaged ({error!r})") from error
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > member.file_size:
            raise ValueError(f"the array {name!r} is not as large as it says, {dtype} {shape}")
        return shape, dtype

    def _read(self, name: str) -> NDArray[Any]:
        try:
            content = io.BytesIO(self._zip.read(self._members[name]))  # which checks its sum
            array: NDArray[Any] = np.lib.format.read_array(content, allow_pickle=False)
        except Exception as error:  # as above
            raise ValueError(f"the array {name!r} is damaged ({error!r})") from error
        return array


def checked(name: str, weights: ArrayLike) -> NDArray[np.float32]:
    """Give weights as float32, if they are real numbers that one can calculate with.

    Raises
    ------
    ValueError
        It names them, and what they are.
    """
    values = np.asarray(weights)
    _check_kind(name, values.dtype)
    if not np.abs(values).max() <= MOST_WEIGHT:  # nor of what is no number
        raise ValueError(
            f"the weights {name!r} hold numbers that are not finite, or beyond {MOST_WEIGHT}"
        )
    return np.asarray(values, np.float32)


def _check_kind(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind != "f":
        raise ValueError(f"the weights {name!r} are {dtype}, not float32")
