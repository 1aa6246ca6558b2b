"""What a trial shows, from its calls and from what reached the tool. Pure: no clock, no socket."""
import bisect
import functools
from dataclasses import dataclass

from failure.client import Sample

IN_A_ROW = 3  # calls without the tool that make a trip; one alone may be a lost race for a connection
BACK = 10  # primary answers in a row: the tool is in use again
WHOLE, OF_SO_MANY = 99, 100  # primary answers among so many calls: it is in use as before
TOUCH = 0.001  # how far the clocks of a call and of a refused connection may be apart, s
UNKNOWN = "?"  # what nobody here may see
BEFORE = "before"  # it had tripped while the tool was well; those calls stand under refused_while_well


@dataclass
class Trial:
    """One system in one scenario. Times on time.monotonic()."""

    samples: list[Sample]  # every call that was sent, in the order of sending
    calls: list[tuple[float, int]]  # (when, part) of each call that reached the tool
    attempts: list[float]  # of handshakes and refused connections, sorted: they do not say for which call
    sees_refused: bool  # False: connections were refused, and could not be counted
    healthy: float  # from here on the tool was well,
    sick: float  # sick,
    cured: float  # and well again
    ended: float

    @functools.cached_property
    def parts(self):
        return {part for _, part in self.calls}

    def reached(self, sample):
        """A call is known by its part. A handshake or a refused connection while it ran may have been for it."""
        if sample.part in self.parts:
            return True
        first = bisect.bisect_left(self.attempts, sample.sent - TOUCH)
        return first < len(self.attempts) and self.attempts[first] <= sample.answered + TOUCH

    def without_the_tool(self, sample):
        """The gateway answered of its own accord."""
        return sample.kind != "primary" and sample.from_gateway and not self.reached(sample)

    def sent(self, start, end):
        return [sample for sample in self.samples if start <= sample.sent < end]

    def load(self, start, end):
        """Calls, handshakes and refused connections at the tool, for each call that was offered; None without any."""
        offered = sum(start <= sample.due < end for sample in self.samples)
        came = sum(start <= at < end for at, _ in self.calls) + sum(start <= at < end for at in self.attempts)
        return came / offered if offered else None


def first_run(samples, length, wanted, most_others=0):
    """The first sample from which on, among so many, all but a few are wanted; itself one of them. None: there is none."""
    good = [bool(wanted(sample)) for sample in samples]
    among = sum(good[:length])
    for start in range(len(good) - length + 1):
        if good[start] and among >= length - most_others:
            return samples[start]
        among += (good[start + length] if start + length < len(good) else 0) - good[start]
    return None


def trip(trial):
    """Seconds from the fault to the first answer that needed no tool; None: every call went to it. BEFORE: see there."""
    if not trial.sees_refused:
        return UNKNOWN
    last = trial.sent(trial.healthy, trial.sick)[-IN_A_ROW:]
    if last and all(map(trial.without_the_tool, last)):
        return BEFORE
    found = first_run(trial.sent(trial.sick, trial.cured), IN_A_ROW, trial.without_the_tool)
    return found and found.answered - trial.sick


def is_primary(sample):
    return sample.kind == "primary"


def back(samples):
    return first_run(samples, BACK, is_primary)


def whole(samples):
    return first_run(samples, OF_SO_MANY, is_primary, OF_SO_MANY - WHOLE)


def percentile(values, share):
    """Nearest rank; None of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def figures(trial):
    """Seconds, and shares of 1. `None`: it did not happen."""
    after = trial.sent(trial.cured, trial.ended)
    is_back = back(after)
    is_whole = whole(after[after.index(is_back) :]) if is_back else None
    recovered = is_whole.answered if is_whole else trial.ended
    settled = after[after.index(is_whole) + OF_SO_MANY :] if is_whole else []
    during = [sample for sample in trial.samples if trial.sick <= sample.due < trial.cured]
    well = [sample for sample in trial.samples if trial.healthy <= sample.sent and sample.answered < trial.sick]
    well += settled
    took = [sample.took for sample in during]
    load = trial.load(trial.sick, trial.cured) if trial.sees_refused else UNKNOWN
    # A recovery that is over at once has no load to speak of: one second is looked at.
    recovery_end = min(trial.ended, max(recovered, trial.cured + 1))
    return {
        "trip": trip(trial),
        "calls_while_well": len(well),
        "refused_while_well": sum(map(trial.without_the_tool, well)),
        "load_in_outage": load,
        "load_in_recovery": trial.load(trial.cured, recovery_end),
        "back": is_back and is_back.answered - trial.cured,
        "whole": is_whole and is_whole.answered - trial.cured,
        "p50": percentile(took, 0.5),
        "p99": percentile(took, 0.99),
        "calls_in_outage": len(during),
        **{kind: sum(sample.kind == kind for sample in during) / max(1, len(during))
           for kind in ("primary", "stand-in", "error")},
        "errors": counted(sample.detail for sample in trial.samples if sample.kind == "error"),
    }


def counted(words):
    found = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found
