// Writes the frames of a stream; see wire.ts. Pure.

import { FRAME, FRAME_HEAD } from './wire.js';

type FrameKind = keyof typeof FRAME;

/** A frame with room for so many bytes of payload, and a view that begins at the payload. */
function frame(kind: FrameKind, bytes: number): [Uint8Array<ArrayBuffer>, DataView] {
  const whole = new Uint8Array(FRAME_HEAD + bytes);
  const view = new DataView(whole.buffer);
  view.setUint32(0, bytes + 1, true);
  view.setUint8(4, FRAME[kind]);
  return [whole, new DataView(whole.buffer, FRAME_HEAD)];
}

/** A frame of JSON. */
export function jsonFrame(kind: FrameKind, value: object): Uint8Array {
  const text = Buffer.from(JSON.stringify(value));
  const [whole] = frame(kind, text.length);
  whole.set(text, FRAME_HEAD);
  return whole;
}

const CELL_BYTES = 2;
const INDEX_BYTES = 4;

/** All cells. */
export function pictureFrame(layout: number, seq: number, cells: Uint16Array): Uint8Array {
  const [whole, view] = frame('picture', 8 + CELL_BYTES * cells.length);
  view.setUint32(0, layout, true);
  view.setUint32(4, seq, true);
  whole.set(new Uint8Array(cells.buffer, cells.byteOffset, cells.byteLength), FRAME_HEAD + 8);
  return whole;
}

/** The cells that differ from the last ones; undefined: sending all cells is shorter. */
export function changesFrame(
  layout: number,
  seq: number,
  seqBefore: number,
  before: Uint16Array,
  cells: Uint16Array,
): Uint8Array | undefined {
  let changed = 0;
  for (let i = 0; i < cells.length; i++) if (cells[i] !== before[i]) changed++;
  if (8 + (INDEX_BYTES + CELL_BYTES) * changed >= CELL_BYTES * cells.length && changed > 0) return undefined;
  const [whole, view] = frame('changes', 16 + (INDEX_BYTES + CELL_BYTES) * changed);
  view.setUint32(0, layout, true);
  view.setUint32(4, seq, true);
  view.setUint32(8, seqBefore, true);
  view.setUint32(12, changed, true);
  let [at, cell] = [16, 16 + INDEX_BYTES * changed];
  for (let i = 0; i < cells.length; i++) {
    if (cells[i] === before[i]) continue;
    view.setUint32(at, i, true);
    view.setUint16(cell, cells[i] as number, true);
    at += INDEX_BYTES;
    cell += CELL_BYTES;
  }
  return whole;
}
