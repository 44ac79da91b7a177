// Elements of what frames say.  Text only ever becomes text: nothing here makes markup of it.

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

const CODE_MAX = 200000;
function cutText(text) {
  return text.length > CODE_MAX ? text.slice(0, CODE_MAX) + `\n… ${text.length - CODE_MAX} characters more` : text;
}

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/g;
function jsonBlock(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "nothing";
  const block = make("pre");
  if (text.length > 60000) { block.textContent = cutText(text); return block; }
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    if (match.index > at) block.append(text.slice(at, match.index));
    block.append(make("span", match[2] ? "k" : match[1] ? "s" : "n", match[1] ?? match[3]));
    if (match[2]) block.append(match[2]);
    at = match.index + match[0].length;
  }
  block.append(text.slice(at));
  return block;
}

function proseBlock(text) {
  const block = make("pre", "prose");
  block.textContent = cutText(text);
  return block;
}

// Colours of a terminal; every other command to it is left out.
const ESCAPES = /\x1b\[([0-9;]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;
function terminalBlock(text) {
  const block = make("pre", "terminal");
  text = cutText(text).replace(/\r\n/g, "\n").replace(/[^\n]*\r(?=[^\n])/g, "");
  let at = 0, look = new Set();
  const put = (piece) => { if (piece) block.append(make("span", [...look].join(" "), piece)); };
  for (const match of text.matchAll(ESCAPES)) {
    put(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[1] === undefined) continue;
    for (const code of match[1].split(";").map(Number)) {
      if (code === 0) look = new Set();
      else if (code === 1 || code === 2) look.add("a" + code);
      else if (code === 22) { look.delete("a1"); look.delete("a2"); }
      else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97) || code === 39) {
        look = new Set([...look].filter((name) => name.length < 3));
        if (code !== 39) look.add("a" + (code >= 90 ? code - 60 : code));
      }
    }
  }
  put(text.slice(at));
  return block;
}

// Lines that differ, by the longest common sequence; too much at once is shown as replaced.
function diffLines(before, after) {
  const a = before === "" ? [] : before.split("\n"), b = after === "" ? [] : after.split("\n");
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  while (tail < a.length - head && tail < b.length - head
         && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail);
  const middle = [];
  if (x.length * y.length > 1500000) {
    for (const line of x) middle.push(["del", line]);
    for (const line of y) middle.push(["add", line]);
  } else {
    const width = y.length + 1, common = new Uint32Array((x.length + 1) * width);
    for (let i = x.length - 1; i >= 0; i -= 1)
      for (let j = y.length - 1; j >= 0; j -= 1)
        common[i * width + j] = x[i] === y[j] ? common[(i + 1) * width + j + 1] + 1
          : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    let i = 0, j = 0;
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) { middle.push(["", x[i]]); i += 1; j += 1; }
      else if (j >= y.length || (i < x.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) middle.push(["del", x[i++]]);
      else middle.push(["add", y[j++]]);
    }
  }
  const around = 3;
  const lines = [];
  if (head > around) lines.push(["at", `… ${head - around} lines`]);
  for (const line of a.slice(Math.max(0, head - around), head)) lines.push(["", line]);
  lines.push(...middle);
  for (const line of a.slice(a.length - tail, a.length - tail + around)) lines.push(["", line]);
  if (tail > around) lines.push(["at", `… ${tail - around} lines`]);
  return lines;
}

const SIGNS = { add: "+", del: "-", at: " ", "": " " };
function diffBlock(lines) {
  const block = make("pre", "diff");
  for (const [look, line] of lines.slice(0, 3000)) block.append(make("span", look, `${SIGNS[look]} ${line}`));
  if (lines.length > 3000) block.append(make("span", "at", `  … ${lines.length - 3000} lines more`));
  return block;
}

function patchLines(text) {
  return text.split("\n").map((line) => line.startsWith("+++") || line.startsWith("---") || line.startsWith("@@") ? ["at", line]
    : line.startsWith("+") ? ["add", line.slice(1)] : line.startsWith("-") ? ["del", line.slice(1)]
    : ["", line.startsWith(" ") ? line.slice(1) : line]);
}

function diffOf(item) {
  const parts = [];
  if (isObject(item.patch) && typeof item.patch.text === "string") parts.push(diffBlock(patchLines(item.patch.text)));
  if (typeof item.newText === "string") {
    const before = typeof item.oldText === "string" ? item.oldText : "";
    parts.push(make("div", "file", `${item.path}${item.oldText == null ? " (new file)" : ""}`), diffBlock(diffLines(before, item.newText)));
  }
  for (const hunk of Array.isArray(item.hunks) ? item.hunks : []) {
    if (!isObject(hunk)) continue;
    parts.push(make("div", "file", `${item.path}:${hunk.newStart}`), diffBlock(patchLines(String(hunk.content))));
  }
  if (parts.length === 0) for (const change of Array.isArray(item.changes) ? item.changes : [])
    if (isObject(change)) parts.push(make("div", "file", `${change.operation} ${change.oldPath ? change.oldPath + " → " : ""}${change.path}`));
  return parts;
}

function textOf(content) {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(textOf).join("");
  if (!isObject(content)) return "";
  if (typeof content.text === "string") return content.text;
  if (content.content !== undefined) return textOf(content.content);
  if (isObject(content.resource)) return typeof content.resource.text === "string" ? content.resource.text : `[${content.resource.uri}]`;
  if (content.type === "resource_link") return `[${content.uri}]`;
  return typeof content.type === "string" ? `[${content.type}]` : "";
}

function bytesOf(base64) {
  try { return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)); } catch { return new Uint8Array(); }
}

// What a terminal shows in the end: of v1 what was last polled, of v2 what was told piece by piece.
function terminalText(session, terminalId) {
  let text = null, decoder = new TextDecoder();
  for (const row of rows) {
    if (row.session !== session) continue;
    if (row.kind === "terminal") {
      const first = updateOf(frameValue(row.frames[0]));
      if (!first || first.terminalId !== terminalId) continue;
      for (const number of row.frames) {
        const update = updateOf(frameValue(number)) || {};
        if (isObject(update.output) && typeof update.output.data === "string") { decoder = new TextDecoder(); text = decoder.decode(bytesOf(update.output.data), { stream: true }); }
        if (typeof update.data === "string") text = (text ?? "") + decoder.decode(bytesOf(update.data), { stream: true });
      }
    } else if (row.method === "terminal/output" && row.kind === "call" && row.frames.length > 1) {
      const asked = frameValue(row.frames[0]), answer = frameValue(row.frames[1]);
      if (isObject(asked) && isObject(asked.params) && asked.params.terminalId === terminalId
          && isObject(answer) && isObject(answer.result) && typeof answer.result.output === "string") text = answer.result.output;
    }
  }
  return text;
}

function contentBlocks(session, items) {
  const parts = [];
  for (const item of Array.isArray(items) ? items : isObject(items) ? [items] : []) {
    if (!isObject(item)) continue;
    if (item.type === "diff") parts.push(...diffOf(item));
    else if (item.type === "terminal") {
      const text = terminalText(session, item.terminalId) ?? (typeof item.stdout === "string" ? item.stdout + (item.stderr ?? "") : null);
      parts.push(make("div", "file", `terminal ${item.terminalId}`), text === null ? make("div", "empty", "no output was sent") : terminalBlock(text));
    } else parts.push(proseBlock(textOf(item)));
  }
  return parts;
}
