/** Batches what views must draw again: many updates, one change of each signal per animation frame.
 *
 * A browser calls no animation frame in a hidden tab, so a timer takes its place there.
 */

const HIDDEN_TAB_MS = 250;

export class FrameBatch {
  private readonly jobs = new Set<() => void>();
  private cancel: (() => void) | null = null;

  /** Run the job in the next frame; a job that waits already is not run twice. */
  add(job: () => void): void {
    this.jobs.add(job);
    this.cancel ??= schedule(() => this.flush());
  }

  /** Run what waits now: for tests, and before somebody reads what is drawn. */
  flush(): void {
    this.cancel?.();
    this.cancel = null;
    const jobs = [...this.jobs];
    this.jobs.clear();
    for (const job of jobs) job();
  }
}

function schedule(run: () => void): () => void {
  const timer = setTimeout(run, HIDDEN_TAB_MS);
  if (typeof requestAnimationFrame === "undefined") return () => clearTimeout(timer);
  const frame = requestAnimationFrame(run);
  return () => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
  };
}
