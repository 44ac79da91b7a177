// The panel of details, the figures, the broken rules, and the strip of turns.

const detail = document.getElementById("detail");
const FRAMES_AT_ONCE = 50;

function facts(pairs) {
  const terms = make("dl");
  for (const [name, value] of pairs) if (value !== "" && value !== null && value !== undefined) terms.append(make("dt", "", name), make("dd", "", String(value)));
  return terms;
}

function section(title, ...parts) {
  return parts.length ? [make("h3", "", title), ...parts] : [];
}

function joinedUpdates(row) {
  const whole = {}; let content = [];
  for (const number of row.frames) {
    const value = frameValue(number), update = updateOf(value);
    if (!update) continue;
    for (const [key, member] of Object.entries(update)) if (member !== null) whole[key] = member;
    if (Array.isArray(update.content)) content = update.content;
    else if (update.sessionUpdate === "tool_call_content_chunk" && isObject(update.content)) content = [...content, update.content];
    else if (Array.isArray(update.output)) content = update.output;
  }
  return { whole, content };
}

function bodyOfTool(row) {
  const { whole, content } = joinedUpdates(row);
  const life = make("div", "life");
  for (const [time, status] of row.steps) life.append(make("span", "", status || "seen", make("small", "", `+${duration(time - row.start)}`)));
  const waits = rows.filter((other) => other.kind === "permission" && other.turn === row.turn && asksFor(other, whole.toolCallId ?? whole.id));
  return [
    ...section("Life", life),
    ...section("Permission", ...waits.map((wait) => { const button = make("button", "", `waited ${tookOf(wait)}: ${wait.status || "open"}`); button.onclick = () => goTo(wait.index); return button; })),
    ...section("Content", ...contentBlocks(row.session, content)),
    ...section("Places", ...(Array.isArray(whole.locations) ? whole.locations : []).filter(isObject).map((place) => make("div", "file", place.path + (place.line ? `:${place.line}` : "")))),
    ...(whole.rawInput === undefined ? [] : section("Input", jsonBlock(whole.rawInput))),
    ...(whole.rawOutput === undefined ? [] : section("Output", jsonBlock(whole.rawOutput))),
  ];
}

function asksFor(row, callId) {
  const asked = frameValue(row.frames[0]), params = isObject(asked) && isObject(asked.params) ? asked.params : {};
  const call = isObject(params.toolCall) ? params.toolCall : isObject(params.subject) ? params.subject.toolCall ?? params.subject : {};
  return callId !== undefined && ((call && call.toolCallId === callId) || params.toolCallId === callId);
}

function bodyOfPermission(row) {
  const asked = frameValue(row.frames[0]), params = isObject(asked) && isObject(asked.params) ? asked.params : {};
  const options = make("ul", "options");
  for (const option of Array.isArray(params.options) ? params.options : []) {
    if (!isObject(option)) continue;
    const chosen = option.optionId === row.status;
    options.append(make("li", chosen ? "chosen" : "", `${chosen ? "✓ " : "  "}${option.name} (${option.kind ?? option.optionId})`));
  }
  const call = isObject(params.toolCall) ? params.toolCall : isObject(params.subject) && isObject(params.subject.toolCall) ? params.subject.toolCall : {};
  return [...(options.children.length ? section("Options", options) : []), ...section("Subject", ...contentBlocks(row.session, call.content))];
}

function bodyOfTurn(row) {
  const inside = rows.filter((other) => other.turn === row.index);
  const sum = (kind) => inside.filter((other) => other.kind === kind && other.end !== null).reduce((total, other) => total + other.end - other.start, 0);
  const count = (kind) => inside.filter((other) => other.kind === kind).length;
  const asked = frameValue(row.frames[0]);
  const first = inside.find((other) => other.kind === "stream" || other.kind === "tool");
  const button = make("button", "", "Zoom to this turn");
  button.onclick = () => zoom(row.start, row.end ?? wholeTime);
  return [
    ...section("Turn", facts([
      ["first sign of life", first ? `after ${duration(first.start - row.start)}` : ""],
      ["tool calls", count("tool") ? `${count("tool")}, ${duration(sum("tool"))} together` : "none"],
      ["waited for permission", count("permission") ? `${count("permission") === 1 ? "once" : count("permission") + " times"}, ${duration(sum("permission"))}` : ""],
      ["messages", count("stream")],
    ]), button),
    ...section("Prompt", proseBlock(textOf(isObject(asked) && isObject(asked.params) ? asked.params.prompt ?? asked.params.content : ""))),
  ];
}

function bodyOfCall(row) {
  const asked = frameValue(row.frames[0]), answer = row.frames.length > 1 ? frameValue(row.frames[1]) : undefined;
  const parts = [];
  const params = isObject(asked) && isObject(asked.params) ? asked.params : {};
  if (row.method === "fs/write_text_file" && typeof params.content === "string") parts.push(...section("Content", jsonBlock(params.content)));
  if (isObject(answer) && isObject(answer.result)) {
    if (typeof answer.result.output === "string") parts.push(...section("Output", terminalBlock(answer.result.output)));
    else if (typeof answer.result.content === "string") parts.push(...section("Content", jsonBlock(answer.result.content)));
  }
  return parts;
}

function bodyOf(row) {
  if (row.kind === "turn") return bodyOfTurn(row);
  if (row.kind === "tool") return bodyOfTool(row);
  if (row.kind === "permission") return bodyOfPermission(row);
  if (row.kind === "call") return bodyOfCall(row);
  if (row.kind === "stderr") return section("Text", terminalBlock(row.frames.map(frameText).join("\n")));
  if (row.kind === "terminal") {
    const { whole } = joinedUpdates(row);
    return section("Terminal", make("div", "file", `${whole.command ?? ""}${whole.cwd ? "  in " + whole.cwd : ""}`), terminalBlock(terminalText(row.session, whole.terminalId) ?? ""));
  }
  if (row.kind === "stream") return section("Text", proseBlock(row.frames.map((number) => { const update = updateOf(frameValue(number)); return update ? textOf(update.content ?? update.text) : ""; }).join("")));
  if (row.kind === "noise") return section("Text", terminalBlock(row.frames.map(frameText).join("\n")));
  return [];
}

function problemBox(at) {
  const [, rule, level, sentence, words] = data.problems[at];
  return make("div", level === "must" ? "broken" : "broken should", make("strong", "", rule), ` ${sentence} `, words ? make("code", "", words) : null);
}

function frameBox(number, open) {
  const box = make("div", "frame");
  const head = make("div", "", make("span", "time", `#${number}`), make("span", "", ARROWS[frameSpeaker(number)]), make("span", "time", frameTime(number).toFixed(3)), make("span", "sum", frameText(number).slice(0, 200)));
  const raw = make("button", "", "raw");
  head.append(raw);
  box.append(head);
  let body = null, isRaw = false;
  const put = () => {
    const value = frameValue(number);
    const next = isRaw || value === undefined ? jsonBlock(frameText(number)) : jsonBlock(value);
    if (body) body.replaceWith(next); else box.append(next);
    body = next;
    raw.textContent = isRaw ? "pretty" : "raw";
  };
  head.onclick = () => { if (body) { body.remove(); body = null; } else put(); };
  raw.onclick = (event) => { event.stopPropagation(); isRaw = body === null ? true : !isRaw; put(); };
  if (open) put();
  return box;
}

function showRow(row, frameNumber) {
  const name = row.kind === "tool" ? "tool call" : row.method || row.kind;
  detail.replaceChildren(
    make("h2", "", `${name}${row.title ? ": " + row.title : ""}`),
    facts([
      ["from", row.speaker], ["session", row.session], ["at", `${row.start.toFixed(6)} s`],
      ["took", tookOf(row)], ["ended", row.status], ["frames", row.frames.length],
    ]),
    ...(row.problems.length ? section("Broken rules", ...row.problems.map(problemBox)) : []),
    ...bodyOf(row),
    make("h3", "", "Frames"),
  );
  const boxes = make("div");
  detail.append(boxes);
  let next = 0;
  const start = frameNumber ? row.frames.indexOf(frameNumber) : 0;
  if (start > FRAMES_AT_ONCE) next = start - 5;
  const more = make("button", "", "");
  const add = () => {
    const until = Math.min(row.frames.length, next + FRAMES_AT_ONCE);
    for (; next < until; next += 1) {
      const number = row.frames[next];
      const box = frameBox(number, number === frameNumber || row.frames.length <= 2);
      if (number === frameNumber) box.classList.add("lit");
      boxes.append(box);
    }
    more.textContent = `${row.frames.length - next} frames more`;
    more.hidden = next >= row.frames.length;
  };
  more.onclick = add;
  add();
  detail.append(more);
  detail.scrollTop = 0;
  const lit = frameNumber ? boxes.querySelector(".lit") : null;
  if (lit && row.frames.length > 2) lit.scrollIntoView({ block: "center" });
}

const FIGURES = ["method", "from", "count", "errors", "unanswered", "p50", "p99", "max"];
let figuresBy = -1;
function showFigures() {
  const view = document.getElementById("view-figures");
  const table = make("table"), head = make("tr"), body = make("tbody");
  FIGURES.forEach((name, at) => { const cell = make("th", "", name); cell.onclick = () => { figuresBy = at; showFigures(); }; head.append(cell); });
  const figures = [...data.figures];
  if (figuresBy >= 0) figures.sort((a, b) => typeof a[figuresBy] === "string" ? a[figuresBy].localeCompare(b[figuresBy]) : (b[figuresBy] ?? -1) - (a[figuresBy] ?? -1));
  const longest = Math.max(...figures.map((one) => one[6] ?? 0), 1e-9);
  for (const [method, speaker, count, errors, unanswered, p50, p99, max] of figures) {
    const time = (value) => value === null ? "–" : duration(value);
    const slow = make("td", "", time(p99));
    if (p99 !== null) { const meter = make("span", "meter"); meter.style.width = `${Math.max(1, 60 * p99 / longest)}px`; slow.append(meter); }
    const line = make("tr", "", make("td", "", method), make("td", "", `${ARROWS[speaker]} ${speaker}`), make("td", "", count.toLocaleString("en")), make("td", "", errors || "–"), make("td", "", unanswered || "–"), make("td", "", time(p50)), slow, make("td", "", time(max)));
    line.onclick = () => { clearFilters(); document.getElementById("by-method").value = method; filter.method = method; showView("timeline"); refilter(); };
    body.append(line);
  }
  table.append(make("thead", "", head), body);
  view.replaceChildren(figures.length ? table : make("div", "empty", "Nothing was said."));
}

function showProblems() {
  const view = document.getElementById("view-problems");
  if (data.problems.length === 0) { view.replaceChildren(make("div", "empty", "No rule is broken, as far as a recording shows.")); return; }
  const table = make("table"), body = make("tbody");
  table.append(make("thead", "", make("tr", "", ...["rule", "level", "entry", "what"].map((name) => make("th", "", name)))), body);
  for (const [number, rule, level, sentence, words] of data.problems.slice(0, 5000)) {
    const line = make("tr", "", make("td", "", rule), make("td", "", level), make("td", "", `#${number}`), make("td", "words", words ? `${sentence}: ${words}` : sentence));
    line.onclick = () => goTo(rowOfFrame[number], number);
    body.append(line);
  }
  view.replaceChildren(table);
  if (data.problems.length > 5000) view.append(make("div", "empty", `${data.problems.length - 5000} more`));
}

const canvas = document.getElementById("overview-canvas");
let dragFrom = null, dragTo = null;
function drawOverview() {
  const width = canvas.clientWidth, height = canvas.clientHeight, scale = window.devicePixelRatio || 1;
  canvas.width = width * scale; canvas.height = height * scale;
  const pen = canvas.getContext("2d"), look = getComputedStyle(document.documentElement);
  const colour = (name) => look.getPropertyValue(name).trim();
  pen.scale(scale, scale);
  const x = (time) => 14 + (width - 28) * time / wholeTime;
  const lanes = { turn: [6, 14, "--accent"], stream: [22, 7, "--stream"], tool: [31, 7, "--tool"], permission: [40, 7, "--wait"] };
  const ends = {};
  for (const row of rows) {
    const lane = lanes[row.kind];
    const left = x(row.start), right = Math.max(left + 1.5, x(row.end === null ? wholeTime : row.end));
    if (row.problems.length) { pen.fillStyle = colour("--bad"); pen.fillRect(left, 49, 1.5, 6); }
    // What lies on what is drawn already cannot be seen.
    if (!lane || (ends[row.kind] !== undefined && right <= ends[row.kind])) continue;
    ends[row.kind] = right;
    pen.globalAlpha = row.kind === "turn" ? 0.45 : 1;
    pen.fillStyle = colour(lane[2]);
    pen.fillRect(left, lane[0], right - left - (row.kind === "turn" ? 1 : 0), lane[1]);
    pen.globalAlpha = 1;
    if (row.kind === "turn" && right - left > 60) {
      pen.fillStyle = colour("--text"); pen.font = "11px system-ui, sans-serif";
      pen.save(); pen.beginPath(); pen.rect(left, 0, right - left - 4, height); pen.clip();
      pen.fillText(row.title, left + 4, 17); pen.restore();
    }
  }
  const shade = (from, to) => { pen.fillStyle = colour("--back"); pen.globalAlpha = 0.65; pen.fillRect(from, 0, to - from, height); pen.globalAlpha = 1; };
  if (filter.from > 0) shade(0, x(filter.from));
  if (filter.to < wholeTime) shade(x(filter.to), width);
  if (dragFrom !== null) { pen.fillStyle = colour("--accent"); pen.globalAlpha = 0.2; pen.fillRect(Math.min(dragFrom, dragTo), 0, Math.abs(dragTo - dragFrom), height); pen.globalAlpha = 1; }
}

function zoom(from, to) {
  filter.from = Math.max(0, from);
  filter.to = Math.min(wholeTime, to);
  refilter();
}

canvas.addEventListener("pointerdown", (event) => { dragFrom = dragTo = event.offsetX; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointermove", (event) => { if (dragFrom !== null) { dragTo = event.offsetX; drawOverview(); } });
canvas.addEventListener("pointerup", (event) => {
  if (dragFrom === null) return;
  const time = (x) => Math.min(wholeTime, Math.max(0, (x - 14) / (canvas.clientWidth - 28) * wholeTime));
  const [a, b] = [time(Math.min(dragFrom, event.offsetX)), time(Math.max(dragFrom, event.offsetX))];
  const moved = Math.abs(event.offsetX - dragFrom) > 4;
  dragFrom = null;
  if (moved) { zoom(a, b); return; }
  const turn = rows.find((row) => row.kind === "turn" && row.start <= a && (row.end ?? wholeTime) >= a);
  if (turn) goTo(turn.index); else drawOverview();
});
canvas.addEventListener("dblclick", () => zoom(0, wholeTime));
