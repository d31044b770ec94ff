"""Faults for `tests.mutation`: where one can be put into a module, and the source with it.

The kinds are the node operators of mutmut and three more. What is left out, since its change cannot
matter or is for people to judge: annotations, decorators, imports, assertions, aliases of types,
protocols, words with a space in them, and all of what makes an exception but whether it is raised.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Mutant:
    """One fault: the lines that it changes, and the whole source with it."""

    key: str
    module: str
    line: int
    kind: str
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.kind}\n    - {self.before}\n    + {self.after}"


@dataclass(frozen=True)
class Fault:
    """A place in a module and what could stand there; `key` decides whether it is drawn."""

    key: str
    module: str
    line: int
    kind: str
    tree: cst.Module
    node: cst.CSTNode
    instead: cst.CSTNode

    def mutant(self) -> Mutant | None:
        """Put it into the source; None if that is no Python."""
        code = self.tree.deep_replace(self.node, self.instead).code
        try:
            compile(code, self.module, "exec", dont_inherit=True)
        except SyntaxError:
            return None
        before, after = _changed_lines(self.tree.code, code)
        return Mutant(self.key, self.module, self.line, self.kind, before, after, code)


def delete_statement(node: cst.SimpleStatementLine) -> Iterator[cst.CSTNode]:
    """Leave out a statement that is there for its effect."""
    statement = node.body[0]
    if len(node.body) > 1:
        return
    if isinstance(statement, cst.Assign):
        stores = isinstance(statement.targets[0].target, (cst.Subscript, cst.Attribute))
    elif isinstance(statement, cst.Expr):
        stores = isinstance(statement.value, cst.Call)
    else:
        stores = isinstance(statement, (cst.AugAssign, cst.Raise))
    if stores:
        yield node.with_changes(body=[cst.Pass()])


def negate_condition(node: cst.If | cst.While) -> Iterator[cst.CSTNode]:
    """Do the opposite of what a condition says."""
    test = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    yield node.with_changes(test=cst.UnaryOperation(cst.Not(), test))


def lower_number(node: cst.Integer) -> Iterator[cst.CSTNode]:
    """Take one off a number."""
    if node.evaluated_value > 0:
        yield node.with_changes(value=repr(node.evaluated_value - 1))


OPERATORS: list[tuple[Any, Any]] = [
    *mutation_operators,
    (cst.SimpleStatementLine, delete_statement),
    ((cst.If, cst.While), negate_condition),
    (cst.Integer, lower_number),
]


_LEFT_OUT = (cst.Annotation, cst.Decorator, cst.Assert, cst.Import, cst.ImportFrom)


class _Places(cst.CSTVisitor):
    """Nodes that may be mutated."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        self.found: list[tuple[cst.CSTNode, int]] = []
        self._depth = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(
            node, (cst.Annotation, cst.Decorator, cst.Assert, cst.Import, cst.ImportFrom)
        ):
            return False
        if isinstance(node, cst.ClassDef) and "Protocol" in _names(node.bases):
            return False
        if isinstance(node, cst.SimpleString) and " " in node.value:
            return False  # words for people
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            self._depth += 1
        # Constants are annotated as Final: other names of a module are aliases of types.
        if not self._depth and isinstance(node, cst.Assign):
            return False
        self.found.append((node, self.get_metadata(PositionProvider, node).start.line))
        return not isinstance(node, cst.Raise) and not _is_error(node)

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, (cst.FunctionDef, cst.ClassDef)):
            self._depth -= 1


def _names(arguments: Any) -> list[str]:
    return [a.value.value for a in arguments if isinstance(a.value, cst.Name)]


def _is_error(node: cst.CSTNode) -> bool:
    """Whether this makes an exception, whose text is for people."""
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, (cst.Name, cst.Attribute))
        and (node.func.attr if isinstance(node.func, cst.Attribute) else node.func)
        .value.lower()
        .endswith("error")
    )


def faults_of(module: str, seed: int) -> Iterator[Fault]:
    """Every place in a module with every kind of fault that it can have."""
    wrapper = MetadataWrapper(cst.parse_module((ROOT / module).read_text()), unsafe_skip_copy=True)
    places = _Places()
    wrapper.visit(places)
    tree = wrapper.module
    met: Counter[str] = Counter()
    for node, line in places.found:
        for classes, operator in OPERATORS:
            if not isinstance(node, classes):
                continue
            kind, code = operator.__name__.removeprefix("operator_"), tree.code_for_node(node)
            words = f"{seed} {module} {kind} {code}"
            met[words] += 1  # equal ones are told apart by their number
            keys = {}
            for instead in operator(node):
                text = f"{words} {met[words]} {tree.code_for_node(instead)}"
                if tree.code_for_node(instead) != code:
                    keys[hashlib.sha256(text.encode()).hexdigest()[:16]] = instead
            if keys:
                key = min(keys)
                yield Fault(key, module, line, kind, tree, node, keys[key])


def _changed_lines(old: str, new: str) -> tuple[str, str]:
    lines = old.splitlines(), new.splitlines()
    while lines[0] and lines[1] and lines[0][0] == lines[1][0]:
        del lines[0][0], lines[1][0]
    while lines[0] and lines[1] and lines[0][-1] == lines[1][-1]:
        del lines[0][-1], lines[1][-1]
    before, after = (" ".join(line.strip() for line in side) for side in lines)
    return before, after


def faults_in(modules: list[str], seed: int) -> list[Fault]:
    """All faults in the order in which they are drawn."""
    faults = [fault for module in modules for fault in faults_of(module, seed)]
    print(f"{len(faults)} possible faults in {len(modules)} modules", flush=True)
    return sorted(faults, key=lambda fault: fault.key)
