/* Which changes the user has accepted, by session; kept by the browser. */

import { signal, type Signal } from "@preact/signals";

const KEPT_MAX = 2_000;

export class Accepted {
  readonly marks: Signal<ReadonlySet<string>>;

  constructor(private readonly sessionId: string) {
    this.marks = signal(new Set(stored(this.name)));
  }

  has(mark: string): boolean {
    return this.marks.value.has(mark);
  }

  accept(marks: readonly string[]): void {
    this.set(new Set([...this.marks.value, ...marks]));
  }

  /** Look at these again. */
  reopen(marks: readonly string[]): void {
    const left = new Set(this.marks.value);
    for (const mark of marks) left.delete(mark);
    this.set(left);
  }

  private get name(): string {
    return `accord.accepted.${this.sessionId}`;
  }

  private set(marks: ReadonlySet<string>): void {
    this.marks.value = marks;
    try {
      localStorage.setItem(this.name, JSON.stringify([...marks].slice(-KEPT_MAX)));
    } catch {
      // A browser without storage: it counts until the page is closed.
    }
  }
}

function stored(name: string): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(name) ?? "[]");
    return Array.isArray(found) ? found.filter((mark) => typeof mark === "string") : [];
  } catch {
    return [];
  }
}
