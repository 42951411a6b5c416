// Splits the stream of bytes into frames: [u32 length of the rest][u8 kind][payload], in whatever pieces it arrives.
// Knows no payload.

/** The longest frame: a picture of a million nodes is 2 MB. */
const LONGEST = 1 << 24;

export interface StreamFrame {
  readonly kind: number;
  /** A copy, which stays valid. */
  readonly payload: Uint8Array;
}

export class FrameReader {
  /** The bytes that are not yet a whole frame; the first `#filled` bytes count. */
  #rest = new Uint8Array(1 << 16);
  #filled = 0;

  /** The frames that are complete with these bytes, in order. Throws if the bytes are not frames. */
  push(bytes: Uint8Array): StreamFrame[] {
    this.#append(bytes);
    const frames: StreamFrame[] = [];
    const view = new DataView(this.#rest.buffer);
    let at = 0;
    while (this.#filled - at >= 5) {
      const length = view.getUint32(at, true);
      if (length < 1 || length > LONGEST) throw new Error(`a frame of ${length} bytes`);
      if (this.#filled - at - 4 < length) break;
      frames.push({ kind: this.#rest[at + 4] as number, payload: this.#rest.slice(at + 5, at + 4 + length) });
      at += 4 + length;
    }
    this.#rest.copyWithin(0, at, this.#filled);
    this.#filled -= at;
    return frames;
  }

  #append(bytes: Uint8Array): void {
    const wanted = this.#filled + bytes.length;
    if (wanted > this.#rest.length) {
      const larger = new Uint8Array(Math.max(wanted, 2 * this.#rest.length));
      larger.set(this.#rest.subarray(0, this.#filled));
      this.#rest = larger;
    }
    this.#rest.set(bytes, this.#filled);
    this.#filled = wanted;
  }
}
