/** The bytes that a command wrote: the last ones, and the text that they are.
 *
 * Bytes are joined before they are decoded, so a character split between two chunks survives.
 */

export const TERMINAL_BYTES_MAX = 1024 * 1024;

export class TerminalOutput {
  /** How many bytes came since the last replacement, kept or not. */
  received = 0;
  /** How often all was replaced: what was drawn before means nothing after. */
  replacements = 0;
  /** Whether the front is missing. */
  truncated = false;
  // What is kept stands between `start` and `end`; when the buffer is full it moves to the front.
  private buffer: Uint8Array = new Uint8Array(64);
  private start = 0;
  private end = 0;
  private known: string | null = "";
  private knownAsFinal = false;

  constructor(private readonly bytesMax = TERMINAL_BYTES_MAX) {}

  /** The bytes that are kept; only good until more come. */
  get data(): Uint8Array {
    return this.buffer.subarray(this.start, this.end);
  }

  /** What came after this many bytes, as far as it is kept. */
  since(received: number): Uint8Array {
    const fresh = this.received - received;
    return this.buffer.subarray(Math.max(this.start, this.end - fresh), this.end);
  }

  append(data: Uint8Array): void {
    this.makeRoom(data.length);
    this.buffer.set(data, this.end);
    this.end += data.length;
    this.received += data.length;
    this.bound();
  }

  replace(data: Uint8Array): void {
    this.start = this.end = this.received = 0;
    this.replacements += 1;
    this.truncated = false;
    this.append(data);
  }

  /** As UTF-8, U+FFFD for what is not; half a character at the end waits unless it is final. */
  text(final: boolean): string {
    if (this.known === null || this.knownAsFinal !== final) {
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      this.known = decoder.decode(this.data, { stream: !final });
      this.knownAsFinal = final;
    }
    return this.known;
  }

  private makeRoom(bytes: number): void {
    const kept = this.end - this.start;
    if (this.end + bytes <= this.buffer.length) return;
    const from = this.data;
    if (2 * (kept + bytes) > this.buffer.length) this.buffer = new Uint8Array(2 * (kept + bytes));
    this.buffer.set(from);
    this.start = 0;
    this.end = kept;
  }

  private bound(): void {
    this.known = null;
    let start = this.end - this.bytesMax;
    if (start <= this.start) return;
    // At most three continuation bytes belong to a character; more are not UTF-8, and stay.
    const last = start + 3;
    while (start < last && (this.buffer[start]! & 0xc0) === 0x80) start += 1;
    this.start = start;
    this.truncated = true;
  }
}
