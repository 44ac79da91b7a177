/* A list of which only the visible rows exist, and whose rows may have and change any height.

   Invariants
     - What the reader looks at stays where it is, whatever changes above it.
     - At the end, the list stays at the end while rows are added or grow. */

import type { ComponentChildren, Ref } from "preact";
import {
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "preact/hooks";
import { RowHeights, type Keyed } from "./row_heights.ts";

// Drawn above and below what is visible, so that quick scrolling shows no gaps.
const OVERSCAN_PIXELS = 700;
const END_PIXELS = 48;
// Before the first measurement, and where there is no layout at all.
const VIEW_PIXELS = 900;

export interface ListControl {
  toEnd(): void;
  toRow(key: string): void;
}

interface Props<Row extends Keyed> {
  rows: readonly Row[];
  estimate: (row: Row) => number;
  draw: (row: Row, index: number) => ComponentChildren;
  label: string;
  onEnd?: (isAtEnd: boolean) => void;
  control?: Ref<ListControl>;
  children?: ComponentChildren;
}

interface Anchor {
  key: string;
  /** How far the top of the row is below the top of the view. */
  offset: number;
}

export function VirtualList<Row extends Keyed>({
  rows,
  estimate,
  draw,
  label,
  onEnd,
  control,
  children,
}: Props<Row>) {
  const view = useRef<HTMLDivElement>(null);
  const heights = useMemo(() => new RowHeights<Row>(estimate), []);
  heights.setRows(rows);
  const indexes = useMemo(() => new Map(rows.map((row, index) => [row.key, index])), [rows]);
  const isAtEnd = useRef(true);
  const anchor = useRef<Anchor | null>(null);
  const [, redraw] = useState(0);
  const range = visibleRange(view.current, heights, isAtEnd.current);

  const noteEnd = (now: boolean) => {
    if (now === isAtEnd.current) return;
    isAtEnd.current = now;
    onEnd?.(now);
  };
  const settle = () => {
    const element = view.current;
    if (element === null) return;
    if (isAtEnd.current) {
      scrollTo(element, element.scrollHeight - element.clientHeight);
    } else if (anchor.current !== null) {
      const index = indexes.get(anchor.current.key);
      if (index !== undefined) scrollTo(element, heights.top(index) - anchor.current.offset);
    }
  };
  const observer = useRowObserver(heights, indexes, () => redraw((count) => count + 1));
  useLayoutEffect(settle);
  useEffect(() => {
    const element = view.current;
    if (element === null || typeof ResizeObserver === "undefined") return undefined;
    const watcher = new ResizeObserver(() => redraw((count) => count + 1));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);

  const onScroll = () => {
    const element = view.current!;
    noteEnd(element.scrollHeight - element.scrollTop - element.clientHeight < END_PIXELS);
    const index = heights.indexAt(element.scrollTop);
    const row = rows[index];
    anchor.current =
      row === undefined ? null : { key: row.key, offset: heights.top(index) - element.scrollTop };
    const next = visibleRange(element, heights, isAtEnd.current);
    if (next.first < range.first || next.last > range.last || next.first > range.first + 20)
      redraw((count) => count + 1);
  };
  useImperativeHandle(control ?? null, () => ({
    toEnd: () => {
      noteEnd(true);
      redraw((count) => count + 1);
    },
    toRow: (key) => {
      noteEnd(false);
      // With some of what is above it, and clear of what floats over the list.
      anchor.current = { key, offset: 72 };
      settle();
      redraw((count) => count + 1);
    },
  }));

  return (
    <div
      class="list-view"
      ref={view}
      onScroll={onScroll}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      {rows.length === 0 ? null : (
        <div role="feed" aria-label="Messages and actions" aria-busy="false">
          <div style={{ height: heights.top(range.first) }} aria-hidden="true" />
          {rows.slice(range.first, range.last).map((row, index) => (
            <RowFrame
              key={row.key}
              rowKey={row.key}
              observer={observer}
              position={range.first + index + 1}
              count={rows.length}
            >
              {draw(row, range.first + index)}
            </RowFrame>
          ))}
          <div
            style={{ height: Math.max(0, heights.total - heights.top(range.last)) }}
            aria-hidden="true"
          />
        </div>
      )}
      {children}
    </div>
  );
}

function scrollTo(element: HTMLElement, top: number): void {
  if (Math.abs(element.scrollTop - top) >= 1) element.scrollTop = top;
}

function visibleRange<Row extends Keyed>(
  element: HTMLElement | null,
  heights: RowHeights<Row>,
  isAtEnd: boolean,
) {
  const pixels = element?.clientHeight || VIEW_PIXELS;
  const top = isAtEnd || element === null ? heights.total - pixels : element.scrollTop;
  const first = heights.indexAt(Math.max(0, top - OVERSCAN_PIXELS));
  const last = heights.count === 0 ? 0 : heights.indexAt(top + pixels + OVERSCAN_PIXELS) + 1;
  return { first, last };
}

interface RowObserver {
  add(element: HTMLElement, key: string): void;
  remove(element: HTMLElement): void;
}

/** One ResizeObserver for all rows; it runs after layout and before anything is painted. */
function useRowObserver<Row extends Keyed>(
  heights: RowHeights<Row>,
  indexes: Map<string, number>,
  onChange: () => void,
): RowObserver {
  const latest = useRef({ indexes, onChange });
  latest.current = { indexes, onChange };
  const made = useMemo(() => {
    const keys = new Map<Element, string>();
    const watcher =
      typeof ResizeObserver === "undefined"
        ? null
        : new ResizeObserver((entries) => {
            let isNews = false;
            for (const { target } of entries) {
              const index = latest.current.indexes.get(keys.get(target) ?? "");
              if (index !== undefined)
                isNews = heights.measure(index, target.getBoundingClientRect().height) || isNews;
            }
            if (isNews) latest.current.onChange();
          });
    return {
      watcher,
      add: (element: HTMLElement, key: string) => {
        keys.set(element, key);
        watcher?.observe(element);
      },
      remove: (element: HTMLElement) => {
        keys.delete(element);
        watcher?.unobserve(element);
      },
    };
  }, []);
  useEffect(() => () => made.watcher?.disconnect(), []);
  return made;
}

function RowFrame(props: {
  rowKey: string;
  observer: RowObserver;
  position: number;
  count: number;
  children: ComponentChildren;
}) {
  const { rowKey, observer, position, count, children } = props;
  const element = useRef<HTMLElement | null>(null);
  const take = useCallback((made: HTMLElement | null) => {
    if (element.current !== null) observer.remove(element.current);
    element.current = made;
    if (made !== null) observer.add(made, rowKey);
  }, []);
  return (
    <article class="row" ref={take} aria-posinset={position} aria-setsize={count} data-key={rowKey}>
      {children}
    </article>
  );
}
