/* Reads the schema of an agent's form into fields, and checks what a person has entered.

   The schema is untrusted: whatever is not understood becomes a field of kind "unknown", which is
   never shown as a control that it may not be. Pure: no DOM, no clock. */

export interface Choice {
  value: string;
  title: string;
  description: string | null;
}

interface FieldHead {
  name: string;
  label: string;
  description: string | null;
  required: boolean;
}

export type Field = FieldHead &
  (
    | {
        kind: "text";
        format: string | null;
        minLength: number | null;
        maxLength: number | null;
        pattern: string | null;
        initial: string;
      }
    | { kind: "number"; integer: boolean; minimum: number | null; maximum: number | null; initial: string }
    | { kind: "toggle"; initial: boolean }
    | { kind: "choice"; choices: Choice[]; initial: string }
    | { kind: "choices"; choices: Choice[]; minItems: number | null; maxItems: number | null; initial: string[] }
    | { kind: "unknown"; type: string; initial: string }
  );

/** What a control holds: the text of a field, the state of a checkbox, the chosen values. */
export type Entry = string | boolean | string[];

export interface Form {
  title: string | null;
  description: string | null;
  fields: Field[];
}

/** At most this many fields are shown; a form with more cannot be accepted. */
export const FIELDS_MAX = 200;
/** Steps that a pattern of an agent may take on one value. */
const PATTERN_STEPS_MAX = 1_000_000;

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

export function readForm(schema: unknown): Form {
  const object = isObject(schema) ? schema : {};
  const required = new Set(textsOf(object.required));
  const properties = isObject(object.properties) ? Object.entries(object.properties) : [];
  return {
    title: textOf(object.title),
    description: textOf(object.description),
    fields: properties
      .slice(0, FIELDS_MAX)
      .map(([name, property]) => readField(name, property, required.has(name))),
  };
}

function readField(name: string, property: unknown, required: boolean): Field {
  const schema = isObject(property) ? property : {};
  const head: FieldHead = {
    name,
    label: textOf(schema.title) ?? name,
    description: textOf(schema.description),
    required,
  };
  const type = textOf(schema.type) ?? "";
  switch (type) {
    case "string":
      return readString(head, schema);
    case "number":
    case "integer":
      return {
        ...head,
        kind: "number",
        integer: type === "integer",
        minimum: numberOf(schema.minimum),
        maximum: numberOf(schema.maximum),
        initial: numberOf(schema.default)?.toString() ?? "",
      };
    case "boolean":
      return { ...head, kind: "toggle", initial: schema.default === true };
    case "array": {
      const items = isObject(schema.items) ? schema.items : {};
      const choices = readChoices(items.anyOf, items.type === "string" ? items.enum : undefined);
      if (choices.length === 0) break;
      const known = new Set(choices.map((choice) => choice.value));
      return {
        ...head,
        kind: "choices",
        choices,
        minItems: numberOf(schema.minItems),
        maxItems: numberOf(schema.maxItems),
        initial: textsOf(schema.default).filter((value) => known.has(value)),
      };
    }
  }
  return { ...head, kind: "unknown", type: type || "nothing", initial: "" };
}

function readString(head: FieldHead, schema: Json): Field {
  const preset = typeof schema.default === "string" ? schema.default : "";
  const choices = readChoices(schema.oneOf, schema.enum);
  if (choices.length > 0) {
    const initial = choices.some((choice) => choice.value === preset) ? preset : "";
    return { ...head, kind: "choice", choices, initial };
  }
  const format = textOf(schema.format);
  return {
    ...head,
    kind: "text",
    format,
    minLength: numberOf(schema.minLength),
    maxLength: numberOf(schema.maxLength),
    pattern: textOf(schema.pattern),
    initial: format === "date-time" ? localDateTime(preset) : preset,
  };
}

function readChoices(titled: unknown, plain: unknown): Choice[] {
  if (Array.isArray(titled)) {
    return titled
      .filter(isObject)
      .filter((option) => typeof option.const === "string")
      .map((option) => ({
        value: option.const as string,
        title: textOf(option.title) ?? (option.const as string),
        description: textOf(option.description),
      }));
  }
  return textsOf(plain).map((value) => ({ value, title: value, description: null }));
}

/** Whether nothing was entered: such a field is left out of the answer. */
const isEmpty = (entry: Entry): boolean => entry === "" || (Array.isArray(entry) && entry.length === 0);

/** What is wrong with an entry, as a sentence; null if it may be sent. */
export function problemWith(field: Field, entry: Entry): string | null {
  if (field.kind === "unknown") {
    return field.required ? `This page cannot show a field of type ${field.type}. Decline, or answer in another client.` : null;
  }
  if (field.kind === "toggle") return null;
  if (isEmpty(entry)) {
    if (!field.required) return null;
    return field.kind === "choice" || field.kind === "choices" ? "Choose one." : "This field is required.";
  }
  switch (field.kind) {
    case "number":
      return problemWithNumber(field, String(entry).trim());
    case "choice":
      return field.choices.some((choice) => choice.value === entry) ? null : "Choose one of the list.";
    case "choices":
      return problemWithCount((entry as string[]).length, field.minItems, field.maxItems);
    case "text":
      return problemWithText(field, String(entry));
  }
}

function problemWithNumber(field: Extract<Field, { kind: "number" }>, text: string): string | null {
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) return "Enter a number.";
  if (field.integer && !Number.isSafeInteger(value)) return "Enter a whole number.";
  if (field.minimum !== null && value < field.minimum) return `The smallest value is ${field.minimum}.`;
  if (field.maximum !== null && value > field.maximum) return `The largest value is ${field.maximum}.`;
  return null;
}

function problemWithCount(count: number, least: number | null, most: number | null): string | null {
  if (least !== null && count < least) return `Choose at least ${least}.`;
  if (most !== null && count > most) return `Choose at most ${most}.`;
  return null;
}

function problemWithText(field: Extract<Field, { kind: "text" }>, text: string): string | null {
  const length = [...text].length;
  if (field.minLength !== null && length < field.minLength) return `Enter at least ${field.minLength} characters.`;
  if (field.maxLength !== null && length > field.maxLength) {
    return `Enter at most ${field.maxLength} characters; these are ${length}.`;
  }
  const bad = FORMATS[field.format ?? ""]?.(text);
  if (bad) return bad;
  if (field.pattern !== null && matches(field.pattern, text) === false) {
    return `This does not have the form that is asked for: ${field.pattern}`;
  }
  return null;
}

const FORMATS: Record<string, (text: string) => string | null> = {
  email: (text) => (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) ? null : "Enter an e-mail address, such as name@example.org."),
  uri: (text) =>
    /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text) ? null : "Enter a full address, such as https://example.org.",
  date: (text) => (isDate(text) ? null : "Enter a date, such as 2026-11-30."),
  "date-time": (text) => (Number.isNaN(Date.parse(text)) ? "Enter a date and a time." : null),
};

function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Whether a text fits a pattern of an agent; null if the pattern is broken or could take too long. */
export function matches(pattern: string, text: string): boolean | null {
  if (!isQuick(pattern, text.length)) return null;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return null;
  }
}

/* A backtracking engine takes at most length^k steps for k repetitions, if no repeated part has a
   repetition or a choice inside. Groups that repeat and references to groups are therefore refused. */
function isQuick(pattern: string, length: number): boolean {
  const plain = pattern.replace(/\\[^\d\sk]|\[(?:\\.|[^\]\\])*\]/g, "x");
  if (/\\|\)[*+{?]/.test(plain)) return false;
  const repetitions = (plain.match(/[*+{]/g) ?? []).length;
  const optional = (plain.match(/\?/g) ?? []).length;
  return Math.max(length, 2) ** (repetitions + 1) * 2 ** optional <= PATTERN_STEPS_MAX;
}

/** A moment in the form that `<input type="datetime-local">` takes; empty if it is not a moment. */
function localDateTime(moment: string): string {
  const time = Date.parse(moment);
  if (Number.isNaN(time)) return "";
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** The values to send; fields that were left empty are omitted. */
export function valuesOf(fields: readonly Field[], entries: ReadonlyMap<string, Entry>): Record<string, unknown> {
  const values: [string, unknown][] = [];
  for (const field of fields) {
    const entry = entries.get(field.name) ?? field.initial;
    if (field.kind === "unknown" || (field.kind !== "toggle" && isEmpty(entry))) continue;
    values.push([field.name, valueOf(field, entry)]);
  }
  return Object.fromEntries(values);
}

function valueOf(field: Field, entry: Entry): unknown {
  if (field.kind === "number") return Number(String(entry).trim());
  if (field.kind === "text" && field.format === "date-time") return new Date(String(entry)).toISOString();
  return entry;
}
