"""A client with a gateway in between, for the client leg of the conformance suite, which starts it as one program.

through_gateway.py FOLDER CLIENT... URL: a gateway before the server at URL, which leaves its names alone, then CLIENT
with the gateway's URL. Ends with the client's exit code.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness.gateway import Gateway  # noqa: E402

# Seconds. The suite waits for 30, and what it then kills is not the gateway.
READY_LIMIT = 8
CLIENT_LIMIT = 15


def main(folder: str, client: list[str], url: str) -> int:
    gateway = Gateway({"names": "plain", "upstreams": {"suite": {"url": url}}}, Path(tempfile.mkdtemp(dir=folder)))
    try:
        gateway.start(wait=False).wait_ready(READY_LIMIT)
        code = subprocess.run([*client, gateway.url], stdin=subprocess.DEVNULL, timeout=CLIENT_LIMIT).returncode
    except BaseException:
        gateway.abandon()
        raise
    gateway.stop()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:-1], sys.argv[-1]))
