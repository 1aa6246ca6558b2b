"""An mcp.json as desktop clients write it: two children and an https server, served unchanged."""

import json
import sys

import pytest

from harness.certificates import Authority
from harness.mcp_client import McpClient
from harness.process import SUPPORT
from harness.servers import EVERYTHING
from harness.waiting import until

PYTHON_SERVER = {"command": sys.executable, "args": [str(SUPPORT / "sdk_stdio_server.py")]}


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


def written(folder, servers: dict):
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}, indent=2))
    return path


def test_two_children_and_an_https_server_run_unchanged(gateway, fake, node, authority, tmp_path):
    remote = fake({"server": {"tools": ["lookup"]}}, tls=authority.issue("localhost", "127.0.0.1"))
    path = written(
        tmp_path,
        {
            "everything": {"command": "node", "args": [str(EVERYTHING), "stdio"], "env": {"E2E": "1"}},
            "py": PYTHON_SERVER,
            "remote": {"type": "http", "url": remote.url, "headers": {"Authorization": "Bearer secret-token"}},
        },
    )
    through = gateway(path, environment={"SSL_CERT_FILE": str(authority.path)})
    assert {upstream["state"] for upstream in through.circuits()["upstreams"]} == {"ready"}
    with McpClient(through.port) as client:
        tools = client.tools()
        assert {"everything__echo", "py__reverse", "remote__lookup"} <= set(tools)
        assert client.call("everything__echo", {"message": "hi"}).text == "Echo: hi"
        assert client.call("py__reverse", {"text": "abc"}).text == "cba"
        assert json.loads(client.call("remote__lookup", {"key": 1}).text) == {"key": 1}
    assert {entry["authorization"] for entry in remote.state()["journal"] if entry["http"] == "POST"} == {
        "Bearer secret-token"
    }
    assert "secret-token" not in through.process.stderr


# What the reason must hold, in small letters: one of these.
FAULTS = {
    "wrong name": ["not for the name", "hostname mismatch"],
    "unknown authority": ["issuer", "authority", "self-signed"],
    "expired": ["expired"],
    "not yet valid": ["not yet valid"],
    "no TLS at all": ["localhost"],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_cannot_be_trusted_is_one_clear_error(fault, gateway, fake, authority, tmp_path, run_switchgear):
    other = Authority(tmp_path, "other CA")
    certificate = {
        "wrong name": lambda: authority.issue("other.example"),
        "unknown authority": lambda: other.issue("localhost"),
        "expired": lambda: authority.issue("localhost", from_day=-3, to_day=-2),
        "not yet valid": lambda: authority.issue("localhost", from_day=2, to_day=3),
        "no TLS at all": lambda: None,
    }[fault]()
    remote = fake(tls=certificate)
    url = f"https://localhost:{remote.port}/mcp"
    path = written(tmp_path, {"remote": {"url": url}, "py": PYTHON_SERVER})
    through = gateway(path, environment={"SSL_CERT_FILE": str(authority.path)})

    reason = through.wait_upstream("remote", "degraded")["reason"]
    assert reason and "\n" not in reason and len(reason) < 400
    assert any(word in reason.lower() for word in FAULTS[fault]), reason
    ready = through.readiness()
    assert any(upstream["alias"] == "remote" and upstream["reason"] == reason for upstream in ready["upstreams"])
    status = run_switchgear("status", "--admin", f"127.0.0.1:{through.admin_port}")
    assert status.returncode == 0, status.stderr
    assert "remote" in status.stdout and reason[:40] in status.stdout
    with McpClient(through.port) as client:
        assert client.call("py__reverse", {"text": "abc"}).text == "cba", "the other server does not feel it"
        assert "remote__echo" not in client.tools()
    assert remote.state()["journal"] == [], "nothing was sent over a connection that cannot be trusted"


def test_a_bundle_named_in_the_configuration_is_trusted_too(gateway, fake, authority):
    remote = fake(tls=authority.issue("localhost"))
    through = gateway({"upstreams": {"remote": {"url": remote.url, "tls": {"ca": str(authority.path)}}}})
    with McpClient(through.port) as client:
        assert not client.call("remote__echo").is_error


def test_a_disabled_server_is_left_out(gateway, tmp_path):
    path = written(tmp_path, {"py": PYTHON_SERVER, "off": {**PYTHON_SERVER, "disabled": True}})
    through = gateway(path)
    with McpClient(through.port) as client:
        assert all(name.startswith("py__") for name in client.tools())


def test_the_gateway_is_alive_while_a_child_is_being_started(gateway, tmp_path):
    slow = {"command": sys.executable, "args": [str(SUPPORT / "fake_stdio.py"), "--script", '{"start_delay": 2}']}
    through = gateway(written(tmp_path, {"slow": slow, "py": PYTHON_SERVER}), wait=False)
    until(lambda: through.probe("/healthz") == 200, 5, "the admin port answers")
    through.wait_upstream("py", "ready")
    with McpClient(through.port) as client:
        assert client.call("py__reverse", {"text": "abc"}).text == "cba"
        through.wait_upstream("slow", "ready")
        assert "slow__echo" in client.tools()
