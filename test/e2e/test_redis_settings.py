"""Each key of `redis:` does what it says, on a real Redis. Credentials and TLS: test_redis_access.py."""

import time

import pytest

from harness.fleet import FleetLoad, alone_for
from harness.waiting import holds, until

pytestmark = [pytest.mark.seconds, pytest.mark.slow]

TOOL = "up__echo"
BREAKER = {"window": "10s", "cooldown": "20s", "jitter": "0%", "p99": "0s"}


def test_gateways_with_another_prefix_share_nothing(fleet, fake, redis):
    upstream = fake()
    server = redis()
    ours = fleet(2, server.url, upstream, BREAKER, redis={"prefix": "ours"})
    theirs = fleet(1, server.url, upstream, BREAKER, redis={"prefix": "theirs"})
    ours.trip(TOOL, upstream)
    holds(lambda: theirs[0].state(TOOL) == "closed", 1.2, "the others' is closed")
    assert {key.split(":")[0] for key in server.keys("*")} == {"ours", "theirs"}


@pytest.mark.parametrize(("timeout", "shares"), [("20ms", False), ("400ms", True)])
def test_a_slow_redis_is_waited_for_as_long_as_the_timeout_says(fleet, fake, redis, proxy, timeout, shares):
    upstream = fake()
    between = proxy(redis().port)
    gateways = fleet(1, f"redis://127.0.0.1:{between.port}/0", upstream, BREAKER, redis={"timeout": timeout})
    with FleetLoad(gateways, TOOL, 20):
        between.do(down={"delay": 0.1})
        time.sleep(2)
    assert (alone_for(gateways[0]) == 0) == shares


def test_counts_are_told_as_often_as_flush_says(fleet, fake, redis, figure):
    asked = {}
    for flush in ("50ms", "1s"):
        server = redis()
        gateways = fleet(1, server.url, fake(), BREAKER, redis={"flush": flush})
        with FleetLoad(gateways, TOOL, 50):
            time.sleep(1)
            before = server.asked("fcall")
            time.sleep(3)
            asked[flush] = server.asked("fcall") - before
    figure("flushes in 3 s, two scopes", **{f"every_{flush}": count for flush, count in asked.items()})
    assert asked["1s"] <= 2 * 5
    assert asked["50ms"] > 5 * asked["1s"]


def test_the_thresholds_of_the_highest_version_hold(fleet, fake, redis):
    upstream = fake()
    server = redis()
    new = fleet(1, server.url, upstream, {**BREAKER, "error_rate": "50%"}, redis={"settings_version": 2})
    old = fleet(1, server.url, upstream, {**BREAKER, "error_rate": "10%"}, redis={"settings_version": 1})
    until(lambda: old[0].circuit(TOOL)["thresholds"] == "of a newer configuration", 3, "the old one knows")
    assert new[0].circuit(TOOL)["thresholds"] == "own"
    assert server.ask("HGET", f"cb1:{{up}}:s:{TOOL}", "version") == b"2"
