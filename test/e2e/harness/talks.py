"""Real clients, each told to do the same things: a job goes in, what the client saw comes back (see node/talk.mjs)."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import python_talk
from harness.fixture import NODE
from harness.process import REPOSITORY
from harness.servers import NODE_FOLDER

LANGCHAIN_PYTHON = REPOSITORY / "build" / "venv-langchain" / "bin" / "python"
MODERN = "2026-07-28"
TALK_LIMIT = 90  # seconds

# What each side of a hop says for itself: of the result's kind, of caching, of the server.
ENVELOPE = ("resultType", "ttlMs", "cacheScope")
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
# "No such resource" has a code in each era.
LEGACY_NOT_FOUND, MODERN_NOT_FOUND = -32002, -32602


@dataclass(frozen=True)
class RealClient:
    """A client and the way it is used. `runs`: node, python or langchain."""

    name: str
    runs: str
    module: str = ""
    mode: str | dict = ""
    era: str = "legacy"
    behind_remote: bool = False  # it starts mcp-remote, which speaks to the server

    def talk(self, server: dict, deeds: list[dict], abilities: tuple[str, ...], folder: Path) -> dict:
        """Does the deeds with the server, {"url"} or {"command"}."""
        if self.behind_remote:
            server = {"command": remote_command(server["url"]), "environment": home_in(folder)}
        job = {"client": self.module, "server": server, "abilities": list(abilities), "deeds": deeds}
        if self.runs == "python":
            return python_talk.talk({**job, "mode": self.mode})
        if self.runs == "langchain":
            job["holds_session"] = self.mode == "held"
            return filtered([LANGCHAIN_PYTHON, REPOSITORY / "test/e2e/harness/langchain_talk.py"], job)
        return filtered([NODE, NODE_FOLDER / "talk.mjs"], {**job, **({"mode": self.mode} if self.mode else {})})


def filtered(command: list, job: dict) -> dict:
    """What a program says on stdout when it is given the job on stdin."""
    run = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, timeout=TALK_LIMIT)
    assert run.returncode == 0, run.stderr[-4000:]
    return json.loads(run.stdout)


def home_in(folder: Path) -> dict[str, str]:
    """An environment in which a program finds nothing of the user's, and leaves nothing there."""
    return {"HOME": str(folder), "PATH": os.environ["PATH"], "MCP_REMOTE_CONFIG_DIR": str(folder / "mcp-remote")}


def remote_command(url: str) -> list[str]:
    program = NODE_FOLDER / "node_modules" / "mcp-remote" / "dist" / "proxy.js"
    return [str(NODE), str(program), url, "--allow-http", "--transport", "http-only"]


def inspector(url: str, era: str, method: str, *arguments: str, folder: Path) -> dict:
    """What the inspector's command line prints, {"result"} or {"error"}, and its exit code as "code"."""
    launcher = NODE_FOLDER / "node_modules" / ".bin" / "mcp-inspector"
    command = [NODE, launcher, "--cli", url, "--transport", "http", "--protocol-era", era, "--method", method]
    command += ["--format", "json", *arguments]
    environment = {**os.environ, **home_in(folder)}
    run = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TALK_LIMIT, env=environment
    )
    said = run.stdout.strip() or run.stderr.strip()
    assert said.startswith("{"), said
    return {**json.loads(said), "code": run.returncode}


def essence(answer: dict) -> dict:
    """An answer without what must differ between a server and a gateway before it, and without its progress."""
    answer = {key: answer[key] for key in answer if key != "progress"}
    result, error = answer.get("result"), answer.get("error")
    if isinstance(result, list):
        # A gateway merges lists, in an order of its own.
        answer = {**answer, "result": sorted(result, key=lambda entry: json.dumps(entry, sort_keys=True))}
    elif isinstance(result, dict):
        meta = {key: value for key, value in result.get("_meta", {}).items() if key != SERVER_INFO}
        kept = {key: value for key, value in result.items() if key not in ENVELOPE and key != "_meta"}
        answer = {**answer, "result": {**kept, **({"_meta": meta} if meta else {})}}
    elif error:
        error = {**error, "message": re.sub(r"MCP error -\d+: ", "", error["message"])}
        if error.get("code") == LEGACY_NOT_FOUND:
            error["code"] = MODERN_NOT_FOUND
        answer = {**answer, "error": error}
    return answer


def same_progress(one: list[dict], other: list[dict]) -> bool:
    """Whether the steps are the same. The SDKs may drop the last one when the result arrives together with it."""
    return one == other or one == other[:-1] or one[:-1] == other


def assert_same_answer(deed: dict, direct: dict, through: dict) -> None:
    told = f"{deed}\ndirectly: {direct}\nthrough the gateway: {through}"
    assert essence(through) == essence(direct), told
    assert same_progress(through.get("progress", []), direct.get("progress", [])), told


def in_any_order(messages: list[dict]) -> list[str]:
    return sorted(json.dumps(message, sort_keys=True) for message in messages)
