"""When everything fails, retries add no more than their budget to the load: with one gateway, and with four on one Redis.

What docs/retries.md promises is a tenth of a retry for each call to a server; ten are lent, and paid back first.
"""

from dataclasses import dataclass

import pytest

from harness.fleet import Fleet, metric
from harness.load import Callers, Sample
from harness.together import together

CLIENTS = 200
CALLS_EACH = 20
CALLS = CLIENTS * CALLS_EACH
ATTEMPTS = 3
SHARE = 0.1  # the default of retry_budget
TOOL = "up__echo"
RULE = {"read_only": True, "deadline": "30s",
        "retry": {"attempts": ATTEMPTS, "backoff": "10ms", "longest_pause": "50ms"}}  # fmt: skip
OBSERVE = {"mode": "observe"}  # so that nothing but the budget holds the retries back


@dataclass
class Storm:
    samples: list[Sample]
    arrived: int  # calls that the server saw

    @property
    def calls(self) -> int:
        return len(self.samples)

    @property
    def ratio(self) -> float:
        return self.arrived / self.calls


def sick(fake):
    return fake({"calls": {"echo": {"do": "raw_body", "status": 500}}})


def storm(gateways, upstream, calls: int = CALLS, clients: int = CLIENTS) -> Storm:
    """`calls` over all gateways, by `clients` at once."""
    before = len(upstream.arrived("tools/call"))

    def through(gateway) -> list[Sample]:
        with Callers(gateway.port, clients // len(gateways)) as callers:
            return callers.all([(TOOL, {"q": number}) for number in range(calls // len(gateways))])

    answers = together([lambda gateway=gateway: through(gateway) for gateway in gateways])
    samples = [sample for each in answers for sample in each]
    assert all(sample.message is not None for sample in samples), "every call has its answer"
    return Storm(samples, len(upstream.arrived("tools/call")) - before)


def retries(gateways) -> int:
    return int(sum(metric(gateway, "switchgear_retries_total", tool=TOOL) for gateway in gateways))


def assert_budget_holds(gateways, upstream, name: str, figure, record_property) -> None:
    first = storm(gateways, upstream)
    second = storm(gateways, upstream)
    for number, each in enumerate((first, second), 1):
        record_property(f"ratio_{number}", each.ratio)
    figure(
        f"retry storm, {name}",
        calls=f"{first.calls} + {second.calls}",
        upstream_saw=f"{first.arrived} ({first.ratio:.4f}x) + {second.arrived} ({second.ratio:.4f}x)",
    )
    assert first.arrived <= (1 + SHARE) * first.calls
    # Of what was earned before, less than a whole retry is left on each replica.
    assert second.arrived <= (1 + SHARE) * second.calls + len(gateways)
    assert second.arrived >= (1 + SHARE / 2) * second.calls, "the budget is used: it is what holds"
    assert retries(gateways) == first.arrived + second.arrived - first.calls - second.calls
    assert not any(sample.refused for sample in first.samples + second.samples)


def test_one_gateway_keeps_to_its_budget(gateway, fake, figure, record_property):
    upstream = sick(fake)
    through = gateway({"upstreams": {"up": {"url": upstream.url, "breaker": OBSERVE}}, "tools": {TOOL: RULE},
                       "breaker": OBSERVE})  # fmt: skip
    assert_budget_holds([through], upstream, "one gateway", figure, record_property)


def test_four_replicas_keep_to_it_together(fleet, fake, redis, figure, record_property):
    upstream = sick(fake)
    replicas: Fleet = fleet(4, redis().url, upstream, OBSERVE, wait=False, tools={TOOL: RULE})
    replicas.wait_shared()
    assert_budget_holds(list(replicas), upstream, "four replicas", figure, record_property)


def test_without_a_budget_there_would_be_a_storm(gateway, fake, figure):
    """What the others would see if nothing held the retries back. No more than ten may wait, so few clients at once."""
    upstream = sick(fake)
    through = gateway({"upstreams": {"up": {"url": upstream.url, "breaker": OBSERVE, "retry_budget": "100%"}},
                       "tools": {TOOL: RULE}, "breaker": OBSERVE})  # fmt: skip
    wild = storm([through], upstream, calls=CALLS // 10, clients=5)
    figure("retry storm, no budget", upstream_saw=f"{wild.ratio:.4f}x")
    assert wild.ratio >= 1.5


@pytest.mark.parametrize("replicas", [1, 4])
def test_a_breaker_leaves_little_of_a_storm(replicas, fleet, fake, redis, figure):
    upstream = sick(fake)
    breaker = {"cooldown": "1m", "p99": "0s"}
    gateways = fleet(replicas, redis().url, upstream, breaker, wait=False, tools={TOOL: RULE})
    gateways.wait_shared()
    calm = storm(list(gateways), upstream)
    figure(f"retry storm, breaker, {replicas}", upstream_saw=f"{calm.arrived} of {calm.calls} calls ({calm.ratio:.4f}x)")
    assert calm.arrived <= 0.5 * calm.calls
    assert calm.samples[-1].refused
    assert all(sample.served_by == "none" for sample in calm.samples)
