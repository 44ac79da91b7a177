"use strict";
// The data of the page, and what can be said about it.  Knows no element of the page.

const data = JSON.parse(document.getElementById("data").textContent);
document.getElementById("data").remove();

const SPEAKERS = ["client", "agent", "stderr", ""];
const ARROWS = { client: "→", agent: "←", stderr: "!", "": "·" };

const rows = data.rows.map((r, index) => ({
  index, kind: data.kinds[r[0]], start: r[1], end: r[2], speaker: r[3],
  session: r[4] < 0 ? "" : data.sessions[r[4]], method: r[5] < 0 ? "" : data.methods[r[5]],
  title: r[6], status: r[7], frames: r[8], turn: r[9], steps: r[10], problems: r[11],
}));
data.rows = null;

const frameCount = data.frames.t.length;
const rowOfFrame = new Int32Array(frameCount + 1);
for (const row of rows) for (const number of row.frames) rowOfFrame[number] = row.index;

const problemsOfFrame = new Map();
data.problems.forEach((problem, at) => {
  if (!problemsOfFrame.has(problem[0])) problemsOfFrame.set(problem[0], []);
  problemsOfFrame.get(problem[0]).push(at);
});

let lastTime = 0;
for (const time of data.frames.t) if (time > lastTime) lastTime = time;
const wholeTime = Math.max(lastTime, 0.001);

const frameTime = (number) => data.frames.t[number - 1];
const frameSpeaker = (number) => SPEAKERS[data.frames.s[number - 1]];
const frameText = (number) => data.frames.raw[number - 1];

// A frame as a value; undefined where it is no JSON.  Read when it is looked at, and kept a while.
const parsed = new Map();
function frameValue(number) {
  if (parsed.has(number)) return parsed.get(number);
  let value;
  try { value = JSON.parse(frameText(number)); } catch { value = undefined; }
  if (parsed.size > 5000) parsed.clear();
  parsed.set(number, value);
  return value;
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function updateOf(value) {
  const params = isObject(value) && isObject(value.params) ? value.params : {};
  if (isObject(params.update)) return params.update;
  return isObject(params.data) ? { sessionUpdate: params.type, ...params.data } : null;
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "…";
  if (seconds < 0.0001) return "0";
  if (seconds < 1) return (seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0) + " ms";
  return seconds < 100 ? seconds.toFixed(2) + " s" : seconds.toFixed(0) + " s";
}

const INSTANT = new Set(["update", "note", "noise", "gap", "end", "answer", "stderr"]);
function tookOf(row) {
  if (INSTANT.has(row.kind) || (row.kind === "stream" && row.frames.length === 1)) return "";
  return row.end === null ? "open" : duration(Math.max(0, row.end - row.start));
}

function frameLabel(number) {
  const speaker = frameSpeaker(number);
  if (speaker === "stderr" || speaker === "") return rows[rowOfFrame[number]].kind;
  const value = frameValue(number);
  if (!isObject(value)) return "no message";
  if (typeof value.method === "string") {
    const update = value.method === "session/update" ? updateOf(value) : null;
    return update && typeof update.sessionUpdate === "string" ? update.sessionUpdate : value.method;
  }
  const row = rows[rowOfFrame[number]];
  const word = "error" in value ? "error" : "answer";
  return row.frames[0] === number ? word : `${word} to ${row.method}`;
}

// What a frame says, without what every frame says.
function frameWords(number) {
  const text = frameText(number);
  if (text.length > 20000) return text.slice(0, 400);
  const value = frameValue(number);
  if (!isObject(value)) return text.slice(0, 400);
  const { jsonrpc, method, ...rest } = value;
  const { sessionUpdate, ...update } = updateOf(value) ?? {};
  if (typeof sessionUpdate === "string" && sessionUpdate.endsWith("_chunk") && update.content) return textOf(update.content).slice(0, 400);
  const said = sessionUpdate ? update : value.params ?? value.result ?? value.error ?? rest;
  return (JSON.stringify(said) ?? "").slice(0, 400);
}

// What is shown now: numbers of rows, or of frames.
const filter = {
  text: "", session: "", method: "", direction: "", onlyProblems: false, everyFrame: false,
  from: 0, to: wholeTime,
};

function matches(text) {
  if (!text) return () => true;
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  return (candidate) => pattern.test(candidate);
}

function directionFits(speaker) {
  if (!filter.direction) return true;
  if (filter.direction === "none") return speaker !== "client" && speaker !== "agent";
  return speaker === filter.direction;
}

function rowFits(row) {
  if (filter.session && row.session !== filter.session) return false;
  if (filter.method && row.method !== filter.method) return false;
  if (filter.onlyProblems && row.problems.length === 0) return false;
  const end = row.end === null ? wholeTime : row.end;
  return row.start <= filter.to && end >= filter.from;
}

function shownNumbers() {
  const fits = matches(filter.text);
  const shown = [];
  if (filter.everyFrame) {
    for (let number = 1; number <= frameCount; number += 1) {
      const time = frameTime(number);
      if (time < filter.from || time > filter.to || !directionFits(frameSpeaker(number))) continue;
      if (filter.onlyProblems && !problemsOfFrame.has(number)) continue;
      const row = rows[rowOfFrame[number]];
      if (filter.session && row.session !== filter.session) continue;
      if (filter.method && row.method !== filter.method) continue;
      if (fits(frameText(number))) shown.push(number);
    }
    return shown;
  }
  for (const row of rows) {
    if (!rowFits(row) || !directionFits(row.speaker)) continue;
    if (!filter.text || fits(row.title) || fits(row.status) || fits(row.method)
        || row.frames.some((number) => fits(frameText(number)))) shown.push(row.index);
  }
  return shown;
}
