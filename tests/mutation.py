"""Mutation testing: small faults put into the package one at a time, to see which the tests miss.

    python -m tests.mutation --sample 400 --seed 0

The faults are those of mutmut (its node operators, not its runner, whose trampolines cannot be
compiled), and three more: a statement left out, a condition negated, a number one lower. A place in
the source and a kind of fault count once, however many variants there are, and places are drawn by
a hash of their text, so that an edit elsewhere leaves the sample as it is.

Every fault is put into a copy of the tree and tested without numba, first by the tests that are
made for the module, then by all core tests (`tests.mutation_plan`). A failure or a run that takes
far longer than the unmutated one kills the mutant. Results are written as they come, and a run
continues where it was ended. docs/mutation.md has the rules of what is left out, and the result.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

from tests.mutation_plan import CORE, DESELECTED, MODULES

ROOT = Path(__file__).parents[1]
EQUIVALENT = Path(__file__).with_name("mutation_equivalent.toml")
MEMORY = 8 << 30
# A run that takes longer than so many times the unmutated one, and so many seconds, has hung.
PATIENCE = (4, 20)


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


class _Places(cst.CSTVisitor):
    """Nodes that may be mutated: all but those whose change cannot matter, see docs/mutation.md."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        self.found: list[tuple[cst.CSTNode, int]] = []
        self._depth = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.Annotation, cst.Decorator, cst.Assert, cst.Import, cst.ImportFrom)):
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


def sample_of(modules: list[str], count: int, seed: int) -> list[Mutant]:
    """Mutants in the order in which they are drawn; a larger sample begins with a smaller one."""
    faults = [fault for module in modules for fault in faults_of(module, seed)]
    print(f"{len(faults)} possible faults in {len(modules)} modules", flush=True)
    faults.sort(key=lambda fault: fault.key)
    return list(itertools.islice(filter(None, map(Fault.mutant, faults)), count))


class Runner:
    """Tests mutants, each worker in a copy of the tree."""

    def __init__(self, workers: int, folder: Path) -> None:
        self.trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True)
        for number in range(workers):
            tree = folder / str(number)
            for name in filter(None, names.stdout.split("\0")):
                if (ROOT / name).is_file():
                    (tree / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(ROOT / name, tree / name)
            self.trees.put(tree)
        self._seconds: dict[tuple[str, ...], float] = {}
        self._lock = threading.Lock()

    def test(self, mutant: Mutant) -> dict[str, Any]:
        """Say what became of a mutant, and by which test."""
        tree = self.trees.get()
        file = tree / mutant.module
        original = file.read_text()
        began = time.monotonic()
        outcome, killer = "survived", ""
        try:
            for files in stages(mutant.module):
                limit = PATIENCE[0] * self._unmutated(tree, files) + PATIENCE[1]
                file.write_text(mutant.source)
                outcome, killer = run_tests(tree, files, limit)
                file.write_text(original)
                if outcome != "survived":
                    break
        finally:
            file.write_text(original)
            self.trees.put(tree)
        facts = {k: v for k, v in asdict(mutant).items() if k != "source"}
        return {**facts, "outcome": outcome, "by": killer, "s": round(time.monotonic() - began, 1)}

    def _unmutated(self, tree: Path, files: tuple[str, ...]) -> float:
        """Seconds that the tests take as the source is; they pass, or there is nothing to see."""
        with self._lock:
            if files not in self._seconds:
                began = time.monotonic()
                outcome, killer = run_tests(tree, files, 1800)
                if outcome != "survived":
                    sys.exit(f"without any fault {killer or ' '.join(files)} is {outcome}")
                self._seconds[files] = time.monotonic() - began
            return self._seconds[files]


def stages(module: str) -> list[tuple[str, ...]]:
    """Test files of a module: those that are likely to kill, then the other core tests."""
    first = MODULES[module]
    return [first, tuple(file for file in CORE if file not in first)]


def run_tests(tree: Path, files: tuple[str, ...], limit: float) -> tuple[str, str]:
    """Run test files until one fails: ("survived" | "killed" | "timeout", the failing test)."""
    names = [f"tests/test_{file}.py" for file in files]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no"]
    command += ["-p", "no:cacheprovider", "-k", DESELECTED, *names]
    env = {**os.environ, "SIXNIMMT_COMPILED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
    process = subprocess.Popen(
        command, cwd=tree, env=env, text=True, errors="replace", start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=_limit_memory,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "timeout", ""
    if process.returncode == 0:
        return "survived", ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    return "killed", failed.group(1) if failed else f"exit status {process.returncode}"


def _limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def known_equivalents() -> dict[tuple[str, str, str], str]:
    """Why survivors that are listed change nothing, by (module, before, after)."""
    listed = tomllib.loads(EQUIVALENT.read_text())["equivalent"]
    return {(e["module"], e["before"], e["after"]): e["why"] for e in listed}


def report(results: list[dict[str, Any]]) -> float:
    """Print the survivors and the share of killed mutants; returns that share in per cent."""
    known = known_equivalents()
    killed = [r for r in results if r["outcome"] != "survived"]
    survivors = [r for r in results if r["outcome"] == "survived"]
    equal = 0
    for r in sorted(survivors, key=lambda r: (r["module"], r["line"])):
        why = known.get((r["module"], r["before"], r["after"]))
        equal += why is not None
        print(f"\n{r['module']}:{r['line']} {r['kind']}: {why or 'NOT EXPLAINED'}")
        print(f"    - {r['before']}\n    + {r['after']}")
    print()
    for module in sorted({r["module"] for r in results}):
        of = [r for r in results if r["module"] == module]
        dead = sum(r["outcome"] != "survived" for r in of)
        print(f"{dead:4} of {len(of):4} killed  {module}")
    share = 100 * len(killed) / max(len(results), 1)
    timeouts = sum(r["outcome"] == "timeout" for r in results)
    print(f"\n{len(killed)} of {len(results)} mutants killed, {share:.1f} % ({timeouts} hung)")
    print(f"{len(survivors)} survived, {equal} of them known to be equivalent")
    return share


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=400, help="how many mutants (400)")
    parser.add_argument("--seed", type=int, default=0, help="which sample (0)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--module", action="append", help="only modules whose path has this in it")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutation.jsonl")
    parser.add_argument("--again", action="store_true", help="test survivors of --out again")
    parser.add_argument("--least", type=float, default=95.0, help="per cent that must die (95)")
    parser.add_argument("--list", action="store_true", help="show the sample, test nothing")
    args = parser.parse_args()
    modules = [m for m in MODULES if not args.module or any(part in m for part in args.module)]
    sample = sample_of(modules, args.sample, args.seed)
    if args.list:
        print(*sample, sep="\n")
        return
    results = run(sample, args.out, args.workers, args.again)
    share = report(results)
    if share < args.least:
        sys.exit(f"{args.least} % are needed")


def run(sample: list[Mutant], out: Path, workers: int, again: bool) -> list[dict[str, Any]]:
    """Test what has no result yet in the file `out`; all results of the sample."""
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = out.read_text().splitlines() if out.exists() else []
    done = {result["key"]: result for result in map(json.loads, lines)}
    if again:
        done = {key: r for key, r in done.items() if r["outcome"] != "survived"}
    left = [mutant for mutant in sample if mutant.key not in done]
    with tempfile.TemporaryDirectory() as folder, out.open("a") as file:
        runner = Runner(workers, Path(folder))
        with ThreadPoolExecutor(workers) as pool:
            for number, result in enumerate(pool.map(runner.test, left), 1):
                done[result["key"]] = result
                file.write(json.dumps(result) + "\n")
                file.flush()
                told = f"{number}/{len(left)} {result['outcome']:8} {result['s']:6.1f} s"
                print(told, f"{result['module']}:{result['line']}", result["by"], flush=True)
    return [done[mutant.key] for mutant in sample]


if __name__ == "__main__":
    main()
