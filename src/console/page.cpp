#include "console/answers.hpp"

namespace switchgear::console {

namespace {

// Names and reasons come from upstreams: the script only ever sets textContent, never HTML.
constexpr std::string_view text = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Switchgear</title>
<style>
  :root { color-scheme: light dark; --line: #8883; --ok: #1a7f37; --warn: #9a6700; --bad: #cf222e; --dim: #6e7781; }
  @media (prefers-color-scheme: dark) { :root { --ok: #3fb950; --warn: #d29922; --bad: #f85149; --dim: #8b949e; } }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.3rem; margin: 0 0 .2rem; }
  h2 { font-size: 1rem; margin: 2rem 0 .4rem; }
  p { margin: 0; color: var(--dim); }
  .scroll { overflow-x: auto; }
  table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
  th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
  th { font-weight: 600; color: var(--dim); font-size: .85rem; }
  td.n, th.n { text-align: right; }
  td.why { white-space: normal; color: var(--dim); }
  .closed, .ready { color: var(--ok); }
  .half_open, .starting { color: var(--warn); font-weight: 600; }
  .open, .degraded { color: var(--bad); font-weight: 600; }
</style>
</head>
<body>
<h1>Switchgear</h1>
<p id="summary" role="status">asking the gateway ...</p>
<h2>Breakers</h2>
<div class="scroll"><table>
  <thead><tr><th>name</th><th>kind</th><th>state</th><th>mode</th><th class="n">calls</th><th class="n">errors</th>
  <th class="n">limit</th><th class="n">p99</th><th class="n">limit</th><th class="n">since</th><th class="n">retry in</th>
  <th>last reason</th></tr></thead>
  <tbody id="circuits"></tbody>
</table></div>
<h2>Upstreams</h2>
<div class="scroll"><table>
  <thead><tr><th>alias</th><th>state</th><th>server</th><th>protocol</th><th class="n">tools</th><th>reason</th></tr></thead>
  <tbody id="upstreams"></tbody>
</table></div>
<script>
"use strict";
const share = x => (100 * x).toFixed(1) + " %";
const length = ms => ms < 1000 ? Math.round(ms) + " ms" : ms < 120000 ? (ms / 1000).toFixed(1) + " s"
    : ms < 7200000 ? Math.round(ms / 60000) + " min" : Math.round(ms / 3600000) + " h";
function cell(row, text, kind) {
  const td = row.insertCell();
  td.textContent = text;
  if (kind) td.className = kind;
}
function fill(id, rows, draw, none) {
  const body = document.createElement("tbody");
  body.id = id;
  for (const each of rows) draw(body.insertRow(), each);
  if (!rows.length) { cell(body.insertRow(), none, "why"); body.rows[0].cells[0].colSpan = 12; }
  document.getElementById(id).replaceWith(body);
}
function circuit(row, c) {
  cell(row, c.name); cell(row, c.kind); cell(row, c.state, c.state); cell(row, c.mode);
  cell(row, c.calls, "n");
  cell(row, c.calls ? share(c.error_rate) : "–", "n"); cell(row, share(c.limit.error_rate), "n");
  cell(row, c.calls ? length(c.p99_ms) : "–", "n"); cell(row, length(c.limit.p99_ms), "n");
  cell(row, length(c.since_ms), "n"); cell(row, c.retry_after_ms ? length(c.retry_after_ms) : "–", "n");
  cell(row, c.reason, "why");
}
function upstream(row, u) {
  cell(row, u.alias); cell(row, u.state, u.state); cell(row, u.server); cell(row, u.protocol);
  cell(row, u.tools, "n"); cell(row, u.reason, "why");
}
async function refresh() {
  const summary = document.getElementById("summary");
  try {
    const answer = await fetch("/api/circuits", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    if (!answer.ok) throw new Error("HTTP " + answer.status);
    const now = await answer.json();
    const open = now.circuits.filter(c => c.state !== "closed").length;
    const down = now.upstreams.filter(u => u.state !== "ready").length;
    summary.textContent = (open ? open + " of " + now.circuits.length + " breakers not closed" : "all breakers closed")
        + ", " + (down ? down + " of " + now.upstreams.length + " upstreams not ready" : "all upstreams ready");
    const order = { open: 0, half_open: 1, closed: 2 };
    now.circuits.sort((a, b) => order[a.state] - order[b.state] || a.name.localeCompare(b.name));
    fill("circuits", now.circuits, circuit, "no tool has been called yet");
    fill("upstreams", now.upstreams, upstream, "no upstream is configured");
  } catch (problem) {
    summary.textContent = "the gateway does not answer: " + problem.message;
  }
  setTimeout(refresh, 1000);
}
refresh();
</script>
</body>
</html>
)html";

}  // namespace

std::string_view page() {
  return text;
}

}  // namespace switchgear::console
