#!/usr/bin/env python3
"""Takes safeguards out of the breaker, one at a time, and expects the simulation to notice each time.

    tools/mutants.py                 all of them, about a minute
    tools/mutants.py --only clock    those with that word in their name

A safeguard of the library in Redis is taken out of its text, which the simulation reads from a file; one of the C++ side
by compiling the few files anew that hold it. Nothing in the source tree is touched. A pattern that is no longer found is
a failure, too: then the safeguard has moved, and this script must follow it.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
FOLDER = ROOT / "build/mutants"
LIMIT = 120  # seconds, a program

FLEET = ("sim_fleet", "*whatever_goes_wrong")
ALONE = ("sim_breaker", "a_million_calls*")


class mutant(NamedTuple):
    name: str
    edits: list[tuple[str, str]]      # pattern, and what takes its place
    test: tuple[str, str] = FLEET     # program, and which of its tests
    source: str = ""                  # of the C++ side, below src/; else it is the library
    recompile: tuple[str, ...] = ()   # objects of the build that hold it


MUTANTS = [
    mutant("the library's generation check", [(r"if ask\.gen == s\.gen (and|then)", r"if true \1")]),
    mutant("the library's lease deadline", [(r"(ZRANGEBYSCORE', keys\.p, '-inf', )text\(s\.now\)", r"\1'-inf'")]),
    mutant("the library's sequence number", [(r"ask\.sequence <= row\[1\]", "false")]),
    mutant("the library's monotone clock", [
        (r"(local function tick\(s, reading\)\n)", r"\1  if not s.fresh then s.reading, s.now = reading, reading return end\n"),
    ]),
    mutant("the library's quorum", [(r"return active < 3 or witnesses >= .*", "return true")]),
    mutant("the library's healing after a failover", [(r"if behind or split then", "if false then")]),
    mutant("the gate's generation check", [
        (r"if \(\(word_\.load\(std::memory_order_relaxed\) >> flag_bits\) != generation\) \[\[unlikely\]\]", "if (false)"),
    ], source="breaker/gate.hpp", recompile=("src/breaker/CMakeFiles/sg_breaker.dir/gate.cpp.o",
                                             "test/sim/fleet/CMakeFiles/sim_fleet.dir/world.cpp.o")),
    mutant("the holder's lease deadline", [
        (r"into\.deadline = std::min\(later\(now, timeout\), mine\.result_by\);", "into.deadline = time_point::max();"),
    ], source="breaker/gate.cpp", recompile=("src/breaker/CMakeFiles/sg_breaker.dir/gate.cpp.o",)),
    mutant("the monotone clock of a gateway alone", [
        (r"(time_point advance\(time_point reading\) \{\n)", r"\1    return now_ = reading_ = reading;\n"),
    ], test=ALONE, source="breaker/monotone.hpp",
           recompile=("src/breaker/CMakeFiles/sg_breaker.dir/authority.cpp.o",)),
]


class verdict(NamedTuple):
    caught: bool
    text: str


def mutated(text: str, edits: list[tuple[str, str]]) -> str:
    for pattern, instead in edits:
        text, found = re.subn(pattern, instead, text)
        if found == 0:
            raise LookupError(f"nothing looks like {pattern}")
    return text


def commands(target: str) -> str:
    """The last command of those that make a target: its own."""
    listed = subprocess.run(["ninja", "-t", "commands", target], cwd=BUILD, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()[-1]


def compile_anew(target: str, source: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The object, made as the build makes it, but that the mutated source comes first."""
    made = folder / pathlib.Path(target).name
    words = shlex.split(commands(target))
    words[words.index("-o") + 1] = str(made)
    words[words.index("-MF") + 1] = str(made) + ".d"
    if words[-1].endswith(str(source)):
        words[-1] = str(folder / source)
    words.insert(next(at for at, word in enumerate(words) if word.startswith("-")), f"-I{folder}")
    subprocess.run(words, cwd=BUILD, check=True, stdin=subprocess.DEVNULL, timeout=LIMIT)
    return made


def link_anew(program: str, objects: dict[str, pathlib.Path], folder: pathlib.Path) -> pathlib.Path:
    """The program with these objects for the build's. One that comes before its library is taken for the library's."""
    made = folder / program
    words = [word for word in shlex.split(commands(program)) if word not in (":", "&&")]
    at = words.index("-o")
    words[at + 1] = str(made)
    rest = [str(objects.pop(word)) if word in objects else word for word in words[1:]]
    subprocess.run([words[0], *map(str, objects.values()), *rest], cwd=BUILD, check=True, stdin=subprocess.DEVNULL,
                   timeout=LIMIT)
    return made


def try_out(one: mutant) -> verdict:
    folder = FOLDER / re.sub(r"\W+", "_", one.name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program, tests = one.test
    environment = {**os.environ, "SWITCHGEAR_SHRINK_SECONDS": "3"}
    run = BUILD / program
    try:
        if one.source:
            changed = folder / one.source
            changed.parent.mkdir(parents=True, exist_ok=True)
            changed.write_text(mutated((ROOT / "src" / one.source).read_text(), one.edits))
            objects = {target: compile_anew(target, pathlib.Path(one.source), folder) for target in one.recompile}
            run = link_anew(program, objects, folder)
        else:
            text = subprocess.run([BUILD / "sim_fleet", "--print-library"], check=True, capture_output=True, text=True)
            library = folder / "library.lua"
            library.write_text(mutated(text.stdout, one.edits))
            environment["SWITCHGEAR_LIBRARY"] = str(library)
    except LookupError as missing:
        return verdict(False, f"{missing}: has the safeguard moved?")
    except subprocess.SubprocessError as failed:
        return verdict(False, f"it cannot be built: {failed}"[:200])
    log = folder / "log"
    with log.open("w") as sink:
        done = subprocess.run([run, f"--gtest_filter={tests}"], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=sink, stderr=subprocess.STDOUT, timeout=LIMIT, check=False)
    said = log.read_text()
    if done.returncode == 0:
        return verdict(False, "nobody noticed")
    if "[  FAILED  ]" not in said:
        return verdict(False, f"the program ended with {done.returncode}, see {log.relative_to(ROOT)}")
    found = re.search(r"^I\d+: .*", said, flags=re.M)
    if found:
        length = re.search(r"(\d+) of \d+ events are enough", said)
        return verdict(True, found.group() + (f"; {length.group(1)} events" if length else ""))
    failure = re.search(r"^\S*?(\w+\.[hc]pp:\d+): Failure\n(.*(?:\n  .*)?)", said, flags=re.M)
    return verdict(True, " ".join(" ".join(failure.groups()).split()) if failure else "the test failed")


def main() -> int:
    parser = argparse.ArgumentParser(description="takes safeguards out and expects the simulation to notice")
    parser.add_argument("--only", default="", help="a part of the name")
    chosen = parser.parse_args()
    wanted = [one for one in MUTANTS if chosen.only in one.name]
    if not wanted:
        parser.error(f"no mutant is named like {chosen.only}")
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        started = time.monotonic()
        for one, result in zip(wanted, pool.map(try_out, wanted)):
            missed += not result.caught
            print(f"{'ok  ' if result.caught else 'FAIL'} without {one.name}: {result.text}", flush=True)
    print(f"{len(wanted) - missed} of {len(wanted)} noticed, {time.monotonic() - started:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
