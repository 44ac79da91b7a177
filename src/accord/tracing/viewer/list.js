// The list: only the lines that can be seen exist, however long the recording is.

const ROW_HEIGHT = 26;
const scroller = document.getElementById("scroller");
const spacer = document.getElementById("spacer");
const list = { shown: [], picked: -1, drawn: "" };

function looksOf(status) {
  if (/^(completed|ok|end_turn|granted|exit 0)$/.test(status)) return "status good";
  return /^(error|failed|refusal|denied|exit )/.test(status) ? "status bad" : "status";
}

function ruleBadges(problems) {
  return problems.slice(0, 2).map((at) => {
    const [, rule, level, sentence, detail] = data.problems[at];
    const badge = make("span", level === "must" ? "rule" : "rule should", rule);
    badge.title = detail ? `${sentence}: ${detail}` : sentence;
    return badge;
  });
}

function fallBar(row) {
  const fall = make("span", "fall");
  const span = Math.max(filter.to - filter.from, 1e-9);
  const end = row.end === null ? wholeTime : row.end;
  const left = Math.max(0, (row.start - filter.from) / span), right = Math.min(1, (end - filter.from) / span);
  const bar = make("i", row.kind + (row.end === null ? " open" : ""));
  bar.style.left = `min(${(left * 100).toFixed(3)}%, calc(100% - 2px))`;
  bar.style.width = `${Math.max(0, (right - left) * 100).toFixed(3)}%`;
  fall.append(bar);
  return fall;
}

function rowLine(row) {
  const line = make("div", `row ${row.kind}${row.turn >= 0 ? " in-turn" : ""}`);
  const name = row.kind === "tool" ? "tool call" : row.kind === "permission" ? "permission" : row.method || row.kind;
  const words = make("span", "words", ...ruleBadges(row.problems), make("span", "title", row.title.replace(ESCAPES, "")));
  if (row.frames.length > 2 || row.kind === "stream") words.append(make("span", "times", `×${row.frames.length}`));
  if (row.status) words.append(make("span", looksOf(row.status), row.status.replace(ESCAPES, "")));
  const what = make("span", "what", name);
  what.title = row.method;
  line.append(make("span", "time", row.start.toFixed(3)), make("span", "who", ARROWS[row.speaker] ?? "·"), what,
    make("span", "took", tookOf(row)), words, fallBar(row));
  return line;
}

function frameLine(number) {
  const row = rows[rowOfFrame[number]];
  const line = make("div", "row frame-line");
  const words = make("span", "words wide", ...ruleBadges(problemsOfFrame.get(number) ?? []), frameWords(number));
  line.append(make("span", "time", frameTime(number).toFixed(3)), make("span", "who", ARROWS[frameSpeaker(number)]),
    make("span", "what", frameLabel(number)), make("span", "took", row.frames[row.frames.length - 1] === number && row.frames.length === 2 ? tookOf(row) : ""),
    words);
  return line;
}

function draw(force) {
  const first = Math.max(0, Math.floor(scroller.scrollTop / ROW_HEIGHT) - 8);
  const last = Math.min(list.shown.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / ROW_HEIGHT) + 8);
  const drawn = `${first} ${last} ${list.picked}`;
  if (!force && drawn === list.drawn) return;
  list.drawn = drawn;
  const lines = document.createDocumentFragment();
  for (let at = first; at < last; at += 1) {
    const line = filter.everyFrame ? frameLine(list.shown[at]) : rowLine(rows[list.shown[at]]);
    line.style.top = `${at * ROW_HEIGHT}px`;
    line.dataset.at = at;
    line.setAttribute("role", "option");
    line.setAttribute("aria-selected", at === list.picked);
    if (at === list.picked) line.classList.add("picked");
    lines.append(line);
  }
  spacer.replaceChildren(lines);
}

let drawing = false;
scroller.addEventListener("scroll", () => {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => { drawing = false; draw(false); });
}, { passive: true });

function refilter() {
  const kept = list.picked >= 0 ? list.shown[list.picked] : -1;
  const kind = list.everyFrame;
  list.shown = shownNumbers();
  list.everyFrame = filter.everyFrame;
  list.picked = kind === filter.everyFrame ? list.shown.indexOf(kept) : -1;
  spacer.style.height = `${list.shown.length * ROW_HEIGHT}px`;
  const total = filter.everyFrame ? frameCount : rows.length;
  document.getElementById("count").textContent =
    `${list.shown.length === total ? "" : list.shown.length.toLocaleString("en") + " of "}${total.toLocaleString("en")} ${filter.everyFrame ? "frames" : "rows"}`;
  document.getElementById("whole").hidden = filter.from === 0 && filter.to === wholeTime;
  if (list.picked >= 0) reveal(list.picked);
  draw(true);
  drawOverview();
}

function reveal(at) {
  const top = at * ROW_HEIGHT;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top + ROW_HEIGHT > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top - scroller.clientHeight / 2;
}

function pick(at, frameNumber) {
  if (at < 0 || at >= list.shown.length) return;
  list.picked = at;
  reveal(at);
  draw(true);
  if (filter.everyFrame) showRow(rows[rowOfFrame[list.shown[at]]], list.shown[at]);
  else showRow(rows[list.shown[at]], frameNumber);
}

// Shows a row or a frame wherever it is: what hides it is taken away.
function goTo(index, frameNumber) {
  showView("timeline");
  const wanted = filter.everyFrame ? frameNumber ?? rows[index].frames[0] : index;
  if (!list.shown.includes(wanted)) {
    clearFilters();
    refilter();
  }
  pick(list.shown.indexOf(wanted), frameNumber);
}

spacer.addEventListener("click", (event) => {
  const line = event.target.closest(".row");
  if (line) pick(Number(line.dataset.at));
});
spacer.addEventListener("dblclick", (event) => {
  const line = event.target.closest(".row.turn");
  if (line && !filter.everyFrame) { const row = rows[list.shown[Number(line.dataset.at)]]; zoom(row.start, row.end ?? wholeTime); }
});
scroller.addEventListener("keydown", (event) => {
  const page = Math.floor(scroller.clientHeight / ROW_HEIGHT) - 1;
  const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -list.shown.length, End: list.shown.length };
  if (!(event.key in steps) || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  pick(Math.min(list.shown.length - 1, Math.max(0, list.picked + steps[event.key])));
});
