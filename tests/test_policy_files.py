"""Every policy file either loads and plays, or is refused before memory is spent on it."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sixnimmt_env import load_policy, make_rules, play
from sixnimmt_env.trained import archive
from sixnimmt_env.trained.network import NetworkPolicy, policy_bytes, weight_shapes
from sixnimmt_env.trained.scope import scope_of
from tests.networks import random_network, write_file, write_network

RULES = make_rules("base", 3)
SCOPE = scope_of([make_rules("base", players) for players in (2, 3, 4)]).as_dict()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "policy.npz"


def refused(path: Path, said: str) -> None:
    with pytest.raises(ValueError, match=said) as refusal:
        load_policy(path)
    assert str(path) in str(refusal.value) and "training.export" in str(refusal.value)


# Kinds and values of the weights


@pytest.mark.parametrize("kind", ["U3", "S3", "M8[s]", "m8[s]", "?", "i8", "u1", "c8", "c16", "V4"])
def test_weights_that_are_no_real_numbers(kind: str, path: Path):
    odd = np.zeros(8, kind)
    write_file(path, {}, **{"mix.bias": odd})
    refused(path, r"'mix\.bias' are .*, not float32")
    policy = random_network(RULES)
    with pytest.raises(ValueError, match=r"'mix\.bias' are .*, not float32"):
        NetworkPolicy(policy.weights | {"mix.bias": odd}, policy.scope)


def test_weights_that_hold_objects(path: Path):
    write_file(path, {}, **{"mix.bias": np.full(8, None)})
    refused(path, r"'mix\.bias' are object, not float32")


@pytest.mark.parametrize("kind", ["f2", "<f4", ">f4", "f8", "g"])
def test_weights_of_other_real_kinds(kind: str, path: Path):
    policy = random_network(RULES)
    odd = {name: weights.astype(kind) for name, weights in policy.weights.items()}
    write_file(path, {"scope": policy.scope.as_dict()}, **odd)
    loaded = load_policy(path)
    for name, weights in loaded.weights.items():
        assert weights.dtype == np.float32
        np.testing.assert_array_equal(weights, odd[name].astype(np.float32))
    play([loaded] * 3, RULES, games=2)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, -1e6, 1e300])
def test_numbers_that_one_cannot_calculate_with(value: float, path: Path):
    write_file(path, {}, **{"mix.bias": np.r_[np.zeros(7), value]})
    refused(path, r"'mix\.bias' hold numbers that are not finite, or beyond 1000")


def test_the_largest_weights_play(path: Path):
    """In the shapes that let numbers grow most; overflow would be an error in this suite."""
    policy = random_network(RULES)
    largest = {name: np.full_like(w, 1000) for name, w in policy.weights.items()}
    write_file(path, {"scope": policy.scope.as_dict()}, **largest)
    play([load_policy(path, greedy=False)] * 3, RULES, games=2)


@pytest.mark.parametrize("width", [0, 1, 2, 3])
@pytest.mark.parametrize("card_width", [0, 1, 2, 3])
def test_widths(width: int, card_width: int, path: Path):
    shapes = weight_shapes(RULES, width, card_width)
    weights = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    scope = scope_of([RULES])
    write_file(path, {"scope": scope.as_dict()}, **weights)
    if width < 1 or card_width < 2:
        refused(path, rf"'trunk\.2\.bias' and 'card\.bias' have {width} and {card_width} units")
        with pytest.raises(ValueError, match="at least 1 and 2"):
            NetworkPolicy(weights, scope)
    else:
        play([load_policy(path)] * 3, RULES, games=2)


# What the file says of itself


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scope": SCOPE | {"players": []}}, r"players=\(\) do not fit"),
        ({"scope": SCOPE | {"players": [4, 3, 2]}}, "players="),
        ({"scope": SCOPE | {"players": [2, 2, 4]}}, "players="),
        ({"scope": SCOPE | {"players": [2.5, 4]}}, "players="),
        ({"scope": SCOPE | {"players": [True, 4]}}, "players="),
        ({"scope": SCOPE | {"players": "234"}}, "players="),
        ({"scope": SCOPE | {"players": 4}}, "'about' is damaged"),
        ({"scope": SCOPE | {"players": {"a": 1}}}, "players="),
        ({"scope": SCOPE | {"row_choices": []}}, "row_choices="),
        ({"scope": SCOPE | {"row_choices": "player"}}, "row_choices="),
        ({"scope": SCOPE | {"row_choices": [["player"]]}}, "'about' is damaged"),
        (
            {"scope": SCOPE | {"rules": SCOPE["rules"] | {"collect": "no"}}},
            "collect='no'.* True or False",
        ),
        ({"scope": SCOPE | {"rules": SCOPE["rules"] | {"one_by_one": 0}}}, "one_by_one=0"),
        ({"scope": SCOPE | {"rules": SCOPE["rules"] | {"name": 5}}}, "name=5 .* a text"),
        ({"scope": SCOPE | {"rules": SCOPE["rules"] | {"name": "\ud800"}}}, "cannot be printed"),
        ({"scope": SCOPE | {"rules": [4]}}, "'about' is damaged"),
        ({"about": "a text"}, "says about itself is 'a text'"),
        ({"about": None}, "says about itself is None"),
    ],
)
def test_scopes_that_are_none(change: dict[str, Any], said: str, path: Path):
    write_file(path, change)
    refused(path, said)


TEXTS = {
    "numbers": np.zeros(3),
    "many rows": np.zeros((2, 2), np.uint8),
    "one text": np.array('{"format": 1}'),
    "no JSON": np.frombuffer(b"format 1", np.uint8),
    "no object": np.frombuffer(b"[1]", np.uint8),
    "too deep": np.frombuffer(b"[" * 200_000, np.uint8),
    "too long": np.full(2**20 + 1, ord(" "), np.uint8),
    "nothing": np.zeros(0, np.uint8),
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_that_are_none(text: str, path: Path):
    write_file(path, {}, about=TEXTS[text])
    refused(path, "'about' is")


def test_arrays_that_are_missing_or_too_many(path: Path):
    write_file(path, {}, about=None)
    refused(path, "has no array 'about'")
    write_file(path, {}, **{"mix.bias": None})
    refused(path, r"base: \['mix\.bias'\] are missing")
    write_file(path, {}, more=np.zeros(3, np.float32))
    refused(path, r"base: \['more'\] are .*not part of it")


# Memory


def grown(path: Path) -> int:
    """Bytes that refusing the file takes at most."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"policy\.npz is not an exported policy"):
            load_policy(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def with_member(path: Path, name: str, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> None:
    """Write a good file but for one member."""
    write_file(path, {}, **{name: None})
    with zipfile.ZipFile(path, "a", method) as file:
        file.writestr(f"{name}.npy", content)


def header(shape: tuple[int, ...], kind: str = "<f4") -> bytes:
    content = io.BytesIO()
    named = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(content, named)
    return content.getvalue()


SIZE = 2**24
FEW = 2**20


@pytest.mark.parametrize("name", ["mix.bias", "more", "about"])
def test_a_file_that_unpacks_to_too_much(name: str, path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archive, "MOST_BYTES", SIZE)
    kind = "|u1" if name == "about" else "<f4"
    with_member(path, name, header((SIZE // np.dtype(kind).itemsize,), kind) + bytes(SIZE))
    assert path.stat().st_size < SIZE / 50
    assert grown(path) < FEW
    refused(path, f"unpacks to [0-9]+ bytes, a policy to at most {SIZE}")


@pytest.mark.parametrize("name", ["mix.bias", "trunk.0.weight", "more", "about"])
def test_an_array_of_another_shape_is_not_unpacked(name: str, path: Path):
    """Where the whole is not too much."""
    kind = "|u1" if name == "about" else "<f4"
    with_member(path, name, header((SIZE // np.dtype(kind).itemsize,), kind) + bytes(SIZE))
    assert grown(path) < FEW
    refused(path, name)


@pytest.mark.parametrize("shape", [(2**60,), (8, 2**40), (-8,), (2**70, 0)])
def test_an_array_that_says_it_is_huge(shape: tuple[int, ...], path: Path):
    with_member(path, "mix.bias", header(shape) + bytes(32))
    assert grown(path) < FEW
    refused(path, r"mix\.bias")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_a_limit(method: int, path: Path):
    with_member(path, "mix.bias", header((8,)) + bytes(SIZE), method)
    assert grown(path) < FEW
    refused(path, r"'mix\.bias' is packed in a way that NumPy does not use")


def test_a_file_that_is_too_large_itself(path: Path, monkeypatch: pytest.MonkeyPatch):
    write_network(path, RULES)
    monkeypatch.setattr(archive, "MOST_BYTES", path.stat().st_size - 1)
    refused(path, "it has [0-9]+ bytes, a policy at most")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_one_name(path: Path):
    write_network(path, RULES)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("mix.bias.npy", header((8,)) + bytes(32))
    refused(path, "two arrays in it have the same name")


def test_bytes_that_change_within_an_array(path: Path):
    write_file(path, {})
    content = bytearray(path.read_bytes())
    content[content.index(b"trunk.2.weight.npy") + 400] ^= 1
    path.write_bytes(content)
    refused(path, r"array 'trunk\.2\.weight' is damaged")


def test_a_text_about_it_is_kept(path: Path):
    policy = random_network(RULES)
    policy.about = {"of": ["many", {"things": 1.5}], "中": None}
    path.write_bytes(policy_bytes(policy))
    assert load_policy(path).about == json.loads(json.dumps(policy.about))
