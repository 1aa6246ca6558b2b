#!/usr/bin/env python3
"""Runs every test of the project and counts them. `make test` is: set-up, then this.

    tools/test.py                    all stages, in order
    tools/test.py --only units,e2e   some of them
    tools/test.py --list             what there is

One heading a stage; details go to build/logs/. A program that crashes, hangs or fails to build counts as one failure.
The last line is `N passed, N failed, N skipped`, and the exit code is 0 only when nothing failed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree
from typing import Callable, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build/logs"
PYTEST = ROOT / "build/venv/bin/pytest"
JOBS = str(os.cpu_count() or 2)

# The folders whose tests start threads; ThreadSanitizer has nothing to see in the others.
THREADED = {"base", "async", "breaker", "peers", "call", "listen", "upstream", "observe", "console", "app"}

SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": f"second_deadlock_stack=1:suppressions={ROOT}/tools/tsan.suppressions",
    "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
    "TSAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
}


class tally(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return tally(*(mine + its for mine, its in zip(self, other)))

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class outcome(NamedTuple):
    code: int
    log: pathlib.Path


def say(text: str) -> None:
    print(text, flush=True)


def run(name: str, command: list, limit: float, environment: dict[str, str] | None = None) -> outcome:
    """Runs a command to its log, without a terminal or stdin. After `limit` seconds its whole process group ends."""
    log = LOGS / f"{name}.log"
    with open(log, "wb") as sink:
        sink.write(("$ " + " ".join(map(str, command)) + "\n").encode())
        sink.flush()
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                                   env={**os.environ, **(environment or {})}, start_new_session=True)
        try:
            code = process.wait(limit)
        except BaseException as stop:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if not isinstance(stop, subprocess.TimeoutExpired):
                raise
            sink.write(f"\nended after {limit:.0f} s without a result\n".encode())
            code = -signal.SIGKILL
    return outcome(code, log)


def end_of(log: pathlib.Path, lines: int = 40) -> str:
    end = log.read_text(errors="replace").splitlines()[-lines:]
    return "\n".join([f"    --- the end of {log.relative_to(ROOT)}", *("    " + line for line in end)])


def show_end(log: pathlib.Path) -> None:
    say(end_of(log))


def show_figures(log: pathlib.Path) -> None:
    """Measured figures are results too: what a GoogleTest program prints itself, and the `figures` section of pytest."""
    inside = "--gtest" in log.open(errors="replace").readline()
    for line in log.read_text(errors="replace").splitlines()[1:]:
        if rule := re.match(r"=+ (.*?) =+$", line):
            inside = rule.group(1) == "figures"
        elif inside and line.strip() and not re.match(r"\[[ =\w-]+\]|Running main|Note: |Repeating|.*\bFAILED TEST", line):
            say("    " + line.rstrip())


def single(name: str, command: list, limit: float, environment: dict[str, str] | None = None) -> tally:
    """A command that is one check."""
    done = run(name, command, limit, environment)
    if done.code != 0:
        show_end(done.log)
        return tally(failed=1)
    return tally(passed=1)


class built(NamedTuple):
    done: bool
    told: str  # how long it took, or where to read why it failed


def build(preset: str, targets: list[str] | None = None, aside: bool = False) -> built:
    """Configures and builds; `make` does the same. `aside`: tests run at the same time, and come first."""
    started = time.monotonic()
    for name, command in ((f"{preset}-configure", ["cmake", "--preset", preset]),
                          (f"{preset}-build", [*(["nice", "-n", "15"] if aside else []), "cmake", "--build", "--preset", preset, "-j", JOBS,
                                               *(["--target", *targets] if targets else [])])):
        done = run(name, command, 3600)
        if done.code != 0:
            return built(False, end_of(done.log))
    return built(True, f"    {preset} built in {time.monotonic() - started:.0f} s")


def need(preset: str) -> bool:
    """The whole build of a preset, reported; quick when nothing changed."""
    result = build(preset)
    say(result.told)
    return result.done


def programs(preset: str) -> dict[str, list[str]]:
    """The test programs that CMake knows in a configured build: name -> command."""
    listed = subprocess.run(["ctest", "--test-dir", f"build/{preset}", "--show-only=json-v1"], cwd=ROOT, check=True,
                            stdin=subprocess.DEVNULL, capture_output=True)
    tests = json.loads(listed.stdout)["tests"]
    return {one["name"]: one.get("command", [str(ROOT / "build" / preset / one["name"])]) for one in tests}


def google_test(name: str, command: list[str], limit: float, environment: dict[str, str] | None = None) -> tally:
    """One GoogleTest program; its own report is what is counted."""
    return told_by_google_test(name, run_google_test(name, command, limit, environment))


def google_tests(prefix: str, commands: dict[str, list[str]], limit: float,
                 environment: dict[str, str] | None = None) -> tally:
    """Some at a time, reported in their order."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=int(JOBS)) as side_by_side:
        under_way = {program: side_by_side.submit(run_google_test, f"{prefix}-{program}", command, limit, environment)
                     for program, command in commands.items()}
        return sum((told_by_google_test(f"{prefix}-{program}", done.result()) for program, done in under_way.items()),
                   tally())


def run_google_test(name: str, command: list[str], limit: float, environment: dict[str, str] | None = None) -> outcome:
    report = LOGS / f"{name}.json"
    report.unlink(missing_ok=True)
    return run(name, [*command, f"--gtest_output=json:{report}", "--gtest_color=no"], limit, environment)


def told_by_google_test(name: str, done: outcome) -> tally:
    """What a GoogleTest program found."""
    report = LOGS / f"{name}.json"
    if "sim_" in name:
        show_figures(done.log)
    count = tally()
    if report.is_file():
        for suite in json.loads(report.read_text())["testsuites"]:
            for case in suite["testsuite"]:
                if case.get("failures"):
                    count += tally(failed=1)
                    say(f"    FAILED {name}: {suite['name']}.{case['name']}")
                elif case["result"] == "SKIPPED" or case["status"] == "NOTRUN":
                    count += tally(skipped=1)
                else:
                    count += tally(passed=1)
    if done.code != 0:
        if count.failed == 0:  # it crashed, leaked or hung: no case says so
            count += tally(failed=1)
            say(f"    FAILED {name}: exit code {done.code}")
        show_end(done.log)
    elif sum(count) == 0:
        say(f"    FAILED {name}: ran no case")
        count += tally(failed=1)
    return count


def pytest(name: str, arguments: list, limit: float, environment: dict[str, str] | None = None) -> tally:
    return told(name, run_pytest(name, arguments, limit, environment))


def run_pytest(name: str, arguments: list, limit: float, environment: dict[str, str] | None = None) -> outcome | None:
    if not PYTEST.is_file():
        return None
    report = LOGS / f"{name}.xml"
    report.unlink(missing_ok=True)
    return run(name, [PYTEST, "-p", "no:cacheprovider", f"--junitxml={report}", *arguments], limit,
               environment)


def told(name: str, done: outcome | None) -> tally:
    """What a run of pytest found."""
    if done is None:
        say("    FAILED: no build/venv; run `make setup-test` first")
        return tally(failed=1)
    report = LOGS / f"{name}.xml"
    show_figures(done.log)
    count = tally()
    if report.is_file():
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                count += tally(failed=1)
                say(f"    FAILED {case.get('classname')}::{case.get('name')}")
            elif (skip := case.find("skipped")) is not None:
                count += tally(skipped=1)
                say(f"    skipped {case.get('name')}: {(skip.get('message') or '')[:160]}")
            else:
                count += tally(passed=1)
    if done.code != 0:
        if count.failed == 0:
            count += tally(failed=1)
            say(f"    FAILED {name}: exit code {done.code}")
        show_end(done.log)
    return count


def show_list(done: outcome) -> tally:
    """A program of this folder that says a line a check, `ok` or `FAIL`."""
    text = done.log.read_text()
    count = tally(passed=len(re.findall(r"^ok   ", text, flags=re.M)), failed=len(re.findall(r"^FAIL ", text, flags=re.M)))
    for line in re.findall(r"^(?:ok  |FAIL) .*", text, flags=re.M):
        say("    " + line)
    if done.code != 0 and count.failed == 0:
        show_end(done.log)
        count += tally(failed=1)
    return count


# --- the stages ----------------------------------------------------------------------------------------------------

def source() -> tally:
    done = run("source", [sys.executable, "tools/check_source.py"], 120)
    text = done.log.read_text()
    count = tally(passed=len(re.findall(r"^ok   ", text, flags=re.M)), failed=len(re.findall(r"^FAIL ", text, flags=re.M)))
    if done.code != 0:
        show_end(done.log)
        if count.failed == 0:
            count += tally(failed=1)
    return count


def tools() -> tally:
    done = run("tools", [sys.executable, "-m", "unittest", "discover", "-v", "-s", "test/tools", "-p", "*_test.py"], 120)
    results = re.findall(r" \.\.\. (ok|FAIL|ERROR|skipped)", done.log.read_text())
    bad = sum(word in ("FAIL", "ERROR") for word in results)
    count = tally(results.count("ok"), bad, results.count("skipped"))
    if done.code != 0:
        show_end(done.log)
        if bad == 0:
            count += tally(failed=1)
    return count


def check_model() -> outcome:
    return run("model", [sys.executable, "tools/check_model.py"], 600)


def model() -> tally:
    """The model of the shared breaker: every run counts, those in which a missing safeguard must be noticed too."""
    return show_list(MODEL.result() if MODEL else check_model())


def format_check() -> tally:
    return single("format", ["make", "--no-print-directory", "format-check"], 120)


def units() -> tally:
    if not need("release"):
        return tally(failed=1)
    return google_tests("release", {name: command for name, command in programs("release").items()
                                    if not name.startswith("sim_")}, 300)


def sim() -> tally:
    global MODEL
    if not need("release"):
        return tally(failed=1)
    if MODEL_IS_WANTED:
        MODEL = ASIDE.submit(check_model)  # on the core that the simulation leaves
    count = tally()
    for name, command in programs("release").items():
        if name.startswith("sim_"):
            count += google_test(f"release-{name}", command, 600)
    return count


def mutants() -> tally:
    """Without a safeguard the simulation must fail: each one that it notices counts."""
    if not need("release"):
        return tally(failed=1)
    return show_list(run("mutants", [sys.executable, "tools/mutants.py"], 600))


def e2e() -> tally:
    """What measures seconds at most comes first, beside the next build. What measures milliseconds has the machine to
    itself, but for the demo and the fleets, which wait more than they work: those go side by side."""
    if not need("release"):
        return tally(failed=1)
    environment = {"SWITCHGEAR_BINARY": str(ROOT / "build/release/switchgear")}
    if ASAN.is_wanted:
        ASAN.start_build()
    count = pytest("e2e", ["test/e2e", *SOME_AT_A_TIME, "-m", "not timing and not footprint"], 1200, environment)
    if ASAN.building:
        ASAN.building.result()
    measures = ["-m", "timing or footprint"]
    count += pytest("e2e-timing", ["test/e2e", "--ignore-glob=*/test_fleet*", "--ignore-glob=*/test_redis*",
                                   "--ignore-glob=*/test_demo*", *measures], 1200, environment)
    patient = {f"e2e-{kind}": [*sorted((ROOT / "test/e2e").glob(f"test_{kind}*.py")), *measures]
               for kind in ("fleet", "redis", "demo")}
    with concurrent.futures.ThreadPoolExecutor() as side_by_side:
        under_way = {name: side_by_side.submit(run_pytest, name, arguments, 1200, environment)
                     for name, arguments in patient.items()}
    return sum((told(name, done.result()) for name, done in under_way.items()), count)


class sanitizer:
    """Unit tests and a part of the end-to-end tests on an instrumented build. What depends on speed is left out."""

    def __init__(self, preset: str, wanted: Callable[[str], bool], selection: list[str]):
        self.preset = preset
        self.wanted = wanted
        self.selection = selection
        self.is_wanted = False
        self.builds_next: sanitizer | None = None  # while this one's tests run
        self.building: concurrent.futures.Future | None = None

    def start_build(self) -> None:
        """Builds aside: the stage before spends its time waiting for servers more than computing."""
        self.building = ASIDE.submit(self.build, aside=True)

    def build(self, aside: bool = False) -> built:
        configured = run(f"{self.preset}-configure", ["cmake", "--preset", self.preset], 300)
        if configured.code != 0:
            return built(False, end_of(configured.log))
        return build(self.preset, [*self.programs(), "switchgear"], aside)

    def programs(self) -> dict[str, list[str]]:
        return {name: command for name, command in programs(self.preset).items() if self.wanted(name)}

    def test(self) -> tally:
        result = self.building.result() if self.building else self.build()
        say(result.told)
        if not result.done:
            return tally(failed=1)
        if self.builds_next:
            self.builds_next.start_build()
        count = google_tests(self.preset, self.programs(), 600, SANITIZER_ENVIRONMENT)
        return count + pytest(f"{self.preset}-e2e", self.selection, 1500, {
            **SANITIZER_ENVIRONMENT, "SWITCHGEAR_BINARY": str(ROOT / "build" / self.preset / "switchgear"),
            "SWITCHGEAR_SANITIZED": self.preset})


ASIDE = concurrent.futures.ThreadPoolExecutor(max_workers=1)
MODEL_IS_WANTED = False
MODEL: concurrent.futures.Future | None = None
NOT_BY_THE_CLOCK = "not timing and not seconds and not footprint"
# They wait more than they work. A file's tests stay together, for what they share.
SOME_AT_A_TIME = ["-n", "3", "--dist", "loadfile"]
ASAN = sanitizer("asan", lambda name: not name.startswith("sim_"), ["test/e2e", *SOME_AT_A_TIME, "-m", NOT_BY_THE_CLOCK])
TSAN = sanitizer("tsan", lambda name: name.removeprefix("unit_") in THREADED,
                 ["test/e2e", *SOME_AT_A_TIME, "-m", f"{NOT_BY_THE_CLOCK} and not slow"])


STAGES: list[tuple[str, str, Callable[[], tally]]] = [
    ("source", "source check: the rules of the house", source),
    ("tools", "the tools' own tests", tools),
    ("format", "clang-format", format_check),
    ("units", "release build, unit tests, fuzz corpus", units),
    ("sim", "simulation on virtual time", sim),
    ("mutants", "the simulation notices when a safeguard is gone", mutants),
    ("model", "the model of the shared breaker, by spin", model),
    ("e2e", "end to end, with real clients and servers", e2e),
    ("asan", "AddressSanitizer and UndefinedBehaviorSanitizer", ASAN.test),
    ("tsan", "ThreadSanitizer", TSAN.test),
]


def main() -> int:
    parser = argparse.ArgumentParser(description="runs the tests and counts them")
    parser.add_argument("--only", default="", help="stages, with commas between them")
    parser.add_argument("--list", action="store_true")
    chosen = parser.parse_args()
    if chosen.list:
        for name, heading, _ in STAGES:
            print(f"{name:8} {heading}")
        return 0
    only = set(filter(None, chosen.only.split(",")))
    if unknown := only - {name for name, _, _ in STAGES}:
        parser.error(f"unknown stage: {', '.join(sorted(unknown))}")

    global MODEL_IS_WANTED
    MODEL_IS_WANTED = not only or "model" in only
    ASAN.is_wanted = not only or "asan" in only
    if not only or {"asan", "tsan"} <= only:
        ASAN.builds_next = TSAN
    LOGS.mkdir(parents=True, exist_ok=True)
    total = tally()
    began = time.monotonic()
    for name, heading, stage in STAGES:
        if only and name not in only:
            continue
        say(f"== {name}: {heading}")
        started = time.monotonic()
        try:
            count = stage()
        except KeyboardInterrupt:
            say("interrupted")
            return 130
        except Exception as problem:  # a broken stage is a failure of the run, and the others still say what they find
            say(f"    FAILED: {type(problem).__name__}: {problem}")
            count = tally(failed=1)
        total += count
        say(f"   {name}: {count} ({time.monotonic() - started:.0f} s)")
    say(f"== all: {time.monotonic() - began:.0f} s; details in build/logs/")
    say(str(total))
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
