#!/usr/bin/env python3
"""Measures what a shared breaker costs the Redis that keeps it: the usual scheme, one member of a sorted set a call and
the whole window read on each failure, against this project's flushes of counts. Same core, same run.

  bench/redis.py            some minutes
  bench/redis.py --quick    half a minute; too short to quote
  bench/redis.py --gate     exit with 1 when a target is missed
"""
import argparse
import pathlib
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT / "bench")
sys.path.append(str(ROOT / "test/support"))
from resp import RedisError, Resp  # noqa: E402

LIBRARY = ROOT / "src/peers/redis/library"
WINDOW = 60  # seconds
FAILURES = 0.05
CONNECTIONS = 50  # each sends the commands of one call, or one flush, in one write, and waits
EVENTS = (1_000, 10_000, 100_000)
BATCHES = (1, 10, 100)
# events, calls a flush: at least this many times less CPU
TARGETS = {(10_000, 10): 10, (100_000, 10): 100}
MOST_BYTES = 16 * 1024


class Server:
    """A Redis of its own on a socket of its own, on core 0 where there are two."""

    def __init__(self, folder):
        port = free_port()
        pinned = ["taskset", "-c", "0"] if shutil.which("taskset") else []
        self.process = subprocess.Popen([*pinned, "redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                                         "--dir", folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for _ in range(100):
            try:
                self.link = Resp(port, timeout=60)
                self.links = [Resp(port, timeout=60) for _ in range(CONNECTIONS)]
                break
            except OSError:
                time.sleep(0.05)
        else:
            raise SystemExit("bench: redis-server does not answer")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for link in (self.link, *self.links):
            link.close()
        self.process.terminate()
        self.process.wait()

    def cpu(self):
        """Seconds that the server has worked."""
        fields = dict(line.split(":", 1) for line in self.link.ask("INFO", "cpu").decode().split("\r\n") if ":" in line)
        return float(fields["used_cpu_user"]) + float(fields["used_cpu_sys"])

    def run_one_by_one(self, units):
        """The same as run(), with a round trip for each command of a unit."""
        before = self.cpu()
        for at in range(0, len(units), CONNECTIONS):
            under_way = list(zip(self.links, units[at:at + CONNECTIONS]))
            for step in range(max(len(unit) for _, unit in under_way)):
                asked = [(link, unit[step]) for link, unit in under_way if step < len(unit)]
                for link, command in asked:
                    link.send(command)
                for link, _ in asked:
                    if isinstance(reply := link.receive(), RedisError):
                        raise SystemExit(f"bench: {reply}")
        return self.cpu() - before

    def run(self, units):
        """Sends the commands of so many units, one a connection at a time; returns the server's CPU seconds."""
        before = self.cpu()
        for at in range(0, len(units), CONNECTIONS):
            under_way = list(zip(self.links, units[at:at + CONNECTIONS]))
            for link, unit in under_way:
                link.send(*unit)
            for link, unit in under_way:
                for _ in unit:
                    if isinstance(reply := link.receive(), RedisError):
                        raise SystemExit(f"bench: {reply}")
        return self.cpu() - before

    def bytes_of(self, pattern):
        return sum(self.link.ask("MEMORY", "USAGE", key, "SAMPLES", 0) for key in self.link.ask("KEYS", pattern))


def library_source():
    parts = (LIBRARY / "parts.txt").read_text().split()
    return "#!lua name=switchgear_v1\n" + "".join((LIBRARY / part).read_text() for part in parts)


def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class SortedSet:
    """The usual scheme. Members are made unique, which is kinder than the member `time:status` it is known with."""

    def __init__(self, server, events):
        self.server, self.events = server, events
        self.step = WINDOW / events
        self.now = 1_000_000.0
        self.number = 0
        server.link.ask("FLUSHALL")
        server.run([[self.add(random.random() < FAILURES)] for _ in range(events)])

    def add(self, failed):
        self.now += self.step
        self.number += 1
        member = f"{self.now:.6f}:{'F' if failed else 'S'}:{self.number:08d}"
        return ("ZADD", "paper:tool", f"{self.now:.6f}", member)

    def call(self, failed):
        unit = [("GET", "paper:state"), self.add(failed),
                ("ZREMRANGEBYSCORE", "paper:tool", "-inf", f"({self.now - WINDOW:.6f}"), ("EXPIRE", "paper:tool", WINDOW * 2)]
        if failed:
            unit.append(("ZRANGE", "paper:tool", 0, -1))
        return unit

    def cpu_us_per_call(self, calls, run):
        # So many failures as their share says, evenly spread: one is dear, and chance would decide the figure.
        every = round(1 / FAILURES)
        return run([self.call(number % every == 0) for number in range(calls)]) / calls * 1e6

    def bytes(self):
        return self.server.bytes_of("paper:*")


class Flushes:
    """This project's: `batch` calls are one function call, whose counts stand in a hash of seconds."""

    def __init__(self, server, events, batch):
        self.server, self.batch = server, batch
        self.step = WINDOW * batch / events  # seconds between flushes, all replicas together
        self.now = 1_000_000.0
        self.sequence = 0
        self.failed = 0.0
        server.link.ask("FLUSHALL")
        server.link.ask("FUNCTION", "LOAD", "REPLACE", library_source())
        for _ in range(WINDOW * 10):  # the window, filled by its tenths
            self.now += 0.1
            server.run([[self.flush(events // (WINDOW * 10), 0)]])

    @staticmethod
    def settings():
        alpha = (1 - 0.9999) / 8
        z = statistics.NormalDist().inv_cdf(1 - alpha)
        second = 1_000_000
        return (f"0 0.15 {WINDOW * second} 20 {alpha!r} 0.8 14.3 1500000 30000000000 1.5 300000000000 0.1 0.1 3 10 2 "
                f"{10 * second} {10 * second} {z!r} {z!r} 2")

    def flush(self, calls, failures):
        self.sequence += 1
        # Two replicas: the quorum is worked out as it is in a fleet.
        replica = f"replica-{self.sequence % 2}"
        tag = "cb1:{server}:"
        keys = [f"{tag}{kind}:server__tool" for kind in "swip"]
        numbers = struct.pack(">22d", self.sequence, 0, 0, 0, 0, 0, 0, calls, failures, calls, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, -1)
        return ("FCALL", "switchgear_v1_exchange", 4, *keys, replica, self.settings(), numbers, "", "",
                f"{self.now * 1e6:.0f}")

    def cpu_us_per_call(self, calls):
        units = []
        for _ in range(max(1, calls // self.batch)):
            self.now += self.step
            self.failed += self.batch * FAILURES
            failures = int(self.failed)
            self.failed -= failures
            units.append([self.flush(self.batch, failures)])
        return self.server.run(units) / (len(units) * self.batch) * 1e6

    def bytes(self):
        return self.server.bytes_of("cb1:*")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--gate", action="store_true", help="exit with 1 when a target is missed")
    chosen = options.parse_args()
    rounds = 1 if chosen.quick else 5
    scale = 0.25 if chosen.quick else 1.0
    if shutil.which("redis-server") is None:
        raise SystemExit("bench: redis-server is not installed; `make setup-bench` installs it")

    missed = []
    print("CPU of Redis a call, us; 5 % of the calls fail. Sorted set: 4 to 5 commands a call, in one write, or one by one\n"
          "as the scheme is published. The ratio is to the cheaper one. Flushes: no round trip a call.\n")
    print(f"| {'in the window':>13} | {'a flush':>8} | {'sorted set':>10} | {'one by one':>10} | {'flushes':>8} | {'ratio':>7} | "
          "target | bytes of a tool, both |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    # A server each: giving back the memory of a hundred thousand members is the sorted set's cost, and comes late.
    with (tempfile.TemporaryDirectory(prefix="switchgear-bench-") as folder, Server(folder) as server,
          Server(folder) as other):
        for events in EVENTS:
            theirs, published, ours = [], [], {batch: [] for batch in BATCHES}
            our_bytes = {}
            for _ in range(rounds):
                scheme = SortedSet(server, events)
                calls = int((4000 if events < 100_000 else 1000) * scale)
                theirs.append(scheme.cpu_us_per_call(calls, server.run))
                published.append(scheme.cpu_us_per_call(calls, server.run_one_by_one))
                their_bytes = scheme.bytes()
                for batch in BATCHES:
                    flushes = Flushes(other, events, batch)
                    ours[batch].append(flushes.cpu_us_per_call(int(4000 * batch * scale)))
                    our_bytes[batch] = flushes.bytes()
            for batch in BATCHES:
                ratio = min(statistics.median(theirs), statistics.median(published)) / statistics.median(ours[batch])
                target = TARGETS.get((events, batch))
                good = (target is None or ratio >= target) and our_bytes[batch] <= MOST_BYTES
                if not good:
                    missed.append(f"{events}/{batch}")
                print(f"| {events:>13,} | {batch:>8} | {statistics.median(theirs):>10.2f} | "
                      f"{statistics.median(published):>10.2f} | {statistics.median(ours[batch]):>8.3f} | {ratio:>6.1f}x | "
                      f"{'' if target is None else f'>= {target}x'}{'' if good else ' MISSED'} | "
                      f"{their_bytes:,} and {our_bytes[batch]:,} |", flush=True)
    if missed:
        print("\nmissed: " + "; ".join(missed))
    sys.exit(1 if chosen.gate and missed else 0)


if __name__ == "__main__":
    main()
