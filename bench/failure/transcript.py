"""What one agent sees of an outage, called directly and through Switchgear: the transcript of README.md."""
import asyncio
import math
import re
import time
from dataclasses import dataclass

from failure import systems
from failure.client import Client
from failure.paces import STAND_IN
from failure.sick_server import answer_to
from failure.trial import Load

PART = 17
PATIENCE = 3
OTHERS = 20  # calls a second
LENGTH = 22  # seconds
COURSE = ((2.9, {"do": "hung"}, "the server hangs"),
          (10.5, {"do": "dead"}, "the server is down"),
          (13.5, {"do": "well"}, "the server is well again"))
FALLBACK = '[{cache: {max_age: 6s}}, {static: {text: "%s"}}]' % STAND_IN
POLICY = ("breaker: {p99: 500ms, cooldown: 5s, growth: 1, jitter: 0%, probe_share: 25%, ramp: 1s}\n"
          f"tools: {{stock: {{deadline: 1s, fallback: {FALLBACK}}}}}\n")
HEAD = f"""An agent asks once a second how many of part {PART} are in stock and waits {PATIENCE} s for an answer at most. Others ask for
other parts, {OTHERS} times a second."""
TITLES = (("direct", "Without Switchgear", ""), ("switchgear", "Through Switchgear", POLICY))
WIDTH = 128


def seen(sample):
    """A call's end in the agent's words."""
    if sample.kind == "error" and sample.detail in ("timeout", "connection"):
        return "no answer" if sample.detail == "timeout" else "connection refused or lost"
    return f"{sample.detail}: {sample.text}" if sample.kind == "error" else sample.text


def shape(line):
    """The same with other figures is the same."""
    return re.sub(r"\d+(\.\d+)?( ms| s)?", "#", line)


@dataclass
class Event:
    when: float
    text: str

    def __str__(self):
        return fit(f"{clock(self.when)}  -- {self.text} --")


@dataclass
class Calls:
    """One, or some in a row that came to the same."""

    when: float  # of the first
    last: float
    longest: float
    text: str  # of the first

    def __str__(self):
        span = clock(self.when) if self.when == self.last else f"{clock(self.when)}-{clock(self.last)}"
        took = f"{self.longest:.1f} s" if self.longest >= 0.9995 else f"{math.ceil(self.longest * 1000)} ms"
        first, *more = self.text.split("\n")
        return "\n".join([fit(f"{span:<9}  {took:>6}  {first}"), *(fit(" " * 19 + block) for block in more)])


class Story:
    def __init__(self):
        self.began = time.monotonic()
        self.lines = []

    def event(self, text):
        self.lines.append(Event(time.monotonic() - self.began, text))

    def call(self, sample):
        sent, took, text = sample.sent - self.began, sample.answered - sample.sent, seen(sample)
        # A call stands where it was sent, before what happened while it ran.
        place = len(self.lines)
        while place and self.lines[place - 1].when > sent:
            place -= 1
        before = self.lines[place - 1] if place else None
        if isinstance(before, Calls) and shape(before.text) == shape(text):
            before.last, before.longest = sent, max(before.longest, took)
        else:
            self.lines.insert(place, Calls(sent, sent, took, text))

    def __str__(self):
        return "\n".join(map(str, self.lines))


def fit(text):
    """A line, shortened."""
    return f"  {text}" if len(text) + 2 <= WIDTH else f"  {text[: WIDTH - 6]} ..."


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


async def told(kind, folder):
    """The story of one agent."""
    async with systems.Ours(kind, folder, POLICY).opened(0.02) as (access, server):
        agent, others = (Client(access.url, access.tool, answer_to, PATIENCE) for _ in range(2))
        await agent.open()
        await others.open()
        async with Load(others, OTHERS, PART + 1):
            await asyncio.sleep(1)
            story = Story()
            happening = asyncio.create_task(happen(server, story))
            while time.monotonic() - story.began < LENGTH:
                story.call(await agent.call(PART))
                await asyncio.sleep(math.ceil(time.monotonic() - story.began) - (time.monotonic() - story.began))
            await happening
        agent.close()
    return str(story)


async def happen(server, story):
    for when, fault, text in COURSE:
        await asyncio.sleep(story.began + when - time.monotonic())
        await server.make(fault)
        story.event(text)


async def transcript(folder):
    told_by = await asyncio.gather(*(told(kind, folder) for kind, _, _ in TITLES))
    print(HEAD)
    for (_, title, policy), story in zip(TITLES, told_by):
        print("\n" + "\n".join([title, *map(fit, policy.splitlines()), story]))
