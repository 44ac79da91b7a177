/* What exactly would happen if a permission request were allowed, as facts in the order of their
   weight.  Pure.

   What is shown of a command, a path or an argument is all of it, and characters that would not be
   seen are written out: nothing can hide in them. */

import type { PermissionQuestion } from "../client/types.ts";
import { prettyJson, titleText, visibleText } from "../content/visible_text.ts";

export interface Fact {
  label: string;
  text: string;
  form: "text" | "command" | "path" | "json" | "warning";
}

export const PATHS_SHOWN_MAX = 100;
const ARGUMENT_CHARS_MAX = 100_000;
const PATH_KEYS = ["path", "file_path", "filePath", "abs_path", "notebook_path"];
const FOLDER_KEYS = ["cwd", "workdir", "working_directory"];
// Arguments that a diff shows better.
const CONTENT_KEYS = ["content", "contents", "text", "old_string", "new_string", "oldText", "newText", "old_text", "new_text"];

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

function firstText(fields: Fields, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = fields[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** Why the agent asks; null if it does not say so. */
export function reasonOf(question: PermissionQuestion): string | null {
  const reason = question.reason ?? firstText(fieldsOf(question.raw), ["description"]);
  return reason?.trim() ? visibleText(reason) : null;
}

/** The facts; never empty, unless a diff or other content of the call shows what would happen. */
export function factsOf(question: PermissionQuestion, sessionFolder: string): Fact[] {
  const call = question.toolCall;
  const subject = fieldsOf(fieldsOf(question.raw).subject);
  const given = fieldsOf(call?.rawInput);
  const told = new Set<string>();
  const facts: Fact[] = [];
  const add = (label: string, text: string, form: Fact["form"]): void => {
    facts.push({ label, text: form === "text" ? titleText(text) : visibleText(text), form });
  };

  const command = firstText(subject, ["command"]) ?? commandOf(given, told);
  if (command !== null) {
    add("Command", command, "command");
    const folder = firstText(subject, ["cwd"]) ?? toldText(given, FOLDER_KEYS, told) ?? sessionFolder;
    add("In folder", folder, "path");
  }
  const paths = new Set((call?.locations ?? []).map((location) => location.path));
  const path = toldText(given, PATH_KEYS, told);
  if (path !== null && ![...paths].some((known) => known.endsWith(path))) paths.add(path);
  for (const diff of call?.diffs ?? []) paths.delete(diff.path);
  const shown = [...paths].slice(0, PATHS_SHOWN_MAX);
  shown.forEach((each, index) => add(index > 0 ? "" : paths.size > 1 ? "Files" : "File", each, "path"));
  if (paths.size > shown.length) add("", `and ${paths.size - shown.length} more`, "warning");

  const url = toldText(given, ["url"], told);
  if (url !== null) add("Address", url, "command");
  const tool = mcpToolOf(call?.name ?? null, given, told);
  if (tool !== null) add("MCP tool", tool, "text");
  addArguments(question, given, told, add);

  if (facts.length === 0 && (call?.content.length ?? 0) === 0) {
    add("", "The agent does not say what exactly it would do.", "warning");
  }
  return facts;
}

function commandOf(given: Fields, told: Set<string>): string | null {
  for (const key of ["command", "cmd"]) {
    const value = given[key];
    if (typeof value === "string" && value !== "") {
      told.add(key);
      return value;
    }
    if (Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string")) {
      told.add(key);
      // Quoted where a word would look like two.
      return value.map((word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
    }
  }
  return null;
}

function toldText(given: Fields, keys: readonly string[], told: Set<string>): string | null {
  for (const key of keys) {
    const value = given[key];
    if (typeof value === "string" && value !== "") {
      told.add(key);
      return value;
    }
  }
  return null;
}

function mcpToolOf(name: string | null, given: Fields, told: Set<string>): string | null {
  const named = /^mcp__(.+?)__(.+)$/s.exec(name ?? "");
  const server = named?.[1] ?? (typeof given.server === "string" ? given.server : null);
  const tool = named?.[2] ?? (typeof given.tool === "string" ? given.tool : null);
  if (server === null || tool === null) return null;
  if (given.server === server) told.add("server");
  if (given.tool === tool) told.add("tool");
  return `${tool} of ${server}`;
}

function addArguments(
  question: PermissionQuestion,
  given: Fields,
  told: Set<string>,
  add: (label: string, text: string, form: Fact["form"]) => void,
): void {
  const input = question.toolCall?.rawInput;
  if (input === null || input === undefined) return;
  const call = question.toolCall;
  if (call !== null && call.diffs.length > 0) CONTENT_KEYS.forEach((key) => told.add(key));
  const isFields = typeof input === "object" && !Array.isArray(input);
  const rest: unknown = isFields ? Object.fromEntries(Object.entries(given).filter(([key]) => !told.has(key))) : input;
  if (isFields && Object.keys(rest as Fields).length === 0) return;
  if (rest === question.title) return;
  add("Arguments", prettyJson(rest, ARGUMENT_CHARS_MAX), "json");
}
