"use strict";
// Asks /live each second and shows the answer. All text goes in as text: a node's name is a client's.
const byId = (id) => document.getElementById(id);
const count = (n) => n.toLocaleString("en-US");
const milliseconds = (s) => (s * 1000).toPrecision(3);
function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) { n /= 1024; unit += 1; }
  return `${n.toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`;
}
function span(seconds) {
  const s = Math.floor(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}
function fill(table, rows) {
  const body = byId(table).tBodies[0];
  body.replaceChildren(...rows.map((row) => {
    const line = document.createElement("tr");
    for (const cell of row) line.insertCell().textContent = cell;
    return line;
  }));
}
function facts(pairs) {
  byId("facts").replaceChildren(...pairs.map(([name, value]) => {
    const box = document.createElement("div");
    const term = document.createElement("dt");
    const data = document.createElement("dd");
    term.textContent = name;
    data.textContent = value;
    box.append(term, data);
    return box;
  }));
}
// Lines over 600 x 150 units, from 0 to the largest value, the latest at the right edge.
function chart(id, series) {
  const most = Math.max(...series.flatMap((line) => line.values), 1e-9);
  const svg = byId(id);
  svg.replaceChildren(...series.map(({values, color}) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    const at = (value, i) => `${600 - (values.length - 1 - i) * 5},${145 - value / most * 135}`;
    line.setAttribute("points", values.map(at).join(" "));
    line.setAttribute("fill", "none");
    line.setAttribute("stroke", color);
    line.setAttribute("stroke-width", "2");
    line.setAttribute("vector-effect", "non-scaling-stroke");
    return line;
  }));
}
function show(live) {
  const patterns = live.nodes.reduce((sum, node) => sum + node.patterns, 0);
  facts([["Running for", span(live.uptime_seconds)], ["Sessions", count(live.sessions)],
    ["Patterns", count(patterns)], ["Connections", count(live.connections)],
    ["Requests under way", count(live.under_way)], ["Failed requests", count(live.failed)],
    ["CPU", `${live.resources.cpu_percent.toFixed(0)} %`],
    ["Memory of the service", bytes(live.resources.resident_bytes)],
    ["Searches that left the GPU", count(live.fallbacks)]]);
  const requests = live.samples.requests;
  const predict = live.samples.predict;
  byId("requests-now").textContent = count(requests.at(-1) ?? 0);
  byId("predict-now").textContent = predict.length > 0 && predict.at(-1)[1] > 0
    ? predict.at(-1).map(milliseconds).join(" and ") : "-";
  chart("requests", [{values: requests, color: "var(--blue)"}]);
  chart("predict", [{values: predict.map((p) => p[0]), color: "var(--blue)"},
    {values: predict.map((p) => p[1]), color: "var(--orange)"}]);
  fill("works", live.works.map((w) => [w.work.replaceAll("_", " "), count(w.count),
    milliseconds(w.p50), milliseconds(w.p95), milliseconds(w.p99)]));
  fill("nodes", live.nodes.map((n) => [n.node_id, count(n.patterns), count(n.recent_patterns),
    count(n.symbols), bytes(n.memory_bytes), count(n.syncs), n.last_sync_seconds.toPrecision(2), n.device,
    bytes(Object.values(n.device_memory_bytes).reduce((sum, b) => sum + b, 0))]));
  byId("no-gpu").hidden = live.gpus.length > 0;
  byId("gpus").hidden = live.gpus.length === 0;
  fill("gpus", live.gpus.map((g) => [g.device, g.name, bytes(g.memory_total_bytes),
    `${bytes(g.memory_used_bytes)} (${(g.memory_used_bytes / g.memory_total_bytes * 100).toFixed(0)} %)`,
    bytes(live.nodes.reduce((sum, n) => sum + (n.device_memory_bytes[g.device] ?? 0), 0))]));
}
async function ask() {
  try {
    const token = sessionStorage.getItem("token");
    const headers = token === null ? {} : {authorization: `Bearer ${token}`};
    const answer = await fetch("/live", {cache: "no-store", headers});
    if (answer.status === 401) {
      const given = window.prompt("A token of this service");
      if (given === null) throw new Error("it wants a token; load the page again to give one");
      sessionStorage.setItem("token", given.trim());
    }
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    const live = await answer.json();
    show(live);
    byId("state").textContent = `version ${live.version}, updated ${new Date().toLocaleTimeString()}`;
  } catch (error) {
    byId("state").textContent = `no answer: ${error.message}`;
    if (error.message.includes("wants a token")) return;
  }
  setTimeout(ask, 1000);
}
ask();
