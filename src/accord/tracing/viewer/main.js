// Puts the page together and listens.

const field = (id) => document.getElementById(id);
const VIEWS = ["timeline", "figures", "problems"];

function showView(name) {
  for (const view of VIEWS) {
    field(`view-${view}`).hidden = view !== name;
    field(`tab-${view}`).setAttribute("aria-selected", String(view === name));
  }
  field("filters").hidden = name !== "timeline";
  if (name === "figures") showFigures();
  if (name === "problems") showProblems();
  if (name === "timeline") draw(true);
}

function options(select, all, words, label) {
  select.append(new Option(all, ""));
  for (const word of words) select.append(new Option(label(word), word));
}

function clearFilters() {
  Object.assign(filter, { text: "", session: "", method: "", direction: "", onlyProblems: false, from: 0, to: wholeTime });
  for (const id of ["search", "by-session", "by-method", "by-direction"]) field(id).value = "";
  field("only-problems").checked = false;
}

let waiting = 0;
function listen() {
  field("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { filter.text = field("search").value; refilter(); }, 150);
  });
  for (const [id, key] of [["by-session", "session"], ["by-method", "method"], ["by-direction", "direction"]])
    field(id).addEventListener("change", () => { filter[key] = field(id).value; refilter(); });
  field("only-problems").addEventListener("change", () => { filter.onlyProblems = field("only-problems").checked; refilter(); });
  field("every-frame").addEventListener("change", () => {
    const at = list.picked >= 0 ? list.shown[list.picked] : -1;
    filter.everyFrame = field("every-frame").checked;
    refilter();
    if (at >= 0) pick(list.shown.indexOf(filter.everyFrame ? rows[at].frames[0] : rowOfFrame[at]));
  });
  field("whole").addEventListener("click", () => zoom(0, wholeTime));
  field("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const view of VIEWS) field(`tab-${view}`).addEventListener("click", () => showView(view));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field("search")) { event.preventDefault(); field("search").focus(); }
    if (event.key === "Escape") { clearFilters(); refilter(); scroller.focus(); }
  });
  new ResizeObserver(() => { draw(true); drawOverview(); }).observe(scroller);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawOverview);
}

function begin() {
  document.title = `${data.name} – accord trace`;
  field("name").textContent = data.name;
  const version = { v1: "ACP 1", v2: "ACP 2", draft: "ACP draft" }[data.dialect];
  const turns = rows.filter((row) => row.kind === "turn").length;
  const words = [version, `${frameCount.toLocaleString("en")} frames`, `${turns} turn${turns === 1 ? "" : "s"}`, duration(lastTime), data.started ? new Date(data.started).toLocaleString() : "", data.command.join(" ")];
  field("facts").textContent = words.filter(Boolean).join("  ·  ");
  field("facts").title = field("facts").textContent;
  if (data.problems.length) field("tab-problems").append(make("span", "badge", data.problems.length.toLocaleString("en")));
  const counts = new Map();
  for (const row of rows) if (row.method) counts.set(row.method, (counts.get(row.method) ?? 0) + 1);
  options(field("by-session"), data.sessions.length === 1 ? "one session" : "all sessions", data.sessions, (word) => word.length > 24 ? word.slice(0, 23) + "…" : word);
  options(field("by-method"), "all methods", [...counts.keys()].sort(), (word) => `${word} (${counts.get(word)})`);
  listen();
  detail.replaceChildren(make("div", "empty", "Pick a row to see what was said. Arrow keys move, / searches, Esc shows everything."));
  refilter();
  if (list.shown.length && location.hash.startsWith("#")) {
    const number = Number(location.hash.slice(1));
    if (number >= 1 && number <= frameCount) goTo(rowOfFrame[number], number);
  }
}

begin();
