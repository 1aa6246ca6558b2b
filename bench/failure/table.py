"""The tables that the failure benchmark prints: Markdown, fit for docs/benchmarks.md."""

COLUMNS = ("scenario", "through", "trips after", "refused while well", "load in the outage", "load in recovery",
           "10 in a row after", "99 % after", "p50", "p99", "primary", "stand-in", "error")
RATIOS = ("scenario", "through", "errors", "load in the outage", "p99")


def seconds(value, never="no"):
    if value is None:
        return never
    if isinstance(value, str):
        return value
    return f"{value * 1000:.0f} ms" if value < 0.9995 else f"{value:.1f} s"


def share(value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value * 100:.{1 if 0 < value < 0.0995 or 0.9005 < value < 0.9995 else 0}f} %"


def ratio(mine, beside):
    if isinstance(mine, str) or isinstance(beside, str) or not beside:
        return "-"
    return f"{mine / beside:.2g}x" if 0 < mine / beside < 0.0995 else f"{mine / beside:.2f}x"


def cells(scenario, name, found):
    return (scenario, name, seconds(found["trip"], "never"), f"{found['refused_while_well']} of {found['calls_while_well']}",
            share(found["load_in_outage"]), share(found["load_in_recovery"]), seconds(found["back"]),
            seconds(found["whole"]), seconds(found["p50"]), seconds(found["p99"]), share(found["primary"]),
            share(found["stand-in"]), share(found["error"]))


def text(head, rows):
    lines = [head, tuple("---" if column < 2 else "---:" for column in range(len(head))), *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(len(head))]

    def line(row):
        padded = (cell.ljust(width) if column < 2 else cell.rjust(width)
                  for column, (cell, width) in enumerate(zip(row, widths)))
        return "| " + " | ".join(padded) + " |"

    return "\n".join(map(line, lines))


def whole(results):
    """`results`: rows of (scenario, system, figures)."""
    return text(COLUMNS, [cells(*row) for row in results])


def beside_direct(results):
    """What a gateway changes, as ratios to no gateway at all in the same scenario and run; empty without that."""
    direct = {scenario: found for scenario, name, found in results if name == "direct"}
    rows = [(scenario, name, ratio(found["error"], direct[scenario]["error"]),
             ratio(found["load_in_outage"], direct[scenario]["load_in_outage"]),
             ratio(found["p99"], direct[scenario]["p99"]))
            for scenario, name, found in results if scenario in direct and name != "direct"]
    return text(RATIOS, rows) if rows else ""
