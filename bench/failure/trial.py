"""A system in a scenario: constant load, a tool that is well, falls sick and is cured, and what all of that left behind."""
import asyncio
import json
import time
import urllib.request

from failure import figures
from failure.client import Client
from failure.sick_server import answer_to

WARM = 20  # primary answers in a row before anything is measured
ERROR_SHARE = 0.3
TIMES_SLOWER = 10


SCENARIOS = {
    "dead": "dead",
    "hung": "hung",
    "errors": f"{ERROR_SHARE:.0%} errors".replace("%", " %"),
    "slow": f"{TIMES_SLOWER}x slower",
    "flapping": "flapping",
}


def course(scenario, pace, seed):
    """The outage as (fault, seconds)."""
    if scenario != "flapping":
        more = {"errors": {"share": ERROR_SHARE, "seed": seed}, "slow": {"times": TIMES_SLOWER}}.get(scenario, {})
        return [({"do": scenario, **more}, pace.outage)]
    bad, good = {"do": "errors", "share": 1.0}, {"do": "well"}
    return [(good if number % 2 else bad, pace.flap) for number in range(round(pace.outage / pace.flap))]


class Server:
    """The sick server as this program reaches it: by its control port."""

    def __init__(self, control):
        self.address = f"http://127.0.0.1:{control}/"

    async def make(self, fault):
        return (await asyncio.to_thread(self._ask, fault))["at"]

    async def noted(self):
        return await asyncio.to_thread(self._ask)

    def _ask(self, fault=None):
        body = None if fault is None else json.dumps(fault).encode()
        with urllib.request.urlopen(self.address, data=body, timeout=10) as answer:
            return json.load(answer)


class Load:
    """Calls at a constant rate for as long as the block lasts; one that is late does not delay the next."""

    def __init__(self, client, rate, first_part):
        self.client, self.rate, self.first_part = client, rate, first_part
        self.samples = {}
        self.running = set()

    async def __aenter__(self):
        self.began = time.monotonic()
        self.feeder = asyncio.create_task(self._feed())
        return self

    async def __aexit__(self, *_):
        self.feeder.cancel()
        if self.running:
            await asyncio.wait(self.running)
        self.client.close()

    async def _feed(self):
        count = 0
        while True:
            due = self.began + count / self.rate
            if (pause := due - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            task = asyncio.create_task(self._call(self.first_part + count, due))
            self.running.add(task)
            task.add_done_callback(self.running.discard)
            count += 1

    async def _call(self, part, due):
        self.samples[part] = await self.client.call(part, due)

    def in_order(self, since=0.0):
        """Without those that have no answer yet, nor any after the first of these."""
        found = []
        skipped = max(0, int((since - self.began) * self.rate)) if since else 0
        for part in range(self.first_part + skipped, self.first_part + len(self.samples) + len(self.running)):
            if part not in self.samples:
                break
            if self.samples[part].sent >= since:
                found.append(self.samples[part])
        return found

    def between(self, begin, end):
        return sorted((one for one in self.samples.values() if begin <= one.sent < end), key=lambda one: one.part)


async def until(condition, limit):
    """Whether it came true in time."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        await asyncio.sleep(0.1)
    return False


async def run(access, server, scenario, pace, seed, first_part):
    """A figures.Trial. `access`: where and how the tool is called (systems.Access)."""
    client = Client(access.url, access.tool, answer_to, pace.patience, access.headers, access.stand_in)
    await client.open()
    async with Load(client, pace.rate, first_part) as load:
        warm = await until(lambda: len(found := load.in_order()) >= WARM and
                           all(sample.kind == "primary" for sample in found[-WARM:]), access.warm_up)
        if not warm:
            last = load.in_order()[-1:]
            raise SystemExit(f"bench: {access.name} gives no primary answers to `{access.tool}`: {last}")
        healthy = time.monotonic()
        await asyncio.sleep(pace.healthy)
        sick = None
        for fault, seconds in course(scenario, pace, seed):
            at = await server.make(fault)
            sick = sick or at
            await asyncio.sleep(seconds)
        cured = await server.make({"do": "well"})
        if await until(lambda: figures.whole(load.in_order(cured)), pace.recovery):
            await asyncio.sleep(pace.calm)
        ended = time.monotonic()
    noted = await server.noted()
    calls = [(at, part) for at, part in noted["arrivals"] if part is not None]
    attempts = sorted([at for at, part in noted["arrivals"] if part is None] + noted["refused"])
    sees_all = noted["sees_refused"] or scenario != "dead"
    return figures.Trial(load.between(healthy, ended), calls, attempts, sees_all, healthy, sick, cured, ended)
