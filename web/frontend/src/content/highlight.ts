/* Colours of code: highlight.js as a tree of scopes, never as HTML.

   The core and every language are chunks of their own, fetched when the first code in a language
   is shown. Until then, and where code is too large, code is shown plainly. */

import { signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { HLJSApi, LanguageFn } from "highlight.js";

/** A piece of code in one colour; `scope` is the first part of highlight.js's scope. */
export interface Segment {
  readonly text: string;
  readonly scope: string | null;
}

const CODE_CHARS_MAX = 60_000;
// Lines of minified code make some rules slow.
const LINE_CHARS_MAX = 4_000;
const CACHED_CHARS_MAX = 1_000_000;
// Code that grows is coloured again when it rests, or has grown by a quarter.
const GROWTH = 1.25;
const REST_MILLISECONDS = 300;

type Loader = () => Promise<{ default: LanguageFn }>;

const LANGUAGES: Record<string, Loader> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  go: () => import("highlight.js/lib/languages/go"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  php: () => import("highlight.js/lib/languages/php"),
  python: () => import("highlight.js/lib/languages/python"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

const ALIASES: Record<string, string> = {
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  h: "c",
  cc: "cpp",
  "c++": "cpp",
  cxx: "cpp",
  hpp: "cpp",
  cs: "csharp",
  scss: "css",
  less: "css",
  patch: "diff",
  golang: "go",
  toml: "ini",
  cfg: "ini",
  conf: "ini",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsonc: "json",
  json5: "json",
  jsonl: "json",
  kt: "kotlin",
  kts: "kotlin",
  mk: "makefile",
  md: "markdown",
  py: "python",
  pyi: "python",
  python3: "python",
  rb: "ruby",
  rs: "rust",
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  html: "xml",
  svg: "xml",
  xhtml: "xml",
  vue: "xml",
  yml: "yaml",
};

const FILE_NAMES: Record<string, string> = {
  Dockerfile: "dockerfile",
  Makefile: "makefile",
  Gemfile: "ruby",
};

/** The name that we know a language by, from the info string of a fence. */
export function languageNamed(info: string | null | undefined): string | null {
  const word = /^[\w+#.-]{1,20}/.exec((info ?? "").trim().toLowerCase())?.[0] ?? "";
  const name = Object.hasOwn(ALIASES, word) ? ALIASES[word]! : word;
  return Object.hasOwn(LANGUAGES, name) ? name : null;
}

/** The language of a file, by its name. */
export function languageOfPath(path: string): string | null {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  if (Object.hasOwn(FILE_NAMES, name)) return FILE_NAMES[name]!;
  const dot = name.lastIndexOf(".");
  return dot < 0 ? null : languageNamed(name.slice(dot + 1));
}

let core: HLJSApi | null = null;
const loading = new Map<string, Promise<void>>();
const loadedCount = signal(0);
/** Changes whenever a language has been loaded. */
export const languagesLoaded: ReadonlySignal<number> = loadedCount;

/** Fetch a language, once. A chunk that cannot be fetched leaves the code plain. */
export function loadLanguage(name: string): Promise<void> {
  let pending = loading.get(name);
  if (pending === undefined) {
    pending = fetchLanguage(name).catch(() => {
      loading.delete(name);
    });
    loading.set(name, pending);
  }
  return pending;
}

async function fetchLanguage(name: string): Promise<void> {
  const loader = LANGUAGES[name];
  if (loader === undefined) return;
  const [{ default: hljs }, { default: language }] = await Promise.all([
    import("highlight.js/lib/core"),
    loader(),
  ]);
  core = hljs;
  hljs.registerLanguage(name, language);
  loadedCount.value += 1;
}

const cache = new Map<string, readonly Segment[]>();
let cachedChars = 0;

/** Coloured segments of the code, or null where its language is not loaded or it is too large. */
export function highlight(code: string, language: string): readonly Segment[] | null {
  if (core?.getLanguage(language) === undefined || !isHighlightable(code)) return null;
  const key = `${language}\n${code}`;
  let segments = cache.get(key);
  if (segments === undefined) {
    segments = segmentsOf(core, code, language);
    cache.set(key, segments);
    cachedChars += key.length;
    for (const oldest of cache.keys()) {
      if (cachedChars <= CACHED_CHARS_MAX) break;
      cache.delete(oldest);
      cachedChars -= oldest.length;
    }
  }
  return segments;
}

function isHighlightable(code: string): boolean {
  if (code.length > CODE_CHARS_MAX) return false;
  for (let start = 0; start < code.length;) {
    const end = code.indexOf("\n", start);
    const stop = end < 0 ? code.length : end;
    if (stop - start > LINE_CHARS_MAX) return false;
    start = stop + 1;
  }
  return true;
}

interface ScopeNode {
  scope?: string;
  children: (ScopeNode | string)[];
}

function segmentsOf(hljs: HLJSApi, code: string, language: string): readonly Segment[] {
  const result = hljs.highlight(code, { language, ignoreIllegals: true });
  const root = (result._emitter as unknown as { rootNode: ScopeNode }).rootNode;
  const segments: Segment[] = [];
  const walk = (node: ScopeNode, outer: string | null) => {
    const scope = node.scope === undefined ? outer : node.scope.split(".")[0]!;
    for (const child of node.children) {
      if (typeof child === "string") segments.push({ text: child, scope });
      else walk(child, scope);
    }
  };
  walk(root, null);
  return segments;
}

/** The same segments, line by line. */
export function linesOfSegments(segments: readonly Segment[]): Segment[][] {
  const lines: Segment[][] = [[]];
  for (const { text, scope } of segments) {
    text.split("\n").forEach((part, index) => {
      if (index > 0) lines.push([]);
      if (part !== "") lines[lines.length - 1]!.push({ text: part, scope });
    });
  }
  return lines;
}

const whenIdle: (work: () => void) => () => void =
  typeof requestIdleCallback === "function"
    ? (work) => {
        const id = requestIdleCallback(work, { timeout: 400 });
        return () => cancelIdleCallback(id);
      }
    : (work) => {
        const id = setTimeout(work, 30);
        return () => clearTimeout(id);
      };

/** Segments for the code as soon as they are there. While code grows, its new end is plain. */
export function useHighlight(code: string, language: string | null): readonly Segment[] {
  const [done, setDone] = useState<{
    code: string;
    language: string;
    segments: readonly Segment[];
  } | null>(null);
  useEffect(() => {
    if (language === null || !isHighlightable(code)) return undefined;
    if (done?.code === code && done.language === language) return undefined;
    let dropped = false;
    let cancel = () => {};
    const start = () => {
      void loadLanguage(language).then(() => {
        if (dropped) return;
        cancel = whenIdle(() => {
          const segments = highlight(code, language);
          if (segments !== null && !dropped) setDone({ code, language, segments });
        });
      });
    };
    const grows =
      done !== null &&
      done.language === language &&
      code.startsWith(done.code) &&
      code.length < GROWTH * done.code.length;
    const timer = grows ? setTimeout(start, REST_MILLISECONDS) : (start(), undefined);
    return () => {
      dropped = true;
      clearTimeout(timer);
      cancel();
    };
  }, [code, language]);
  if (
    language !== null &&
    done?.language === language &&
    done.code !== "" &&
    code.startsWith(done.code)
  ) {
    const rest = code.slice(done.code.length);
    return rest === "" ? done.segments : [...done.segments, { text: rest, scope: null }];
  }
  const cached = language === null ? undefined : cache.get(`${language}\n${code}`);
  return cached ?? [{ text: code, scope: null }];
}
