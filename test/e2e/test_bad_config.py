"""Configurations and circumstances that cannot work: one clear line and exit code 1, or one degraded upstream."""

import re
import socket
import sys
import threading

import pytest

from harness.mcp_client import McpClient
from harness.process import SUPPORT, free_port

LOCATED = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): (?P<text>.+)$", re.MULTILINE)
ALARMING = ("terminate called", "what():", "exception", "Traceback", "Segmentation", "core dumped", "    at ", "#0 ")

# name -> file, line of the mistake, words that the message must hold
MISTAKES = {
    "unknown key": ("listen: 127.0.0.1:8080\nlisten_on: 1\n", 2, ["listen_on"]),
    "near miss": ("upstreams:\n  a:\n    ulr: http://127.0.0.1:1/mcp\n", 3, ["ulr", "url"]),
    "key twice": ("drain: 1s\ndrain: 2s\n", 2, ["drain"]),
    "bad duration": ("drain: quick\n", 1, ["drain", "quick"]),
    "bad share": ("breaker:\n  error_rate: 150%\n", 2, ["error_rate"]),
    "bad size": ("limits: {max_request: -1}\n", 1, ["max_request"]),
    "bad port": ("listen: 127.0.0.1:99999\n", 1, ["listen"]),
    "bad url": ("upstreams:\n  a: {url: 'not a url'}\n", 2, ["url"]),
    "wrong scheme": ("upstreams:\n  a: {url: 'ftp://127.0.0.1/mcp'}\n", 2, ["url", "http"]),
    "url and command": ("upstreams:\n  a: {url: 'http://127.0.0.1:1/mcp', command: [x]}\n", 2, ["command"]),
    "neither url nor command": ("upstreams:\n  a: {headers: {X: y}}\n", 2, ["url"]),
    "bad alias": ("upstreams:\n  'A b': {url: 'http://127.0.0.1:1/mcp'}\n", 2, ["A b"]),
    "header injection": (
        "upstreams:\n  a: {url: 'http://127.0.0.1:1/', headers: {X: \"y\\r\\nZ: 1\"}}\n", 2, ["headers"]
    ),
    "missing variable": ("upstreams:\n  a: {url: 'http://127.0.0.1:1/${SURELY_NOT_SET_9}'}\n", 2, ["SURELY_NOT_SET_9"]),
    "plain with two": (
        "names: plain\nupstreams:\n  a: {url: 'http://127.0.0.1:1/'}\n  b: {url: 'http://127.0.0.1:2/'}\n", 1, ["plain"]
    ),
    "redis": ("state: etcd://127.0.0.1\n", 1, ["state", "memory"]),
    "a list": ("- a\n- b\n", 1, []),
    "no YAML": ("a: [1, 2\nb: }\n", None, []),
    "a tab": ("upstreams:\n\ta: 1\n", 2, []),
    "cross-field": ("breaker:\n  probes_needed: 2\n  probe_failures_allowed: 5\n", None, ["probe"]),
    "a fallback to itself": ("tools:\n  a__x:\n    fallback:\n      - tool: {name: a__x}\n", 4, ["a__x"]),
    "unknown step": ("tools:\n  a__x:\n    fallback:\n      - magic: {}\n", 4, ["magic"]),
}  # fmt: skip


def assert_calm(text: str) -> None:
    assert not any(word in text for word in ALARMING), text


@pytest.mark.parametrize("command", ["check", "serve"])
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_file_line_column_and_what_would_be_right(name, command, tmp_path, run_switchgear):
    text, line, words = MISTAKES[name]
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    run = run_switchgear(command, path)
    said = run.stdout + run.stderr
    assert run.returncode == 1, said
    assert_calm(said)
    located = LOCATED.search(said)
    assert located, said
    assert located["file"].endswith("broken.yaml")
    if line is not None:
        assert int(located["line"]) == line, said
    for word in words:
        assert word in said, said


def test_every_mistake_is_told_at_once(tmp_path, run_switchgear):
    path = tmp_path / "broken.yaml"
    path.write_text("drain: quick\nlisten_on: 1\nbreaker: {error_rate: 900%}\n")
    told = [found[3] for found in LOCATED.findall(run_switchgear("check", path).stderr)]
    assert len([text for text in told if not text.startswith("warning:")]) == 3


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path, run_switchgear):
    for command in ("check", "serve"):
        run = run_switchgear(command, tmp_path / "missing.yaml")
        assert run.returncode == 1
        assert len(run.stderr.strip().splitlines()) == 1
        assert "missing.yaml" in run.stderr


@pytest.mark.parametrize("arguments", [["frobnicate"], ["serve", "--no-such"], ["check"], ["serve", "a", "b", "c"]])
def test_a_wrong_command_line_is_exit_code_2(arguments, run_switchgear):
    run = run_switchgear(*arguments)
    assert run.returncode == 2
    assert run.stderr.strip()
    assert_calm(run.stderr)


def test_help_and_version_are_given(run_switchgear):
    assert re.search(r"\d+\.\d+\.\d+", run_switchgear("--version").stdout)
    help_text = run_switchgear("--help").stdout
    assert all(word in help_text for word in ("serve", "demo", "check", "status"))


@pytest.mark.parametrize("which", ["listen", "admin"])
def test_a_port_in_use_is_one_clear_line(which, fake, tmp_path, run_switchgear):
    path = tmp_path / "gateway.yaml"
    path.write_text(f'{{"upstreams": {{"up": {{"url": "{fake().url}"}}}}}}')
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        addresses = {"listen": f"127.0.0.1:{free_port()}", "admin": f"127.0.0.1:{free_port()}"}
        addresses[which] = f"127.0.0.1:{taken.getsockname()[1]}"
        run = run_switchgear("serve", path, "--listen", addresses["listen"], "--admin", addresses["admin"])
    assert run.returncode == 1
    assert addresses[which] in run.stderr
    assert "in use" in run.stderr
    assert_calm(run.stderr)


def test_a_command_that_does_not_exist_is_a_degraded_upstream(gateway):
    well = [sys.executable, str(SUPPORT / "fake_stdio.py")]
    through = gateway({"upstreams": {"ghost": {"command": ["/no/such/program"]}, "well": {"command": well}}})
    reason = through.wait_upstream("ghost", "degraded")["reason"]
    assert "/no/such/program" in reason and "\n" not in reason
    with McpClient(through.port) as client:
        assert not client.call("well__echo").is_error


@pytest.mark.parametrize("what", ["a web page", "another protocol", "nobody"])
def test_an_upstream_that_is_no_tool_server_is_degraded(what, gateway, fake):
    if what == "another protocol":
        listener = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        conversation = Babbler(listener)
    elif what == "nobody":
        url = f"http://127.0.0.1:{free_port()}/mcp"
    else:
        upstream = fake({"server": {"web_page": True}})
        url = upstream.url
    through = gateway({"upstreams": {"odd": {"url": url}}})
    reason = through.wait_upstream("odd", "degraded")["reason"]
    assert reason and "\n" not in reason and len(reason) < 500
    assert_calm(through.process.stderr)
    if what == "another protocol":
        conversation.stop()


class Babbler(threading.Thread):
    """Greets whoever connects, as an SSH server would."""

    def __init__(self, listener: socket.socket):
        super().__init__(daemon=True)
        self.listener = listener
        self.start()

    def run(self) -> None:
        while True:
            try:
                peer, _ = self.listener.accept()
                peer.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
                peer.close()
            except OSError:
                return

    def stop(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.join(5)


def test_status_without_a_gateway_is_one_clear_line(run_switchgear):
    run = run_switchgear("status", "--admin", f"127.0.0.1:{free_port()}")
    assert run.returncode == 1
    assert len(run.stderr.strip().splitlines()) == 1
    assert_calm(run.stderr)


def test_check_prints_effective_values_and_no_secrets(tmp_path, run_switchgear):
    path = tmp_path / "good.yaml"
    path.write_text(
        "upstreams:\n  search: {url: 'http://127.0.0.1:9001/mcp', headers: {Authorization: 'Bearer hunter2'}}\n"
        "  files: {command: [prog], env: {TOKEN: hunter3}}\n"
    )
    run = run_switchgear("check", path)
    assert run.returncode == 0, run.stderr
    assert "error_rate" in run.stdout and "15" in run.stdout
    assert "hunter" not in run.stdout + run.stderr
