/* Where the rows of a long list are, although only some were ever drawn.

   Heights are kept by key, so that they survive when rows are added, removed or filtered. */

export interface Keyed {
  readonly key: string;
}

export class RowHeights<Row extends Keyed> {
  private rows: readonly Row[] = [];
  private readonly known = new Map<string, number>();
  // tops[i] is where row i starts; correct up to and with `valid`.
  private tops = new Float64Array(1);
  private valid = 0;

  constructor(private readonly estimate: (row: Row) => number) {}

  get count(): number {
    return this.rows.length;
  }

  get total(): number {
    return this.top(this.rows.length);
  }

  setRows(rows: readonly Row[]): void {
    if (rows === this.rows) return;
    let same = 0;
    const shared = Math.min(rows.length, this.rows.length, this.valid);
    while (same < shared && rows[same] === this.rows[same]) same += 1;
    if (this.tops.length < rows.length + 1) {
      const larger = new Float64Array(2 * rows.length + 64);
      larger.set(this.tops.subarray(0, same + 1));
      this.tops = larger;
    }
    this.rows = rows;
    this.valid = same;
  }

  /** Note what a row measured. Returns whether that is news. */
  measure(index: number, height: number): boolean {
    const row = this.rows[index];
    if (row === undefined || Math.abs((this.known.get(row.key) ?? -1) - height) < 0.5) return false;
    this.known.set(row.key, height);
    this.valid = Math.min(this.valid, index);
    return true;
  }

  /** The distance of a row from the top of the list. */
  top(index: number): number {
    for (; this.valid < index; this.valid += 1) {
      const row = this.rows[this.valid]!;
      this.tops[this.valid + 1] =
        this.tops[this.valid]! + (this.known.get(row.key) ?? this.estimate(row));
    }
    return this.tops[index] ?? 0;
  }

  /** The row at this distance from the top; the last one for what is below all. */
  indexAt(distance: number): number {
    this.top(this.rows.length);
    let low = 0;
    let high = Math.max(0, this.rows.length - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle]! <= distance) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
