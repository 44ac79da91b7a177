/* What a terminal would show after some output: lines of coloured text.

   Known are colours and styles, carriage returns, backspaces, tabs and the erasing of lines, which
   is what tools write that think a person is watching. Everything else is dropped, so output can
   neither move over other parts of the page nor ask for anything.

   Invariant: work for new output does not depend on how much was written before. */

export interface Style {
  readonly colour: number | null;
  readonly background: number | null;
  readonly bold: boolean;
  readonly faint: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly struck: boolean;
}

export interface Run {
  readonly text: string;
  readonly style: Style;
}

const PLAIN: Style = {
  colour: null,
  background: null,
  bold: false,
  faint: false,
  italic: false,
  underline: false,
  inverse: false,
  struck: false,
};

export const LINES_MAX = 5_000;
export const COLUMNS_MAX = 4_000;
const TAB = 8;

interface Line {
  chars: string[];
  styles: Style[];
  runs: readonly Run[] | null;
}

/** CSI, OSC and other strings, other escapes, and the start of one that is not complete. */
const ESCAPE =
  /\u001b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-Z\\^-~])/y;
const INCOMPLETE = /\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]{0,4096}\u001b?|[ -/]*)$/y;

export class AnsiScreen {
  /** Lines that scrolled out of what is kept. */
  dropped = 0;
  private lines: Line[] = [emptyLine()];
  private row = 0;
  private column = 0;
  private style: Style = PLAIN;
  private pending = "";

  /** How many lines there are. */
  get height(): number {
    return this.lines.length;
  }

  /** The coloured pieces of one line. */
  runs(row: number): readonly Run[] {
    const line = this.lines[row];
    if (line === undefined) return [];
    line.runs ??= runsOf(line);
    return line.runs;
  }

  /** All lines without colours. */
  get text(): string {
    return this.lines.map((line) => line.chars.join("").trimEnd()).join("\n");
  }

  write(received: string): void {
    const output = this.pending + received;
    this.pending = "";
    let at = 0;
    while (at < output.length) {
      const char = output[at]!;
      if (char === "\u001b") {
        const next = this.escape(output, at);
        if (next < 0) {
          this.pending = output.slice(at);
          return;
        }
        at = next;
      } else if (char < " " || char === "\u007f") {
        this.control(char);
        at += 1;
      } else {
        const code = output.codePointAt(at)!;
        const whole = code > 0xffff ? output.slice(at, at + 2) : char;
        this.put(whole);
        at += whole.length;
      }
    }
  }

  private escape(output: string, at: number): number {
    ESCAPE.lastIndex = at;
    const found = ESCAPE.exec(output);
    if (found !== null) {
      if (found[2] !== undefined) this.sequence(found[1] ?? "", found[2]);
      return ESCAPE.lastIndex;
    }
    INCOMPLETE.lastIndex = at;
    return INCOMPLETE.test(output) ? -1 : at + 1;
  }

  private control(char: string): void {
    if (char === "\n") this.newLine();
    else if (char === "\r") this.column = 0;
    else if (char === "\b") this.column = Math.max(0, this.column - 1);
    else if (char === "\t") {
      const target = Math.min(COLUMNS_MAX, (Math.floor(this.column / TAB) + 1) * TAB);
      while (this.column < target) this.put(" ");
    }
  }

  private put(char: string): void {
    if (this.column >= COLUMNS_MAX) this.newLine();
    const line = this.lines[this.row]!;
    while (line.chars.length < this.column) {
      line.chars.push(" ");
      line.styles.push(PLAIN);
    }
    line.chars[this.column] = char;
    line.styles[this.column] = this.style;
    line.runs = null;
    this.column += 1;
  }

  private newLine(): void {
    this.column = 0;
    this.row += 1;
    if (this.row < this.lines.length) return;
    this.lines.push(emptyLine());
    // Dropped in batches: to remove the front of an array costs its length.
    if (this.lines.length > 2 * LINES_MAX) {
      this.lines.splice(0, LINES_MAX);
      this.dropped += LINES_MAX;
      this.row -= LINES_MAX;
    }
  }

  private sequence(parameters: string, final: string): void {
    const numbers = parameters
      .split(/[;:]/)
      .map((part) => (/^\d{1,5}$/.test(part) ? Number(part) : 0));
    const count = Math.max(1, numbers[0]!);
    const line = this.lines[this.row]!;
    if (final === "m") this.style = styled(this.style, numbers);
    else if (final === "K") this.eraseLine(line, numbers[0]!);
    else if (final === "G") this.column = Math.min(COLUMNS_MAX - 1, count - 1);
    else if (final === "C") this.column = Math.min(COLUMNS_MAX - 1, this.column + count);
    else if (final === "D") this.column = Math.max(0, this.column - count);
    else if (final === "A") this.row = Math.max(0, this.row - count);
    else if (final === "B") this.row = Math.min(this.lines.length - 1, this.row + count);
    else if (final === "J" && numbers[0]! >= 2) this.clear();
  }

  private eraseLine(line: Line, part: number): void {
    line.runs = null;
    if (part === 2) line.chars.length = line.styles.length = 0;
    else if (part === 0)
      line.chars.length = line.styles.length = Math.min(line.chars.length, this.column);
    else {
      line.chars.fill(" ", 0, this.column + 1);
      line.styles.fill(PLAIN, 0, this.column + 1);
    }
  }

  private clear(): void {
    this.lines = [emptyLine()];
    this.row = this.column = 0;
  }
}

function emptyLine(): Line {
  return { chars: [], styles: [], runs: null };
}

function runsOf(line: Line): readonly Run[] {
  const runs: { text: string; style: Style }[] = [];
  line.chars.forEach((char, index) => {
    const style = line.styles[index]!;
    const last = runs[runs.length - 1];
    if (last?.style === style) last.text += char;
    else runs.push({ text: char, style });
  });
  return runs;
}

const SWITCHES: Record<number, Partial<Style>> = {
  1: { bold: true },
  2: { faint: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { struck: true },
  21: { underline: true },
  22: { bold: false, faint: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { struck: false },
  39: { colour: null },
  49: { background: null },
};

function styled(style: Style, numbers: readonly number[]): Style {
  let made: Style = style;
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at]!;
    if (code === 0) made = PLAIN;
    else if (SWITCHES[code] !== undefined) made = { ...made, ...SWITCHES[code] };
    else if (code >= 30 && code <= 37) made = { ...made, colour: code - 30 };
    else if (code >= 90 && code <= 97) made = { ...made, colour: code - 82 };
    else if (code >= 40 && code <= 47) made = { ...made, background: code - 40 };
    else if (code >= 100 && code <= 107) made = { ...made, background: code - 92 };
    else if (code === 38 || code === 48) {
      const isIndexed = numbers[at + 1] === 5;
      const colour = isIndexed
        ? ofIndex(numbers[at + 2] ?? 7)
        : nearest(numbers[at + 2] ?? 0, numbers[at + 3] ?? 0, numbers[at + 4] ?? 0);
      made = code === 38 ? { ...made, colour } : { ...made, background: colour };
      at += isIndexed ? 2 : 4;
    }
  }
  return made;
}

/** One of the sixteen colours for one of 256. */
function ofIndex(index: number): number {
  if (index < 16) return index;
  if (index >= 232)
    return nearest((index - 232) * 10 + 8, (index - 232) * 10 + 8, (index - 232) * 10 + 8);
  const cube = index - 16;
  const level = (part: number) => (part === 0 ? 0 : part * 40 + 55);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

/** The nearest of the sixteen colours, which every theme shows with enough contrast. */
function nearest(red: number, green: number, blue: number): number {
  const highest = Math.max(red, green, blue);
  const lowest = Math.min(red, green, blue);
  if (highest - lowest < 40) return highest > 200 ? 15 : highest > 100 ? 7 : 8;
  const middle = (highest + lowest) / 2;
  return (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
}
