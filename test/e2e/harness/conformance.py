"""The official conformance suite as a program: one run, what it checked, and where two runs differ."""

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.fixture import NODE
from harness.servers import NODE_FOLDER

SUITE = NODE_FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
RUN_LIMIT = 180  # seconds for a whole set of scenarios
SCENARIO_LIMIT = 60
# A result folder is named after the leg (servers only), the scenario and the time of the run.
RESULT_FOLDER = re.compile(r"(?:server-)?(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")


class Check(NamedTuple):
    """One verdict of the suite. The same check may be made several times in a scenario."""

    scenario: str
    id: str
    status: str


@dataclass(frozen=True)
class Run:
    """What a run of the suite found. `checks` leaves out what it only remarked (INFO)."""

    code: int
    checks: Counter
    messages: dict[Check, str]
    output: str

    def count(self, status: str) -> int:
        return sum(count for check, count in self.checks.items() if check.status == status)

    def failed_scenarios(self) -> set[str]:
        return {check.scenario for check in self.checks if check.status == "FAILURE"}


def run_server_suite(url: str, folder: Path, *selection: str) -> Run:
    """`conformance server` against `url`. `selection` says which scenarios, such as --requirements 2025-11-25."""
    return _run(folder, RUN_LIMIT, "server", "--url", url, *selection)


def run_client_scenario(command: list, folder: Path, scenario: str, version: str) -> Run:
    """`conformance client`: the suite is the server, and starts `command` with its own URL as the last argument."""
    words = [str(word) for word in command]
    assert not any(" " in word for word in words), "the suite splits the command at spaces"
    selection = ("--scenario", scenario, "--spec-version", version)
    return _run(folder, SCENARIO_LIMIT, "client", "--command", " ".join(words), *selection)


def _run(folder: Path, limit: float, *arguments: str) -> Run:
    folder.mkdir(parents=True)
    command = [NODE, SUITE, *arguments, "--output-dir", folder]
    done = subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit
    )
    checks: Counter = Counter()
    messages: dict[Check, str] = {}
    for path in sorted(folder.rglob("checks.json")):
        scenario = RESULT_FOLDER.fullmatch(str(path.parent.relative_to(folder)))["scenario"]
        for entry in json.loads(path.read_text()):
            if entry["status"] != "INFO":
                check = Check(scenario, entry["id"], entry["status"])
                checks[check] += 1
                messages.setdefault(check, entry.get("errorMessage") or "")
    return Run(done.returncode, checks, messages, done.stdout + done.stderr)


def _verdicts(run: Run) -> dict[tuple[str, str], str]:
    """By scenario and check: "SUCCESS", or "FAILURE x2, SUCCESS" for a check that is made several times."""
    found: dict[tuple[str, str], list[str]] = {}
    for check, count in sorted(run.checks.items()):
        said = check.status if count == 1 else f"{check.status} x{count}"
        found.setdefault((check.scenario, check.id), []).append(said)
    return {key: ", ".join(statuses) for key, statuses in found.items()}


ABSENT = "-"


def differences(direct: Run, through: Run) -> dict[tuple[str, str], tuple[str, str]]:
    """(scenario, check) -> the verdicts directly and through the gateway, where they are not the same."""
    there, here = _verdicts(direct), _verdicts(through)
    both = {key: (there.get(key, ABSENT), here.get(key, ABSENT)) for key in there | here}
    return {key: verdicts for key, verdicts in both.items() if verdicts[0] != verdicts[1]}


def told(found: dict[tuple[str, str], tuple[str, str]], through: Run) -> str:
    """Differences for a person: what the suite says about each."""
    lines = []
    for (scenario, check), (there, here) in sorted(found.items()):
        lines.append(f"{scenario}: {check}: directly {there}, through the gateway {here}")
        statuses = ("FAILURE", "WARNING", "SKIPPED")
        said = (through.messages.get(Check(scenario, check, status)) for status in statuses)
        lines += [f"    {message[:600]}" for message in said if message]
    return "\n".join(lines)
