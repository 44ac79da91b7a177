/** Reads received values by `schema.json`, as Python's `schema/tolerant_reader.py` does.
 *
 * `schema.json` is written by `scripts/page_schema.py` from the wire types of version 2.
 *
 * What always holds
 *   - Of a known type only the known members are left, and each has the type that it should have.
 *   - A known tag with a bad payload is refused; an unknown tag becomes an `UnknownVariant`.
 *   - `read` throws `Invalid` and nothing else.
 */

import schema from "./schema.json";
import { canonicalBase64 } from "./base64.ts";
import { CHECKS } from "./struct_checks.ts";
import { Invalid } from "./invalid.ts";

interface Node {
  is: string;
  of?: unknown;
  null?: boolean;
  min?: number;
  max?: number;
  pattern?: string;
  tag?: string;
  known?: string[];
  closed?: boolean;
  default?: string;
  tolerance?: string;
  required?: boolean;
}

interface Struct {
  fields: [string, Node][];
  meta: boolean;
  aliases: [string, string][];
  instead: Record<string, string>;
  checked: boolean;
}

type Members = Record<string, unknown>;

const structs = new Map<string, Struct>(
  Object.entries(schema.structs as Record<string, Record<string, unknown>>).map(([name, one]) => [
    name,
    {
      fields: Object.entries(one["fields"] as Record<string, Node>),
      meta: one["meta"] === true,
      aliases: Object.entries((one["aliases"] ?? {}) as Record<string, string>),
      instead: (one["instead"] ?? {}) as Record<string, string>,
      checked: one["checked"] === true,
    },
  ]),
);
const roots = new Map(Object.entries(schema.roots as Record<string, Node>));

export type Root = keyof typeof schema.roots;

/** The names of the types that have a rule which no field says. */
export const CHECKED_TYPES = [...structs].filter(([, one]) => one.checked).map(([name]) => name);

/** The value as that type, or Invalid with the path of what cannot be tolerated. */
export function read<T>(root: Root, value: unknown): T {
  return readNode(roots.get(root) as Node, value, "$") as T;
}

function readNode(node: Node, value: unknown, path: string): unknown {
  if (value === null && node.null) return null;
  const reader = READERS[node.is];
  if (reader === undefined) throw new Error(`schema.json has an unknown form: ${node.is}`);
  return reader(node, value, path);
}

const READERS: Record<string, (node: Node, value: unknown, path: string) => unknown> = {
  any: (_node, value) => value,
  boolean: (_node, value, path) => {
    if (typeof value !== "boolean") throw new Invalid(path, "Expected `bool`");
    return value;
  },
  string: (node, value, path) => {
    if (typeof value !== "string") throw new Invalid(path, "Expected `str`");
    if (node.min !== undefined && value.length < node.min) throw new Invalid(path, "Too short");
    if (node.pattern !== undefined && !new RegExp(node.pattern).test(value)) {
      throw new Invalid(path, "Expected an absolute path");
    }
    return value;
  },
  word: (node, value, path) => {
    if (!(node.of as unknown[]).includes(value)) throw new Invalid(path, "Unknown word");
    return value;
  },
  number: (node, value, path) => {
    if (typeof value !== "number") throw new Invalid(path, "Expected `float`");
    return bounded(node, value, path);
  },
  integer: (node, value, path) => {
    if (typeof value !== "number" || !Number.isInteger(value)) {
      throw new Invalid(path, "Expected `int`");
    }
    return bounded(node, value, path);
  },
  bytes: (_node, value, path) => {
    const data = typeof value === "string" ? canonicalBase64(value) : null;
    if (data === null) throw new Invalid(path, "Expected base64");
    return data;
  },
  either: (node, value, path) => {
    for (const one of node.of as Node[]) {
      try {
        return readNode(one, value, path);
      } catch (error) {
        if (!(error instanceof Invalid)) throw error;
      }
    }
    throw new Invalid(path, "Fits none of the types");
  },
  list: (node, value, path) => {
    const items = arrayOf(value, path).map((item, index) =>
      readNode(node.of as Node, item, `${path}[${index}]`),
    );
    if (items.length < (node.min ?? 0)) throw new Invalid(path, "Too few items");
    return items;
  },
  map: (node, value, path) => {
    const members = Object.entries(objectOf(value, path));
    return Object.fromEntries(
      members.map(([key, member]) => [key, readNode(node.of as Node, member, `${path}.${key}`)]),
    );
  },
  object: (node, value, path) => {
    const members = objectOf(value, path);
    if (node.tag !== undefined && Object.hasOwn(members, node.tag)) {
      const tag = members[node.tag];
      if (typeof tag !== "string") throw new Invalid(`${path}.${node.tag}`, "Expected `str`");
      if (!node.known?.includes(tag)) return { type: "unknown", tag, received: value };
    }
    return readStruct(node.of as string, members, {}, path);
  },
  variant: (node, value, path) => {
    const members = objectOf(value, path);
    const key = node.tag as string;
    const tag = Object.hasOwn(members, key) ? members[key] : node.default;
    if (typeof tag !== "string") throw new Invalid(`${path}.${key}`, "missing tag");
    const variants = node.of as Record<string, string>;
    const name = Object.hasOwn(variants, tag) ? variants[tag] : undefined;
    if (name !== undefined) return readStruct(name, members, { [key]: tag }, path);
    if (node.closed) throw new Invalid(`${path}.${key}`, `Invalid value ${tag}`);
    return { type: "unknown", tag, received: value };
  },
};

function readStruct(name: string, members: Members, into: Members, path: string): Members {
  const struct = structs.get(name) as Struct;
  for (const [alias, key] of struct.aliases) {
    if (Object.hasOwn(members, alias) && !Object.hasOwn(members, key)) {
      members = { ...members, [key]: members[alias] };
    }
  }
  for (const [key, node] of struct.fields) {
    if (Object.hasOwn(members, key)) {
      const value = readField(node, members[key], `${path}.${key}`);
      if (value !== undefined) into[key] = value;
    } else if (node.required) {
      const instead = struct.instead[key];
      const replaced = instead !== undefined && Object.hasOwn(members, instead);
      if (!replaced && !node.tolerance?.includes("A")) {
        throw new Invalid(`${path}.${key}`, "missing required key");
      }
      into[key] = empty(node);
    }
  }
  if (struct.meta) {
    const meta = members["_meta"];
    // Anything that is no object counts as absent.
    if (meta === null || isObject(meta)) into["_meta"] = meta;
  }
  if (struct.checked) CHECKS[name]?.(into, path);
  return into;
}

/** The value of a member, or undefined where it is tolerated away. */
function readField(node: Node, value: unknown, path: string): unknown {
  const tolerance = node.tolerance;
  if (tolerance === undefined) return readNode(node, value, path);
  if (value === null && tolerance.includes("Z")) return empty(node);
  if (Array.isArray(value) && tolerance.includes("S")) return readKept(node, value, path);
  try {
    return readNode(node, value, path);
  } catch (error) {
    if (!(error instanceof Invalid) || !tolerance.includes("E")) throw error;
    return tolerance.includes("N") ? null : empty(node);
  }
}

/** The good items of a list. */
function readKept(node: Node, values: unknown[], path: string): unknown[] {
  return values.flatMap((value, index) => {
    try {
      return [readNode(node.of as Node, value, `${path}[${index}]`)];
    } catch (error) {
      if (error instanceof Invalid) return [];
      throw error;
    }
  });
}

/** What a member holds when its value is tolerated away. */
function empty(node: Node): unknown {
  if (!node.required) return undefined;
  if (node.is === "string") return "";
  return node.is === "map" ? {} : [];
}

function bounded(node: Node, value: number, path: string): number {
  if (value < (node.min ?? -Infinity) || value > (node.max ?? Infinity)) {
    throw new Invalid(path, "Out of bounds");
  }
  return value;
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown, path: string): Members {
  if (!isObject(value)) throw new Invalid(path, "Expected `object`");
  return value;
}

function arrayOf(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value)) throw new Invalid(path, "Expected `array`");
  return value;
}
