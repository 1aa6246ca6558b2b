#!/usr/bin/env python3
"""Measures Switchgear against nginx as a plain reverse proxy, in interleaved rounds, and prints one table.

The proxy runs on core 0; the load and the tool server share core 1. CPU is that of the proxy's threads alone. Each row
is a ratio within this run: figures of different runs on a shared machine cannot be compared.

  bench/run.py            the figures of docs/benchmarks.md, some minutes
  bench/run.py --quick    a smoke test of about a minute; too short to quote
  bench/run.py --gate     exit with 1 when a target is missed
"""
import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

from proxies import BUILD, Bench, commit, processor

FLOOD_EVENTS = 1000  # of the tool `flood`
IDLE_CONNECTIONS = 9000
RATE = 2000

# name, tool, connections, most that the ratio of CPU a call may be
CPU_ROWS = [
    ("CPU a call, 300 B", "small", 16, 1.15),
    ("CPU a call, 16 KB", "medium", 16, 1.15),
    ("CPU a call, SSE of 20 events", "stream", 32, 1.15),
    ("CPU a call, 1 MB", "large", 4, 1.20),
    ("CPU a call, 10 MB", "huge", 2, 1.20),
]


class Table:
    def __init__(self):
        self.rows = []
        self.missed = []

    def add(self, name, ours, theirs, figure, target, good):
        verdict = "" if good is None else "ok" if good else "MISSED"
        if good is False:
            self.missed.append(name)
        self.rows.append((name, ours, theirs, figure, target, verdict))
        print(f"bench: {name}: {figure} {verdict}", file=sys.stderr, flush=True)

    def text(self):
        head = ("", "Switchgear", "beside it", "figure", "target", "")
        lines = [head, tuple("---" for _ in head), *self.rows]
        widths = [max(len(row[column]) for row in lines) for column in range(len(head))]
        return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in lines)


def median(values):
    return statistics.median(values)


def whole(figures, what):
    """The figures, if nothing failed: a proxy that drops calls would look cheap."""
    if figures["failed"] or not figures["calls"]:
        raise SystemExit(f"bench: {figures['failed']} of {figures['calls'] + figures['failed']} calls failed: {what}")
    return figures


def in_turn(rounds, takers):
    """Each taker once a round, the order turned about from round to round; a list of figures for each."""
    found = {name: [] for name in takers}
    for number in range(rounds):
        names = list(takers)
        for name in names if number % 2 == 0 else reversed(names):
            found[name].append(takers[name]())
    return found


def cpu_rows(bench, nginx, gateway, rounds, seconds, table):
    for name, tool, connections, most in CPU_ROWS:
        def take(proxy):
            options = dict(tool=tool, connections=connections, seconds=seconds, warm_up=seconds / 4, of=proxy[1])
            return whole(bench.load("closed", proxy[0], **options), name)["cpu_us_per_call"]

        found = in_turn(rounds, {"nginx": lambda: take(nginx), "ours": lambda: take(gateway)})
        ratio = median([ours / theirs for ours, theirs in zip(found["ours"], found["nginx"])])
        table.add(name, f"{median(found['ours']):.1f} us", f"nginx {median(found['nginx']):.1f} us", f"{ratio:.2f}x",
                  f"<= {most:.2f}x", ratio <= most)


def relay_row(bench, nginx, gateway, rounds, seconds, table):
    def take(proxy):
        options = dict(tool="flood", connections=4, seconds=seconds, warm_up=seconds / 4, of=proxy[1])
        figures = whole(bench.load("closed", proxy[0], **options), "flood")
        return figures["calls"] * FLOOD_EVENTS / figures["seconds"]

    found = in_turn(rounds, {"nginx": lambda: take(nginx), "ours": lambda: take(gateway)})
    ratio = median([ours / theirs for ours, theirs in zip(found["ours"], found["nginx"])])
    table.add(f"SSE relay, {FLOOD_EVENTS} events at once", f"{median(found['ours']):.0f} events/s",
              f"nginx {median(found['nginx']):.0f} events/s", f"{ratio:.2f}x", "", None)


def latency_row(bench, nginx, gateway, rounds, seconds, table):
    def take(port):
        options = dict(connections=32, rate=RATE, seconds=seconds, warm_up=seconds / 4)
        return whole(bench.load("open", port, **options), "fixed rate")["p50_us"]

    found = in_turn(rounds, {"direct": lambda: take(bench.server), "nginx": lambda: take(nginx[0]),
                             "ours": lambda: take(gateway[0])})
    added = {name: [through - direct for through, direct in zip(found[name], found["direct"])]
             for name in ("nginx", "ours")}
    ratio = median([ours / theirs for ours, theirs in zip(added["ours"], added["nginx"])])
    table.add(f"added p50 at {RATE} calls/s", f"{median(added['ours']):.0f} us",
              f"nginx {median(added['nginx']):.0f} us", f"{ratio:.2f}x", "<= 1.20x", ratio <= 1.2)


def refusal_row(bench, gateway, tripped, rounds, seconds, table):
    # Nine failures open the breaker; then no call of this tool reaches the server until its cooldown is over.
    bench.load("closed", tripped[0], tool="broken", connections=1, seconds=0.5, warm_up=0)

    def take(proxy, tool):
        options = dict(tool=tool, seconds=seconds, warm_up=seconds / 4, of=proxy[1])
        figures = whole(bench.load("closed", proxy[0], **options), tool)
        if tool == "broken" and figures["is_error"] != figures["calls"]:
            raise SystemExit("bench: a refusal did not say isError")
        return figures

    found = in_turn(rounds, {"forwarded": lambda: take(gateway, "small"), "refused": lambda: take(tripped, "broken")})

    # The target is of calls/s as seen. They are bounded by the load's own core too, so the CPU of a call stands beside.
    def ratio(value):
        return median([value(refused) / value(forwarded)
                       for refused, forwarded in zip(found["refused"], found["forwarded"])])

    by_cpu = ratio(lambda figures: 1 / figures["cpu_us_per_call"])
    seen = ratio(lambda figures: figures["calls"] / figures["seconds"])
    cells = {name: f"{median([f['calls'] / f['seconds'] for f in figures]):.0f}/s, "
                   f"{median([f['cpu_us_per_call'] for f in figures]):.1f} us" for name, figures in found.items()}
    table.add("calls/s refused by an open breaker", cells["refused"], f"forwarded {cells['forwarded']}",
              f"{seen:.2f}x ({by_cpu:.2f}x by CPU)", ">= 1.50x", seen >= 1.5)


def idle_row(bench, nginx, gateway, connections, table):
    ours, theirs = (whole(bench.load("idle", proxy[0], connections=connections, of=proxy[1]), "idle")
                    ["bytes_per_connection"] for proxy in (gateway, nginx))
    table.add(f"memory of an idle connection, at {connections}", f"{ours:.0f} B", f"nginx {theirs:.0f} B",
              f"{ours / 1024:.2f} KB", "<= 4 KB", ours <= 4096)


def breaker_rows(quick, table):
    program = BUILD / "bench_breaker"
    if not program.exists():
        return
    done = subprocess.run([program, "--benchmark_format=json", f"--benchmark_min_time={0.05 if quick else 0.5}",
                           f"--benchmark_repetitions={3 if quick else 9}"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    medians = {row["run_name"]: row for row in json.loads(done.stdout)["benchmarks"]
               if row.get("aggregate_name") == "median"}

    def named(prefix, threads):
        return next((row for name, row in medians.items()
                     if name.startswith(prefix) and row["threads"] == threads), None)

    for threads, most in ((1, 15), (2, 30)):
        ours, mutex = named("admit_and_record", threads), named("same_with_a_mutex", threads)
        if ours is None:
            continue
        # CPU time of all threads for each call of one of them, which is what a thread pays.
        cost = ours["cpu_time"]
        beside = f"with a mutex {mutex['cpu_time']:.1f} ns" if mutex else ""
        allocations = ours.get("allocs", 0)
        table.add(f"breaker: admit and record, {threads} thread{'s' * (threads > 1)}",
                  f"{cost:.1f} ns, {allocations:.0f} allocations", beside, f"{cost:.1f} ns", f"<= {most} ns",
                  cost <= most and allocations == 0)


def heading():
    nginx = subprocess.run(["nginx", "-v"], stderr=subprocess.PIPE, text=True).stderr.strip().removeprefix("nginx version: ")
    return (f"{processor()}, {os.cpu_count()} cores, Linux {platform.release()}; {nginx}; "
            f"commit {commit()}; load before: {os.getloadavg()[0]:.1f}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="two short rounds")
    options.add_argument("--rounds", type=int, help="rounds of each row (default 7, quick 2)")
    options.add_argument("--seconds", type=float, help="length of one measurement (default 3, quick 1)")
    options.add_argument("--gate", action="store_true", help="exit with 1 when a target is missed")
    chosen = options.parse_args()
    rounds = chosen.rounds or (2 if chosen.quick else 7)
    seconds = chosen.seconds or (1 if chosen.quick else 3)

    for program in ("nginx", "taskset"):
        if shutil.which(program) is None:
            raise SystemExit(f"bench: {program} is not installed")
    if (os.cpu_count() or 1) < 2:
        raise SystemExit("bench: two cores are needed, one for the proxy and one for the load")

    print(heading(), flush=True)
    table = Table()
    with tempfile.TemporaryDirectory(prefix="switchgear-bench-") as folder, Bench(folder) as bench:
        nginx = bench.nginx()
        gateway = bench.gateway("gateway")
        cpu_rows(bench, nginx, gateway, rounds, seconds, table)
        relay_row(bench, nginx, gateway, rounds, seconds, table)
        latency_row(bench, nginx, gateway, rounds, seconds, table)
        refusal_row(bench, gateway, bench.gateway("tripped"), rounds, seconds, table)
        idle_row(bench, nginx, bench.gateway("idle"), 1000 if chosen.quick else IDLE_CONNECTIONS, table)
    breaker_rows(chosen.quick, table)
    print(f"{rounds} rounds of {seconds:g} s, medians; figures are medians of each round's ratio\n")
    print(table.text())
    if table.missed:
        print("\nmissed: " + "; ".join(table.missed))
    sys.exit(1 if chosen.gate and table.missed else 0)


if __name__ == "__main__":
    main()
