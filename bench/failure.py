#!/usr/bin/env python3
"""Measures an outage from outside: what agents get, and what the sick tool gets, through Switchgear, through nginx, and
with nothing in between. Five scenarios, one table. Any other MCP gateway can be measured in the same way.

  bench/failure.py                         the table of docs/benchmarks.md, three minutes
  bench/failure.py --quick                 the same in less than a minute, too short to quote
  bench/failure.py --scenario dead,hung    some of them
  bench/failure.py --defaults              Switchgear with its default thresholds: they are for minutes, and so is this
  bench/failure.py --direct                no gateway at all
  bench/failure.py --gateway URL --tool NAME [--server-port 9001] [--stand-in TEXT] [--header 'Name: value']
                                           a gateway of yours, with http://127.0.0.1:9001/mcp as its tool server
  bench/failure.py --transcript            what one agent sees of an outage, with and without Switchgear
"""
import argparse
import asyncio
import json
import os
import platform
import shutil
import sys
import tempfile
import time

from proxies import Processes, commit, processor

from failure import systems, table
from failure.figures import UNKNOWN, figures
from failure.paces import DEFAULTS, QUICK, SCALED
from failure.sick_server import PARTS_A_TRIAL, lift_descriptor_limit
from failure.transcript import transcript
from failure.trial import SCENARIOS, run


def arguments():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="shorter stretches, two scenarios at a time")
    options.add_argument("--defaults", action="store_true", help="the default thresholds; some twenty minutes")
    options.add_argument("--scenario", default=",".join(SCENARIOS), help=f"some of {','.join(SCENARIOS)}")
    options.add_argument("--seed", type=int, default=2, help="which calls fail where a share of them does")
    options.add_argument("--json", metavar="FILE", help="the figures as numbers, too")
    options.add_argument("--transcript", action="store_true", help="what one agent sees; nothing is measured")
    chosen = options.add_argument_group("what is measured (otherwise Switchgear, nginx if it is installed, and direct)")
    for kind in ("switchgear", "nginx", "direct"):
        chosen.add_argument(f"--{kind}", action="store_true")
    chosen.add_argument("--gateway", metavar="URL", help="where its MCP endpoint is")
    theirs = options.add_argument_group("of a gateway of yours")
    theirs.add_argument("--tool", default=systems.TOOL, metavar="NAME", help="the tool's name there (default: %(default)s)")
    theirs.add_argument("--server-port", type=int, default=9001, help="of the sick server (default: %(default)s)")
    theirs.add_argument("--stand-in", metavar="TEXT", help="an answer with this text is a stand-in")
    theirs.add_argument("--header", action="append", default=[], metavar="LINE", help="sent with every request")
    found = options.parse_args()
    found.scenarios = found.scenario.split(",")
    for name in found.scenarios:
        if name not in SCENARIOS:
            options.error(f"no such scenario: {name}; there are {', '.join(SCENARIOS)}")
    found.kinds = [kind for kind in ("switchgear", "nginx", "direct") if getattr(found, kind)]
    if not found.kinds and not found.gateway:
        found.kinds = ["switchgear", *(["nginx"] if shutil.which("nginx") else []), "direct"]
    return found


async def measure(chosen, pace, everybody):
    """Rows of (scenario, system, figures). The systems of a scenario go side by side, so that what the machine does
    besides happens to all of them."""
    at_a_time = asyncio.Semaphore(2 if chosen.quick and not chosen.gateway else 1)
    numbers = iter(range(1, sys.maxsize))

    async def one(system, scenario):
        first_part = next(numbers) * PARTS_A_TRIAL
        async with system.opened(pace.latency) as (access, server):
            trial = await run(access, server, scenario, pace, chosen.seed, first_part)
        return SCENARIOS[scenario], system.name, figures(trial)

    async def side_by_side(scenario):
        async with at_a_time:
            print(f"bench: {SCENARIOS[scenario]}", file=sys.stderr, flush=True)
            return await asyncio.gather(*(one(system, scenario) for system in everybody))

    found = await asyncio.gather(*map(side_by_side, chosen.scenarios))
    return [row for rows in found for row in rows]


async def compare(chosen, pace, folder):
    everybody = [systems.Ours(kind, folder, pace.policy) for kind in chosen.kinds]
    with Processes(folder) as processes:
        if chosen.gateway:
            theirs = systems.Theirs(processes, chosen.gateway, chosen.tool, chosen.server_port, pace.latency,
                                    chosen.header, chosen.stand_in)
            await theirs.wait()
            everybody.insert(0, theirs)
        return await measure(chosen, pace, everybody)


def heading(chosen, pace):
    lines = [f"{processor()}, {os.cpu_count()} cores, Linux {platform.release()}; commit {commit()}; "
             f"load before: {os.getloadavg()[0]:.1f}; seed {chosen.seed}",
             f"{pace.rate:g} calls/s of a tool that takes {pace.latency * 1000:.0f} ms; well for {pace.healthy:g} s, sick "
             f"for {pace.outage:g} s (flapping: {pace.flap:g} s each way); a client waits {pace.patience:g} s"]
    if "switchgear" in chosen.kinds:
        lines.append("Switchgear with\n" + "".join(f"    {line}\n" for line in pace.policy.splitlines()).rstrip())
    return "\n".join(lines)


def remarks(results):
    """What a reader must know to believe the table."""
    for scenario, name, found in results:
        if wrong := found["errors"].get("wrong answer"):
            yield f"{wrong} answers of {name} ({scenario}) were to something else than was asked"
    if any(found["trip"] == UNKNOWN for _, _, found in results):
        yield f"{UNKNOWN}: refused connections are seen with CAP_NET_RAW only, which root has"


def main():
    chosen = arguments()
    pace = QUICK if chosen.quick else DEFAULTS if chosen.defaults else SCALED
    lift_descriptor_limit()
    with tempfile.TemporaryDirectory(prefix="switchgear-bench-") as folder:
        if chosen.transcript:
            return asyncio.run(transcript(folder))
        print(heading(chosen, pace) + "\n", flush=True)
        began = time.monotonic()
        results = asyncio.run(compare(chosen, pace, folder))
    print(table.whole(results))
    if ratios := table.beside_direct(results):
        print("\nBeside direct, in the same run:\n\n" + ratios)
    print(f"\n{time.monotonic() - began:.0f} s" + "".join(f"; {remark}" for remark in remarks(results)))
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump({"seed": chosen.seed, "rows": [{"scenario": scenario, "through": name, **found}
                                                     for scenario, name, found in results]}, file, indent=1)


if __name__ == "__main__":
    main()
