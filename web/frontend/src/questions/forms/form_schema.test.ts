import { describe, expect, it } from "vitest";

import { FIELDS_MAX, matches, problemWith, readForm, valuesOf, type Entry, type Field } from "./form_schema.ts";

const field = (schema: unknown, required = false): Field =>
  readForm({ type: "object", properties: { it: schema }, required: required ? ["it"] : [] }).fields[0]!;
const problem = (schema: unknown, entry: Entry, required = false) => problemWith(field(schema, required), entry);
const values = (schema: unknown, entry: Entry) => valuesOf([field(schema)], new Map([["it", entry]]));

describe("reading a form", () => {
  it("makes one field of each property, with its label, hint and default", () => {
    const form = readForm({
      type: "object",
      title: "Release",
      description: "What to publish",
      required: ["version"],
      properties: {
        version: { type: "string", title: "Version", description: "SemVer", default: "1.0.0" },
        retries: { type: "integer", minimum: 0, default: 3 },
        sign: { type: "boolean", default: true },
        channel: { type: "string", oneOf: [{ const: "a", title: "Alpha" }, { const: "b", title: "Beta", description: "later" }] },
        level: { type: "string", enum: ["low", "high"], default: "high" },
        targets: { type: "array", items: { type: "string", enum: ["linux", "mac"] }, default: ["mac", "gone"] },
        parts: { type: "array", items: { anyOf: [{ const: "x", title: "X" }] } },
      },
    });
    expect([form.title, form.description]).toEqual(["Release", "What to publish"]);
    expect(form.fields.map((each) => [each.name, each.kind, each.required, each.initial])).toEqual([
      ["version", "text", true, "1.0.0"],
      ["retries", "number", false, "3"],
      ["sign", "toggle", false, true],
      ["channel", "choice", false, ""],
      ["level", "choice", false, "high"],
      ["targets", "choices", false, ["mac"]],
      ["parts", "choices", false, []],
    ]);
  });

  it.each([null, [], 7, "x", { properties: [] }, { properties: null }])("finds no fields in %j", (schema) => {
    expect(readForm(schema).fields).toEqual([]);
  });

  it.each([{ type: "object" }, {}, null, { type: "array", items: { type: "number" } }, { type: 5 }])(
    "shows no control for %j",
    (schema) => expect(field(schema).kind).toBe("unknown"),
  );

  it("is bounded", () => {
    const properties = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`f${n}`, { type: "string" }]));
    expect(readForm({ properties }).fields).toHaveLength(FIELDS_MAX);
  });
});

describe("checking an entry", () => {
  it.each<[unknown, Entry, string]>([
    [{ type: "string", minLength: 3 }, "ab", "Enter at least 3 characters."],
    [{ type: "string", maxLength: 2 }, "äöü", "Enter at most 2 characters; these are 3."],
    [{ type: "string", format: "email" }, "nobody", "Enter an e-mail address, such as name@example.org."],
    [{ type: "string", format: "uri" }, "example.org", "Enter a full address, such as https://example.org."],
    [{ type: "string", format: "date" }, "2026-02-30", "Enter a date, such as 2026-11-30."],
    [{ type: "string", format: "date-time" }, "soon", "Enter a date and a time."],
    [{ type: "string", pattern: "^v\\d+$" }, "7", "This does not have the form that is asked for: ^v\\d+$"],
    [{ type: "string", enum: ["a"] }, "b", "Choose one of the list."],
    [{ type: "number" }, "1e999", "Enter a number."],
    [{ type: "number" }, "two", "Enter a number."],
    [{ type: "number", minimum: 1 }, "0.5", "The smallest value is 1."],
    [{ type: "number", maximum: 1 }, "1.5", "The largest value is 1."],
    [{ type: "integer" }, "1.5", "Enter a whole number."],
    [{ type: "integer" }, "9007199254740993", "Enter a whole number."],
    [{ type: "array", minItems: 2, items: { type: "string", enum: ["a", "b"] } }, ["a"], "Choose at least 2."],
    [{ type: "array", maxItems: 1, items: { type: "string", enum: ["a", "b"] } }, ["a", "b"], "Choose at most 1."],
  ])("says what is wrong: %j with %j", (schema, entry, sentence) => {
    expect(problem(schema, entry)).toBe(sentence);
  });

  it.each<[unknown, Entry]>([
    [{ type: "string", maxLength: 2 }, "😀😀"],
    [{ type: "string", format: "email" }, "a@b.example"],
    [{ type: "string", format: "uri" }, "https://example.org/x"],
    [{ type: "string", format: "date" }, "2028-02-29"],
    [{ type: "string", format: "date-time" }, "2026-11-30T10:00"],
    [{ type: "string", format: "hostname" }, "anything: the format is not known"],
    [{ type: "string", pattern: "(" }, "a broken pattern is left to the agent"],
    [{ type: "integer", minimum: -5 }, " -5 "],
  ])("lets %j pass with %j", (schema, entry) => expect(problem(schema, entry)).toBeNull());

  it("asks only for what is required", () => {
    expect(problem({ type: "string" }, "", true)).toBe("This field is required.");
    expect(problem({ type: "array", items: { type: "string", enum: ["a"] } }, [], true)).toBe("Choose one.");
    expect(problem({ type: "string", minLength: 5 }, "")).toBeNull();
    expect(problem({ type: "boolean" }, false, true)).toBeNull();
  });

  it("does not accept a form whose required field it cannot show", () => {
    expect(problem({ type: "object" }, "", true)).toContain("cannot show a field of type object");
    expect(problem({ type: "object" }, "")).toBeNull();
  });
});

describe("patterns of an agent", () => {
  it.each(["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*)\\1", "a?".repeat(40) + "a".repeat(40), "(?<x>a)\\k<x>"])(
    "does not run %s, which could take for ever",
    (pattern) => expect(matches(pattern, "a".repeat(40) + "!")).toBeNull(),
  );

  it.each([
    ["^[a-z]+-[0-9]+$", "abc-12", true],
    ["^\\d{4}$", "123", false],
    ["^v\\d+\\.\\d+$", "v1.2", true],
  ] as const)("runs %s", (pattern, text, fits) => expect(matches(pattern, text)).toBe(fits));
});

describe("the values to send", () => {
  it("have the type that the schema asks for", () => {
    expect(values({ type: "integer" }, " 4 ")).toEqual({ it: 4 });
    expect(values({ type: "boolean" }, false)).toEqual({ it: false });
    expect(values({ type: "array", items: { type: "string", enum: ["a"] } }, ["a"])).toEqual({ it: ["a"] });
    expect(values({ type: "string", format: "date-time" }, "2026-11-30T10:00Z")).toEqual({ it: "2026-11-30T10:00:00.000Z" });
  });

  it("leave out what is empty or cannot be shown", () => {
    expect(values({ type: "string" }, "")).toEqual({});
    expect(values({ type: "object" }, "x")).toEqual({});
  });

  it("never reach the prototype", () => {
    const form = readForm(JSON.parse('{"properties": {"__proto__": {"type": "string"}}}'));
    const sent = valuesOf(form.fields, new Map([["__proto__", "x"]]));
    expect(Object.getPrototypeOf(sent)).toBe(Object.prototype);
    expect(JSON.stringify(sent)).toBe('{"__proto__":"x"}');
  });
});
