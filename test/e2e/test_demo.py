"""`switchgear demo --once`: trip, fallback, recovery, and a verdict, with nothing else installed."""

import subprocess
import time

import pytest

from harness.gateway import BINARY


@pytest.mark.slow
@pytest.mark.timing
def test_the_demo_goes_as_it_should(figure):
    begin = time.monotonic()
    run = subprocess.run(
        [BINARY, "demo", "--once"], capture_output=True, text=True, timeout=150, stdin=subprocess.DEVNULL
    )
    took = time.monotonic() - begin
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert took < 120
    assert "\x1b[" not in run.stdout, "no colours when nobody watches"
    for word in ("open", "closed", "half_open"):
        assert word in run.stdout
    figure("demo --once", took=f"{took:.0f} s", exit_code=run.returncode)
