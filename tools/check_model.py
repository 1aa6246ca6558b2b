#!/usr/bin/env python3
"""Checks docs/model/breaker.pml with spin: every state that a little trouble of each kind can lead to.

    tools/check_model.py            under a minute on an idle core
    tools/check_model.py --deep     and the run that takes another half
    tools/check_model.py --trace    show the steps that lead to a failure

Two kinds of runs. The model as it is must pass, for safety and for liveness. With one safeguard taken out it must fail,
or else the model would not notice that the safeguard is missing from the program.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "docs/model/breaker.pml"
FOLDER = ROOT / "build/model"
COMPILER = next(filter(shutil.which, ("clang-19", "cc", "gcc", "clang")), "cc")
SPIN = ["spin", f"-P{COMPILER} -E -x c"]  # by itself it asks gcc to read the model, which need not be there
LIMIT = 300  # seconds, a run

QUIET = {"FAILURES": 2, "LOSSES": 0, "REPEATS": 0, "TIMEOUTS": 0, "FAILOVERS": 0, "CRASHES": 0}


class run(NamedTuple):
    name: str
    trouble: dict[str, int]  # on top of QUIET
    without: str = ""        # the safeguard that is taken out
    liveness: bool = False
    deep: bool = False


RUNS = [
    run("safety: a bad network", {"FAILURES": 3, "LOSSES": 1, "TIMEOUTS": 1}),
    run("safety: a replica dies", {"FAILURES": 3, "TIMEOUTS": 1, "CRASHES": 1}),
    run("safety: a failover", {"FAILOVERS": 1, "REPEATS": 1}),
    run("safety: a failover, and a replica dies", {"FAILOVERS": 1, "CRASHES": 1}, deep=True),
    run("liveness: a bad network", {"LOSSES": 1, "TIMEOUTS": 1}, liveness=True),
    run("liveness: a replica dies", {"CRASHES": 1}, liveness=True),
    run("liveness: a failover", {"FAILOVERS": 1}, liveness=True),
    run("without generations", {"FAILURES": 4}, "WITHOUT_GENERATIONS"),
    run("without sequence numbers", {"FAILURES": 3, "REPEATS": 1}, "WITHOUT_SEQUENCE_NUMBERS"),
    run("without the holder's deadline", {"FAILURES": 3, "TIMEOUTS": 1}, "WITHOUT_LEASE_DEADLINE"),
    run("without healing after a failover", {"FAILOVERS": 1}, "WITHOUT_HEAL"),
    run("with an open state that just expires", {}, "OPEN_BY_EXPIRY"),
    run("without taking leases back", {"CRASHES": 1}, "WITHOUT_TAKING_BACK", liveness=True),
]


def output(command: list, limit: float = LIMIT) -> str:
    done = subprocess.run(command, cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=limit, check=False)
    return done.stdout


def check(one: run) -> tuple[bool, str]:
    """Whether it went as it should, and what to say of it."""
    # spin writes the trace of a failure beside the model it was given.
    shutil.copy(MODEL, FOLDER)
    (FOLDER / "pan.c").unlink(missing_ok=True)
    defines = [f"-D{name}={value}" for name, value in {**QUIET, **one.trouble}.items()]
    if one.without:
        defines.append(f"-D{one.without}")
    said = output([*SPIN, *defines, "-a", MODEL.name])
    if "Error" in said or not (FOLDER / "pan.c").is_file():
        return False, said
    kind = ["-DNFAIR=3"] if one.liveness else ["-DSAFETY", "-DNOCLAIM"]
    said = output([COMPILER, "-w", "-O2", "-DCOLLAPSE", "-DMEMLIM=3000", *kind, "-o", "pan", "pan.c"])
    if said.strip():
        return False, said
    started = time.monotonic()
    said = output(["./pan", "-m1000000", *(["-a", "-f"] if one.liveness else [])])
    took = time.monotonic() - started

    errors = re.search(r"errors: (\d+)", said)
    states = re.search(r"(\d+(?:\.\d+e\+\d+)?) states, stored", said)
    # A search that was cut short has proved nothing.
    if not errors or not states or "Search not completed" in said and errors[1] == "0" or "max search depth" in said:
        return False, said
    found = int(errors[1]) > 0
    figures = f"{int(float(states[1])):>9,} states  {took:5.1f} s"
    if one.without:
        return found, f"{figures}  {'noticed' if found else 'NOT NOTICED'}"
    return not found, f"{figures}  {'VIOLATED: ' + said.splitlines()[0] if found else 'holds'}"


def main() -> int:
    parser = argparse.ArgumentParser(description="model-checks the shared breaker")
    parser.add_argument("--trace", action="store_true", help="show the steps that lead to a failure")
    parser.add_argument("--deep", action="store_true", help="the long run too")
    chosen = parser.parse_args()
    if shutil.which("spin") is None:
        print("spin is not installed; `make setup-test` installs it", file=sys.stderr)
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    bad = 0
    for one in RUNS:
        if one.deep and not chosen.deep:
            continue
        good, told = check(one)
        print(f"{'ok  ' if good else 'FAIL'} {one.name:<42} {told}", flush=True)
        if not good:
            bad += 1
            if chosen.trace:
                defines = [f"-D{name}={value}" for name, value in {**QUIET, **one.trouble}.items()]
                print(output([*SPIN, *defines, "-t", "-p", "-g", MODEL.name]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
