"""The two proxies that are measured, and the tool server behind them, as processes on chosen cores."""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("SWITCHGEAR_BUILD", ROOT / "build/release"))
PROXY_CORE, LOAD_CORE = "0", "1"

NGINX = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
{user}
events {{ worker_connections 20000; }}
http {{
  access_log off;
  tcp_nodelay on;
  keepalive_timeout 3600s;
  keepalive_requests 1000000000;
  client_body_buffer_size 64k;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream tools {{
    server 127.0.0.1:{server};
    keepalive 256;
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
  }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://tools;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffer_size 16k;
      proxy_buffers 8 64k;
      proxy_busy_buffers_size 128k;
      proxy_max_temp_file_size 0;
    }}
  }}
}}
"""

# The limits that would end a long session early are the only settings that differ from the defaults.
GATEWAY = """
listen: 127.0.0.1:{port}
admin: 127.0.0.1:{admin}
names: plain
threads: 1
log: error
state: {state}
upstreams:
  bench: {{url: "http://127.0.0.1:{server}/mcp"}}
"""


def commit():
    found = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True).stdout.strip()
    return found or "unknown"


def processor():
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown processor"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, what, limit=20):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise SystemExit(f"bench: {what} did not come up within {limit} s")


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def answers_ok(url):
    try:
        return urllib.request.urlopen(url, timeout=1).status == 200
    except OSError:
        return False


def on_core(core, *command):
    return ["taskset", "-c", core, *map(str, command)]


def nginx_config(folder, port, server):
    return NGINX.format(folder=folder, port=port, server=server, user="user root;" if os.geteuid() == 0 else "")


class Processes:
    """Programs that all end when the `with` block is left."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stack.close()

    def start(self, *command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **options):
        process = subprocess.Popen([*map(str, command)], stdin=stdin, stdout=stdout, **options)

        def end():
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

        self.stack.callback(end)
        return process


class Bench(Processes):
    """The proxies, and beside the load the tool server that all of them forward to."""

    def __init__(self, folder):
        super().__init__(folder)
        self.server = free_port()

    def __enter__(self):
        self._start(LOAD_CORE, BUILD / "bench_load", "server", "--port", self.server)
        wait_until(lambda: accepts(self.server), "the tool server")
        return self

    def _start(self, core, *command):
        return self.start(*on_core(core, *command))

    def nginx(self):
        """(port, process id of the one worker)"""
        port = free_port()
        config = self.folder / "nginx.conf"
        config.write_text(nginx_config(self.folder, port, self.server))
        master = self._start(PROXY_CORE, "nginx", "-c", config, "-p", self.folder)
        wait_until(lambda: accepts(port), "nginx")
        children = pathlib.Path(f"/proc/{master.pid}/task/{master.pid}/children")
        wait_until(lambda: children.read_text().split(), "the worker of nginx")
        return port, int(children.read_text().split()[0])

    def redis(self):
        """(port, process id); beside the load, so that it takes nothing from a gateway when it works."""
        port = free_port()
        process = self._start(LOAD_CORE, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
                              "--dir", self.folder)
        wait_until(lambda: accepts(port), "redis-server")
        return port, process.pid

    def gateway(self, name, state="memory"):
        """(port, process id, admin port)"""
        port, admin = free_port(), free_port()
        config = self.folder / f"{name}.yaml"
        config.write_text(GATEWAY.format(port=port, admin=admin, server=self.server, state=state))
        process = self._start(PROXY_CORE, BUILD / "switchgear", "serve", config)
        wait_until(lambda: answers_ok(f"http://127.0.0.1:{admin}/readyz"), "the gateway")
        return port, process.pid, admin

    def load(self, kind, port, **options):
        """One run of the load generator; its figures."""
        words = [word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", str(value))]
        done = subprocess.run(
            on_core(LOAD_CORE, BUILD / "bench_load", kind, "--port", port, *words),
            stdout=subprocess.PIPE, text=True, timeout=300)
        if done.returncode != 0:
            raise SystemExit(f"bench: load {kind} {words} on port {port} failed")
        return json.loads(done.stdout)
