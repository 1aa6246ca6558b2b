"""Redis in its shapes: behind TLS, behind a password that changes, with Sentinel, as a cluster."""

import time

import pytest

from harness.certificates import Authority
from harness.fleet import Fleet, FleetLoad, assert_all_answered, events, metric, shared
from harness.process import free_port
from harness.waiting import until

pytestmark = [pytest.mark.timing, pytest.mark.slow]

TOOL = "up__echo"
BREAKER = {"window": "10s", "cooldown": "20s", "jitter": "0%", "p99": "0s", "ramp": "0s"}
SECRET = "correct-horse-battery"
OTHER_SECRET = "staple-of-another-day"


def trips_everywhere(gateways, upstream) -> None:
    upstream.call("echo", "rpc_error", code=-32603)
    gateways.call_each(TOOL, 9)
    gateways.wait(TOOL, "open", 3)


# ---- RC-064: credentials, TLS, idle closes


def test_a_password_is_exchanged_without_a_restart(fleet, fake, redis, tmp_path):
    upstream = fake()
    server = redis()
    server.ask("ACL", "SETUSER", "switchgear", "on", f">{SECRET}", "~cb1:*", "&cb1:*", "+@all")
    password_file = tmp_path / "password"
    password_file.write_text(SECRET + "\n")
    access = {"user": "switchgear", "password_file": str(password_file)}
    gateways = fleet(2, server.url, upstream, BREAKER, redis=access)

    with FleetLoad(gateways, TOOL, 30) as load:
        server.ask("ACL", "SETUSER", "switchgear", f">{OTHER_SECRET}", f"<{SECRET}")
        password_file.write_text(OTHER_SECRET + "\n")
        server.ask("CLIENT", "KILL", "USER", "switchgear", "SKIPME", "yes")
        time.sleep(1)
        gateways.wait_shared(6)
        trips_everywhere(gateways, upstream)
    assert_all_answered(load.between())
    for gateway in gateways:
        assert SECRET not in gateway.process.stderr and OTHER_SECRET not in gateway.process.stderr


def test_a_wrong_password_is_named_and_costs_nothing(fleet, fake, redis):
    upstream = fake()
    server = redis(requirepass=SECRET)
    server.password = SECRET
    gateways = fleet(1, f"redis://:{OTHER_SECRET}@127.0.0.1:{server.port}/0", upstream, BREAKER, wait=False)
    with FleetLoad(gateways, TOOL, 30) as load:
        until(lambda: gateways.log_counts("board_local") == [1], 6, "the log says it")
        time.sleep(0.5)
    assert_all_answered(load.between())
    assert "WRONGPASS" in events(gateways[0], "board_local")[0]["reason"]
    assert OTHER_SECRET not in gateways[0].process.stderr


def test_a_redis_that_hangs_up_on_the_idle_is_called_again(fleet, fake, redis, figure):
    """`timeout 1` closes what was silent for a second; half of the connections are cut besides."""
    upstream = fake()
    server = redis(timeout=1)
    gateways = fleet(2, server.url, upstream, BREAKER)
    for _ in range(4):
        time.sleep(1.5)
        server.ask("CLIENT", "KILL", "TYPE", "pubsub")
    gateways.wait_shared(5)
    trips_everywhere(gateways, upstream)
    figure("idle connections closed by Redis", went_local=gateways.log_counts("board_local"))


@pytest.fixture
def secure_redis(redis, tmp_path):
    """A Redis that takes TLS alone, and wants a client's certificate; with the authority that signs both."""
    authority = Authority(tmp_path)
    certificate, key = authority.issue("127.0.0.1", "localhost")
    port = free_port()
    server = redis(
        port="0", tls_port=port, tls_cert_file=certificate, tls_key_file=key, tls_ca_cert_file=authority.path,
        tls_auth_clients="yes",
    )  # fmt: skip
    server.port = port
    return server, authority


def test_tls_with_certificates_of_both_ends(fleet, fake, secure_redis):
    server, authority = secure_redis
    certificate, key = authority.issue("gateway")
    files = {"ca": str(authority.path), "cert": str(certificate), "key": str(key)}
    upstream = fake()
    gateways = fleet(2, f"rediss://127.0.0.1:{server.port}/0", upstream, BREAKER, redis=files)
    trips_everywhere(gateways, upstream)


def test_tls_of_a_stranger_is_named_and_costs_nothing(fleet, fake, secure_redis, tmp_path):
    server, _ = secure_redis
    stranger = Authority(tmp_path, "another CA")
    upstream = fake()
    gateways = fleet(
        1, f"rediss://127.0.0.1:{server.port}/0", upstream, BREAKER, wait=False, redis={"ca": str(stranger.path)}
    )
    with FleetLoad(gateways, TOOL, 30) as load:
        until(lambda: gateways.log_counts("board_local") == [1], 6, "the log says it")
    assert_all_answered(load.between())
    assert "certificate" in events(gateways[0], "board_local")[0]["reason"].lower()


def test_plain_text_to_a_tls_port_is_named(fleet, fake, secure_redis):
    server, _ = secure_redis
    gateways = fleet(1, server.url, fake(), BREAKER, wait=False)
    with FleetLoad(gateways, TOOL, 30) as load:
        until(lambda: gateways.log_counts("board_local") == [1], 6, "the log says it")
    assert_all_answered(load.between())


# ---- RC-059: failover and cluster answers


@pytest.mark.parametrize("how", ["asked for", "by death"])
def test_a_failover_keeps_an_open_breaker_open(fleet, fake, sentinels, figure, how):
    upstream = fake()
    gateways = fleet(2, sentinels.url, upstream, BREAKER)
    trips_everywhere(gateways, upstream)
    generation = gateways[0].circuit(TOOL)["generation"]
    arrived = len(upstream.arrived("tools/call"))
    before = sentinels.leader()

    with FleetLoad(gateways, TOOL, 30) as load:
        if how == "by death":
            before.kill()
        else:
            sentinels.sentinel.fail_over()
        until(lambda: sentinels.leader() is not before, 15, "the replica is promoted")
        until(lambda: sentinels.leader().info("role") == "master", 10, "and says so")
        promoted_at = time.monotonic()
        after = sentinels.leader()
        until(lambda: any(b"switchgear" in repr(each).encode() for each in after.ask("CLIENT", "LIST").split(b"\n"))
              or all(shared(gateway) for gateway in gateways), 10, "the gateways are there")  # fmt: skip
        gateways.wait_shared(6)
        until(lambda: after.keys("*:s:*"), 6, "the state is with the new primary")
        took = time.monotonic() - promoted_at
        time.sleep(0.5)
    assert_all_answered(load.between())
    figure(f"failover {how}", shared_again=f"{took:.2f} s after the promotion")
    assert set(gateways.states(TOOL)) == {"open"}
    assert len(upstream.arrived("tools/call")) == arrived, "no call was let through"
    key = next(key for key in after.keys("*:s:*") if key.endswith(f":{TOOL}"))
    assert int(after.ask("HGET", key, "gen")) >= generation


def test_a_slot_moves_under_load(fleet, fake, cluster):
    upstream = fake()
    gateways = fleet(2, cluster.url, upstream, BREAKER)
    key = next(key for node in cluster.nodes for key in node.keys("*:s:*") if key.endswith(f":{TOOL}"))
    home = cluster.owner(key)
    other = next(node for node in cluster.nodes if node is not home)
    with FleetLoad(gateways, TOOL, 60) as load:
        time.sleep(0.5)
        cluster.move(home.ask("CLUSTER", "KEYSLOT", key), other)
        time.sleep(2)
        gateways.wait_shared(3)
        trips_everywhere(gateways, upstream)
    assert_all_answered(load.between())
    assert other.ask("HGET", key, "state") == b"open"
    moved = sum(int(node.info("errorstat_MOVED").split("=")[1]) for node in cluster.nodes if "errorstat_MOVED" in
                node.ask("INFO", "errorstats").decode())  # fmt: skip
    assert moved <= 20, f"{moved} redirections: one refresh a gateway was due, not one a command"


def test_a_lost_shard_takes_its_own_breakers_alone(fleet, fake, cluster, gateway):
    first, second = fake(), fake()
    upstreams = {f"u{number}": {"url": (first if number % 2 else second).url} for number in range(6)}
    configuration = {"state": cluster.url, "upstreams": upstreams, "breaker": BREAKER}
    gateways = Fleet([gateway(configuration) for _ in range(2)])
    for number in range(6):
        gateways.call_each(f"u{number}__echo")
    gateways.wait_shared()
    lost = cluster.nodes[2]
    survivors = [number for number in range(6) if cluster.owner(f"cb1:{{u{number}}}:s:u{number}__echo") is not lost]
    assert survivors, "every server's slot is on one node"
    lost.kill()
    time.sleep(3)
    first.call("echo", "rpc_error", code=-32603)
    second.call("echo", "rpc_error", code=-32603)
    tool = f"u{survivors[0]}__echo"
    gateways.call_each(tool, 9)
    gateways.wait(tool, "open", 4)
    generations = {each.circuit(tool)["generation"] for each in gateways}
    assert len(generations) == 1, "the other shards' breakers are still shared"
    for number in range(6):
        gateways.call_each(f"u{number}__echo", 1)  # and no call fails for the lost one


def test_figures_of_the_board(fleet, fake, redis):
    gateways = fleet(3, redis().url, fake(), BREAKER)
    with FleetLoad(gateways, TOOL, 30):
        until(lambda: metric(gateways[0], "switchgear_board_replicas") == 3, 5, "three replicas are seen")
        answered = metric(gateways[0], "switchgear_board_flushes_total", result="answered")
        until(
            lambda: metric(gateways[0], "switchgear_board_flushes_total", result="answered") > answered + 5,
            5,
            "flushes are answered",
        )
    assert metric(gateways[0], "switchgear_board_flush_seconds_sum") > 0
    flushes = metric(gateways[0], "switchgear_board_flush_seconds_count")
    assert flushes > answered + 5
    assert metric(gateways[0], "switchgear_board_flush_seconds_bucket", le="+Inf") >= flushes
    assert metric(gateways[0], "switchgear_board_flush_seconds_bucket", le="0.05") > 0, "the timeout is 50 ms"
    assert metric(gateways[0], "switchgear_board_losses_total") == 0
