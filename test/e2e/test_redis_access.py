"""How a gateway is let in to Redis: passwords that change, certificates that are replaced, connections that are ended.
It comes in again by itself, no call notices, and no secret is ever told."""

import time
from pathlib import Path

import pytest

from harness.certificates import Authority
from harness.fleet import Fleet, FleetLoad, assert_all_answered, events
from harness.process import free_port
from harness.waiting import until

pytestmark = [pytest.mark.seconds, pytest.mark.slow]

TOOL = "up__echo"
RATE = 60
BREAKER = {"window": "10s", "cooldown": "20s", "jitter": "0%", "p99": "0s", "ramp": "0s"}
USER = "switchgear"
SECRET = "correct-horse-battery"
OTHER_SECRET = "staple-of-another-day"


def never_alone(gateways: Fleet) -> None:
    assert gateways.log_counts("board_local") == [0] * len(gateways)


def assert_untold(gateways: Fleet, *secrets: str) -> None:
    """In no log line, metric or page."""
    for gateway in gateways:
        told = gateway.process.stderr + gateway.process.stdout + gateway.metrics() + gateway.admin("/api/circuits")[1]
        for secret in secrets:
            assert secret not in told


class PasswordFile:
    """A user's password: what Redis takes, and the file that a gateway reads."""

    def __init__(self, server, path: Path):
        self.server = server
        self.path = path
        server.ask("ACL", "SETUSER", USER, "on", f">{SECRET}", "~cb1:*", "&cb1:{*}:ev", "&cb1:{fleet}:m", "+@all")
        self.valid = [SECRET]
        self._write(SECRET)

    def _write(self, password: str) -> None:
        fresh = self.path.with_suffix(".new")
        fresh.write_text(password + "\n")
        fresh.replace(self.path)

    @property
    def settings(self) -> dict:
        return {"user": USER, "password_file": str(self.path)}

    def add(self, password: str) -> None:
        """The new one is valid from now on, and in the file; so is the old one in Redis."""
        self.server.ask("ACL", "SETUSER", USER, f">{password}")
        self.valid.append(password)
        self._write(password)

    def end_old(self) -> None:
        *old, last = self.valid
        self.valid = [last]
        self.server.ask("ACL", "SETUSER", USER, *(f"<{password}" for password in old))

    def end_connections(self) -> None:
        self.server.ask("CLIENT", "KILL", "USER", USER, "SKIPME", "yes")


# ---- RC-064: credentials


def test_a_password_is_exchanged_without_a_restart(fleet, fake, redis, tmp_path):
    """The old one is good for some time more; whoever connects takes the new one."""
    upstream = fake()
    server = redis()
    password = PasswordFile(server, tmp_path / "password")
    gateways = fleet(2, server.url, upstream, BREAKER, redis=password.settings)
    with FleetLoad(gateways, TOOL, RATE) as load:
        password.add(OTHER_SECRET)
        time.sleep(0.5)
        password.end_connections()
        time.sleep(0.5)
        password.end_old()
        time.sleep(0.5)
        password.end_connections()
        time.sleep(0.5)
        gateways.trip(TOOL, upstream)
    assert_all_answered(load.between())
    never_alone(gateways)
    assert_untold(gateways, SECRET, OTHER_SECRET)


def test_tokens_of_a_short_life_are_read_anew(fleet, fake, redis, tmp_path):
    """Nobody calls a tool, tokens live for a second, and connections end with theirs."""
    upstream = fake()
    server = redis()
    password = PasswordFile(server, tmp_path / "token")
    gateways = fleet(2, server.url, upstream, BREAKER, redis=password.settings)
    for number in range(5):
        password.add(f"token-{number}-of-many")
        password.end_old()
        time.sleep(0.9)
        password.end_connections()
        time.sleep(0.1)
    gateways.wait_shared(2)
    gateways.trip(TOOL, upstream)
    never_alone(gateways)
    assert_untold(gateways, SECRET, *(f"token-{number}-of-many" for number in range(5)))


def test_a_redis_that_asks_for_a_password_after_a_restart_gets_it(fleet, fake, redis, tmp_path):
    """NOAUTH where none was needed: it is named, and healed by what the file says from then on."""
    upstream = fake()
    server = redis()
    path = tmp_path / "password"
    path.write_text("")
    gateways = fleet(2, server.url, upstream, BREAKER, redis={"password_file": str(path)})
    with FleetLoad(gateways, TOOL, RATE) as load:
        server.kill()
        server.options["requirepass"] = server.password = SECRET
        server.start()
        until(lambda: gateways.log_counts("board_local") == [1, 1], 4, "the log says it")
        time.sleep(1)
        path.write_text(SECRET)
        gateways.wait_shared(5)
        gateways.trip(TOOL, upstream)
    assert_all_answered(load.between())
    assert_untold(gateways, SECRET)

    # Once more, with the password where it belongs: nobody has to do anything.
    upstream.call("echo", "answer")
    server.kill()
    server.start()
    gateways.wait_shared(5)
    until(lambda: server.asked("fcall") > 0, 4, "the gateways are there again")


def test_a_wrong_password_is_named_and_costs_nothing(fleet, fake, redis):
    upstream = fake()
    server = redis(requirepass=SECRET)
    server.password = SECRET
    gateways = fleet(1, f"redis://:{OTHER_SECRET}@127.0.0.1:{server.port}/0", upstream, BREAKER, wait=False)
    with FleetLoad(gateways, TOOL, RATE) as load:
        until(lambda: gateways.log_counts("board_local") == [1], 6, "the log says it")
        time.sleep(0.5)
    assert_all_answered(load.between())
    assert "WRONGPASS" in events(gateways[0], "board_local")[0]["reason"]
    assert_untold(gateways, OTHER_SECRET)


# ---- RC-064: connections that end


def test_a_redis_that_hangs_up_on_the_idle_is_called_again(fleet, fake, redis):
    """`timeout 1` closes what was silent for a second, and nobody calls a tool."""
    upstream = fake()
    server = redis(timeout=1)
    gateways = fleet(2, server.url, upstream, BREAKER)
    for _ in range(3):
        time.sleep(1.5)
        server.ask("CLIENT", "KILL", "TYPE", "pubsub")
    gateways.wait_shared(2)
    never_alone(gateways)
    gateways.trip(TOOL, upstream)


def test_half_of_the_connections_die_again_and_again(fleet, fake, redis, proxy, figure):
    rounds = 12
    upstream = fake()
    between = proxy(redis().port)
    gateways = fleet(3, f"redis://127.0.0.1:{between.port}/0", upstream, BREAKER)
    held = opened = between.state()["accepted"]
    with FleetLoad(gateways, TOOL, RATE) as load:
        for number in range(rounds):
            between.do(cut=0.5, how="close" if number % 2 else "reset")
            time.sleep(0.3)
        gateways.wait_shared(2)
        gateways.trip(TOOL, upstream)
    assert_all_answered(load.between())
    opened = between.state()["accepted"] - opened
    figure(f"half of {held} connections die, 12 times", connections_made=opened)
    never_alone(gateways)
    assert rounds <= opened <= rounds * held / 2 * 1.5, "one new connection for each that died"


# ---- RC-064: TLS


class SecureRedis:
    """A Redis that takes TLS alone and wants a client's certificate, and the authority that signs both."""

    def __init__(self, redis, folder: Path):
        self.folder = folder
        self.authority = Authority(folder)
        self.bundle = folder / "bundle.pem"  # whom gateways trust
        self.bundle.write_bytes(self.authority.path.read_bytes())
        certificate, key = self.authority.issue("127.0.0.1", "localhost")
        port = free_port()
        self.server = redis(
            port="0", tls_port=port, tls_cert_file=certificate, tls_key_file=key, tls_ca_cert_file=self.bundle,
            tls_auth_clients="yes",
        )  # fmt: skip
        self.server.port = port
        self.administrator = self.authority.issue("administrator")

    @property
    def url(self) -> str:
        return f"rediss://127.0.0.1:{self.server.port}/0"

    def access(self) -> dict:
        certificate, key = self.authority.issue("gateway")
        return {"ca": str(self.bundle), "cert": str(certificate), "key": str(key)}

    def ask(self, *words: str) -> str:
        """One command, through Redis' own client."""
        certificate, key = self.administrator
        return self.server.cli(*words, tls=["--cacert", self.bundle, "--cert", certificate, "--key", key])

    def show(self, authority: Authority) -> None:
        """From now on Redis has a certificate of this authority."""
        certificate, key = authority.issue("127.0.0.1", "localhost")
        answer = self.ask("CONFIG", "SET", "tls-cert-file", str(certificate), "tls-key-file", str(key))
        assert answer == "OK", answer

    def end_connections(self) -> None:
        self.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        self.ask("CLIENT", "KILL", "TYPE", "pubsub")


@pytest.fixture
def secure(redis, tmp_path):
    return SecureRedis(redis, tmp_path)


def test_certificates_are_replaced_without_a_restart(fleet, fake, secure, tmp_path):
    """First the server's, of the same authority; then the authority, with both in the bundle for a while."""
    upstream = fake()
    gateways = fleet(2, secure.url, upstream, BREAKER, redis=secure.access())
    with FleetLoad(gateways, TOOL, RATE) as load:
        secure.show(secure.authority)
        secure.end_connections()
        time.sleep(0.7)
        gateways.wait_shared(2)

        other = Authority(tmp_path, "another CA")
        secure.bundle.write_bytes(secure.authority.path.read_bytes() + other.path.read_bytes())
        secure.show(other)
        secure.end_connections()
        time.sleep(0.7)
        gateways.wait_shared(2)
        gateways.trip(TOOL, upstream)
    assert_all_answered(load.between())
    never_alone(gateways)


def test_a_tls_connection_ends_without_a_goodbye(fleet, fake, secure, proxy):
    """The stream is cut short, by FIN and by RST, and nobody said so inside TLS."""
    upstream = fake()
    between = proxy(secure.server.port)
    gateways = fleet(2, f"rediss://127.0.0.1:{between.port}/0", upstream, BREAKER, redis=secure.access())
    with FleetLoad(gateways, TOOL, RATE) as load:
        for how in ("close", "reset", "close"):
            between.do(cut=1, how=how)
            time.sleep(0.7)
        gateways.wait_shared(2)
        gateways.trip(TOOL, upstream)
    assert_all_answered(load.between())
    never_alone(gateways)


def test_a_server_of_a_stranger_is_named_and_costs_nothing(fleet, fake, secure, tmp_path):
    stranger = Authority(tmp_path, "another CA")
    access = {**secure.access(), "ca": str(stranger.path)}
    gateways = fleet(1, secure.url, fake(), BREAKER, wait=False, redis=access)
    with FleetLoad(gateways, TOOL, RATE) as load:
        until(lambda: gateways.log_counts("board_local") == [1], 6, "the log says it")
    assert_all_answered(load.between())
    assert "certificate" in events(gateways[0], "board_local")[0]["reason"].lower()


def test_plain_text_to_a_tls_port_is_named(fleet, fake, secure):
    gateways = fleet(1, f"redis://127.0.0.1:{secure.server.port}/0", fake(), BREAKER, wait=False)
    with FleetLoad(gateways, TOOL, RATE) as load:
        until(lambda: gateways.log_counts("board_local") == [1], 6, "the log says it")
    assert_all_answered(load.between())
