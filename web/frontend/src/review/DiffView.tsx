/* Hunks side by side or in one column, with the colours of the language and marks on words. */

import { signal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { memo } from "preact/compat";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import "./review.css";
import {
  languageOfPath,
  linesOfSegments,
  useHighlight,
  type Segment,
} from "../content/highlight.ts";
import { titleText, visibleText } from "../content/visible_text.ts";
import { inlineRows, markSegments, rowsOf, type Row, type Side } from "./diff_rows.ts";
import type { Hunk } from "./hunks.ts";

export type DiffLayout = "inline" | "split";

const STORED = "accord.diff-layout";
// Side by side needs two columns of code.
const SPLIT_PIXELS_MIN = 640;

function storedLayout(): DiffLayout {
  try {
    const stored = localStorage.getItem(STORED);
    if (stored === "inline" || stored === "split") return stored;
  } catch {
    // A browser without storage.
  }
  return "inline";
}

/** How all diffs are laid out; kept by the browser. */
export const diffLayout = signal<DiffLayout>(storedLayout());

export function setDiffLayout(layout: DiffLayout): void {
  diffLayout.value = layout;
  try {
    localStorage.setItem(STORED, layout);
  } catch {
    // It counts until the page is closed.
  }
}

export function LayoutChoice() {
  const layout = diffLayout.value;
  const choice = (value: DiffLayout, words: string) => (
    <button
      type="button"
      class="small"
      aria-pressed={layout === value}
      onClick={() => setDiffLayout(value)}
    >
      {words}
    </button>
  );
  return (
    <div class="layout-choice" role="group" aria-label="Layout of the diffs">
      {choice("inline", "Inline")}
      {choice("split", "Side by side")}
    </div>
  );
}

// More is drawn on demand.
const LINES_MAX = 300;

interface Props {
  path: string;
  hunks: readonly Hunk[];
  /** Buttons for a hunk. */
  actions?: (hunk: Hunk, index: number) => ComponentChildren;
  linesMax?: number;
}

export function DiffView({ path, hunks, actions, linesMax = LINES_MAX }: Props) {
  const [all, setAll] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow(element);
  const layout = diffLayout.value === "split" && !isNarrow ? "split" : "inline";
  let room = all ? Infinity : linesMax;
  const shown: ComponentChildren[] = [];
  hunks.forEach((hunk, index) => {
    if (room <= 0) return;
    const cut = hunk.lines.length > room ? { ...hunk, lines: hunk.lines.slice(0, room) } : hunk;
    room -= hunk.lines.length;
    shown.push(
      <HunkView
        key={`${hunk.oldStart}.${hunk.newStart}.${index}`}
        path={path}
        hunk={cut}
        layout={layout}
      >
        {actions?.(hunk, index)}
      </HunkView>,
    );
  });
  const lines = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  return (
    <div class={`diff diff-${layout}`} ref={element}>
      {shown}
      {room < 0 ? (
        <button type="button" class="diff-more small" onClick={() => setAll(true)}>
          Show all {lines.toLocaleString("en")} lines
        </button>
      ) : null}
    </div>
  );
}

/** Whether an element has too little room for two columns. */
function useIsNarrow(element: RefObject<HTMLElement | null>): boolean {
  const [isNarrow, setNarrow] = useState(false);
  useLayoutEffect(() => {
    const measured = element.current;
    if (measured === null || typeof ResizeObserver === "undefined") return undefined;
    const watcher = new ResizeObserver(() => setNarrow(isTooNarrow(measured.clientWidth)));
    watcher.observe(measured);
    setNarrow(isTooNarrow(measured.clientWidth));
    return () => watcher.disconnect();
  }, []);
  return isNarrow;
}

/** No width at all is that of an element that is not laid out. */
function isTooNarrow(pixels: number): boolean {
  return pixels > 0 && pixels < SPLIT_PIXELS_MIN;
}

const HunkView = memo(function HunkView({
  path,
  hunk,
  layout,
  children,
}: {
  path: string;
  hunk: Hunk;
  layout: DiffLayout;
  children?: ComponentChildren;
}) {
  const rows = useMemo(() => rowsOf(hunk), [hunk]);
  const language = languageOfPath(path);
  const left = useSideLines(rows, "left", language);
  const right = useSideLines(rows, "right", language);
  const label = `Lines ${hunk.newStart} and following${hunk.heading ? `, ${titleText(hunk.heading)}` : ""}`;
  return (
    <div class="hunk">
      <div class="hunk-head">
        <span class="mono soft small" dir="ltr">
          Line {hunk.newStart} {titleText(hunk.heading).slice(0, 120)}
        </span>
        {children}
      </div>
      {/* Reachable by keyboard, because long lines are scrolled sideways. */}
      <div class="hunk-scroll" tabIndex={0} role="group" aria-label={label} dir="ltr">
        <table>
          <tbody>
            {layout === "split"
              ? rows.map((row, index) => (
                  <SplitRow key={index} row={row} left={left} right={right} />
                ))
              : inlineRows(rows).map((row, index) => (
                  <InlineRow key={index} row={row} left={left} right={right} />
                ))}
          </tbody>
        </table>
      </div>
    </div>
  );
});

type Lines = ReadonlyMap<number, readonly Segment[]>;

/** Coloured lines of one side by their numbers. */
function useSideLines(
  rows: readonly Row[],
  name: "left" | "right",
  language: string | null,
): Lines {
  const sides = useMemo(
    () => rows.map((row) => row[name]).filter((side) => side !== null),
    [rows, name],
  );
  const code = useMemo(() => sides.map((side) => side.text).join("\n"), [sides]);
  const segments = useHighlight(code, language);
  return useMemo(() => {
    const lines = linesOfSegments(segments);
    return new Map(sides.map((side, index) => [side.number, lines[index] ?? []]));
  }, [segments, sides]);
}

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const WORDS = { same: "", added: "added: ", removed: "removed: " } as const;

function Cells({ side, lines }: { side: Side | null; lines: Lines }) {
  if (side === null)
    return (
      <>
        <td class="line-number" />
        <td class="line line-none" />
      </>
    );
  const segments = markSegments(
    lines.get(side.number) ?? [{ text: side.text, scope: null }],
    side.marks,
  );
  return (
    <>
      <td class={`line-number line-${side.kind}`}>{side.number}</td>
      <td class={`line line-${side.kind}`}>
        <LineText side={side} segments={segments} />
      </td>
    </>
  );
}

function LineText({ side, segments }: { side: Side; segments: ReturnType<typeof markSegments> }) {
  return (
    <>
      <span class="line-sign" aria-hidden="true">
        {SIGNS[side.kind]}
      </span>
      {side.kind === "same" ? null : <span class="hidden-text">{WORDS[side.kind]}</span>}
      {segments.map(({ text, scope, isMarked }, index) => {
        const names = [scope === null ? "" : `hl-${scope}`, isMarked ? "mark" : ""]
          .join(" ")
          .trim();
        return names === "" ? (
          visibleText(text)
        ) : (
          <span key={index} class={names}>
            {visibleText(text)}
          </span>
        );
      })}
      {side.hasNoEnd ? (
        <span class="no-end soft" title="No line end at the end of the file">
          {" "}
          ⏎̸
        </span>
      ) : null}
    </>
  );
}

function SplitRow({ row, left, right }: { row: Row; left: Lines; right: Lines }) {
  return (
    <tr>
      <Cells side={row.left} lines={left} />
      <Cells side={row.right} lines={right} />
    </tr>
  );
}

function InlineRow({ row, left, right }: { row: Row; left: Lines; right: Lines }) {
  const side = row.left ?? row.right!;
  const segments = markSegments(
    (row.left ? left : right).get(side.number) ?? [{ text: side.text, scope: null }],
    side.marks,
  );
  return (
    <tr>
      <td class={`line-number line-${side.kind}`}>{row.left?.number}</td>
      <td class={`line-number line-${side.kind}`}>{row.right?.number}</td>
      <td class={`line line-${side.kind}`}>
        <LineText side={side} segments={segments} />
      </td>
    </tr>
  );
}
