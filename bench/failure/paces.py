"""How long everything takes, and the thresholds of Switchgear that fit it."""
from dataclasses import dataclass

STAND_IN = "The stock cannot be asked right now; say so, and do not guess."


@dataclass
class Pace:
    """Seconds, and calls a second. `policy`: YAML of the breaker and the tool."""

    rate: float
    latency: float  # of the tool while it is well
    patience: float  # of the client
    healthy: float
    outage: float
    flap: float  # each stretch of the flapping tool; an odd number of them is the outage, so that it ends sick
    recovery: float  # at most
    calm: float  # after the recovery
    policy: str


# The thresholds are a sixth of the defaults and less, so that an outage fits into seconds.
SCALED = Pace(rate=100, latency=0.05, patience=5, healthy=10, outage=15, flap=3, recovery=30, calm=3, policy=f"""\
breaker: {{window: 10s, p99: 300ms, cooldown: 2s, ramp: 2s}}
tools: {{stock: {{deadline: 1s, fallback: [{{static: {{text: "{STAND_IN}"}}}}]}}}}
""")
QUICK = Pace(rate=60, latency=0.05, patience=2, healthy=2, outage=8, flap=1.6, recovery=20, calm=1, policy=f"""\
breaker: {{window: 10s, p99: 300ms, cooldown: 1s, growth: 1, ramp: 1s}}
tools: {{stock: {{deadline: 1s, fallback: [{{static: {{text: "{STAND_IN}"}}}}]}}}}
""")
DEFAULTS = Pace(rate=100, latency=0.2, patience=60, healthy=60, outage=90, flap=18, recovery=300, calm=10, policy=f"""\
tools: {{stock: {{fallback: [{{static: {{text: "{STAND_IN}"}}}}]}}}}
""")
