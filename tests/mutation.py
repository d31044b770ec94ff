"""Mutation testing: small faults put into the package one at a time, to see which the tests miss.

    python -m tests.mutation --sample 400 --seed 0

The faults are those of mutmut (its node operators, not its runner, whose trampolines cannot be
compiled), and three more: a statement left out, a condition negated, a number one lower. A place in
the source and a kind of fault count once, however many variants there are, and places are drawn by
a hash of their text, so that an edit elsewhere leaves the sample as it is.

Every fault is put into a copy of the tree and tested without numba, first by the tests that are
likely to see it, then by the others that `tests.mutation_plan` names. A failure or a run that takes
far longer than the unmutated one, kills the mutant. Results are written as they come, and a run
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
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from tests.mutation_faults import ROOT, Fault, Mutant, faults_in
from tests.mutation_plan import DESELECTED, PLAN

EQUIVALENT = Path(__file__).with_name("mutation_equivalent.toml")
MEMORY = 8 << 30
# A run that takes longer than so many times the unmutated one, and so many seconds, has hung.
PATIENCE = (4, 20)


class Runner:
    """Tests mutants, each worker in a copy of the tree."""

    def __init__(self, workers: int, folder: Path, limit: float | None = None) -> None:
        self._limit = limit
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
            for files in PLAN[mutant.module]:
                file.write_text(original)
                limit = self._limit or PATIENCE[0] * self._unmutated(tree, files) + PATIENCE[1]
                file.write_text(mutant.source)
                outcome, killer = run_tests(tree, files, limit)
                if outcome != "survived":
                    break
        finally:
            file.write_text(original)
            self.trees.put(tree)
        facts = {**asdict(mutant), "source": digest(mutant.module)}
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
    parser.add_argument("--limit", type=float, help="seconds until a run has hung, not measured")
    parser.add_argument("--least", type=float, default=95.0, help="per cent that must die (95)")
    parser.add_argument("--list", action="store_true", help="show the sample, test nothing")
    args = parser.parse_args()
    modules = [m for m in PLAN if not args.module or any(part in m for part in args.module)]
    faults = faults_in(modules, args.seed)
    if args.list:
        print(*itertools.islice(filter(None, map(Fault.mutant, faults)), args.sample), sep="\n")
        return
    results = run(faults, args.sample, args.out, args.workers, args.again, args.limit)
    share = report(results)
    if share < args.least:
        sys.exit(f"{args.least} % are needed")


def run(
    faults: list[Fault],
    count: int,
    out: Path,
    workers: int,
    again: bool = False,
    limit: float | None = None,
) -> list[dict[str, Any]]:
    """Test the first `count` that have no result yet in the file `out`; the results of all."""
    out.parent.mkdir(parents=True, exist_ok=True)
    done = {r["key"]: r for r in results_in(out) if r["source"] == digest(r["module"])}
    if again:
        done = {key: r for key, r in done.items() if r["outcome"] != "survived"}
    sample: list[str] = []
    tests: list[Future[None]] = []
    free = threading.Semaphore(workers)
    with (
        tempfile.TemporaryDirectory() as folder,
        out.open("a") as file,
        ThreadPoolExecutor(workers) as pool,
    ):
        runner = Runner(workers, Path(folder), limit)

        def test(number: int, mutant: Mutant) -> None:
            try:
                result = runner.test(mutant)
            finally:
                free.release()
            done[mutant.key] = result
            # In front of a line that was cut short stands a whole one, behind it a new line.
            file.write("\n" + json.dumps(result))
            file.flush()
            told = f"{number:4} {result['outcome']:8} {result['s']:6.1f} s"
            print(told, f"{mutant.module}:{mutant.line}", result["by"], flush=True)

        for fault in faults:
            if len(sample) == count:
                break
            mutant = None if fault.key in done else fault.mutant()
            if mutant is not None:
                free.acquire()
                for tested in [t for t in tests if t.done()]:
                    tested.result()
                    tests.remove(tested)
                tests.append(pool.submit(test, len(sample) + 1, mutant))
            elif fault.key not in done:
                continue  # no Python
            sample.append(fault.key)
        for tested in tests:
            tested.result()
    return [done[key] for key in sample]


@cache
def digest(module: str) -> str:
    """What a module is now: results of another state of it do not count."""
    file = ROOT / module
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16] if file.exists() else ""


def results_in(out: Path) -> list[dict[str, Any]]:
    """Results of earlier runs; a line that was cut short is none."""
    results = []
    for line in out.read_text().splitlines() if out.exists() else []:
        try:
            results.append(json.loads(line))
        except ValueError:
            continue
    return results


if __name__ == "__main__":
    main()
