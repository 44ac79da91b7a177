/** One direction of numbered frames: what the sender keeps, and when the receiver acknowledges.
 *
 * Frames are numbered 1, 2, 3 … in the order of `append`, and kept until the peer has acknowledged
 * them, since the peer may come back and ask for them again.  Frames of the resume extension have
 * no numbers.
 */

/** So much may wait to be acknowledged; over it nothing more is sent. */
export const KEPT_CHARS_MAX = 64 * 1024 * 1024;
export const ACKNOWLEDGE_FRAMES = 256;
export const ACKNOWLEDGE_CHARS = 1024 * 1024;

export class SentFrames {
  private kept: string[] = [];
  /** How many of `kept` went out. */
  private taken = 0;
  /** The number of the newest frame that is no longer kept. */
  private gone = 0;
  keptChars = 0;

  /** Whether a frame was sent, and the peer has not said that it has it. */
  get isUnacknowledged(): boolean {
    return this.taken > 0;
  }

  append(frame: string): void {
    this.kept.push(frame);
    this.keptChars += frame.length;
  }

  /** The next frame to send; from now on it counts as sent. */
  take(): string | null {
    const frame = this.kept[this.taken];
    if (frame === undefined) return null;
    this.taken += 1;
    return frame;
  }

  /** Drop the frames up to this number; false, and nothing dropped, for one that was not sent. */
  acknowledge(count: number): boolean {
    const dropped = count - this.gone;
    if (dropped > this.taken) return false;
    if (dropped <= 0) return count >= 0;
    for (const frame of this.kept.splice(0, dropped)) this.keptChars -= frame.length;
    this.taken -= dropped;
    this.gone = count;
    return true;
  }

  /** Acknowledge up to this number and send what is after it again; false if that is impossible. */
  rewind(count: number): boolean {
    if (count < this.gone || !this.acknowledge(count)) return false;
    this.taken = 0;
    return true;
  }
}

export class ReceivedFrames {
  count = 0;
  private acknowledgedCount = 0;
  private chars = 0;

  /** Whether a frame came that is not acknowledged yet. */
  get isOwing(): boolean {
    return this.count > this.acknowledgedCount;
  }

  /** Count a frame that was handled; returns whether an acknowledgement is due now. */
  add(chars: number): boolean {
    this.count += 1;
    this.chars += chars;
    const frames = this.count - this.acknowledgedCount;
    return frames >= ACKNOWLEDGE_FRAMES || this.chars >= ACKNOWLEDGE_CHARS;
  }

  /** Take notice that an acknowledgement goes out; returns the count that it names. */
  acknowledged(): number {
    this.acknowledgedCount = this.count;
    this.chars = 0;
    return this.count;
  }
}
