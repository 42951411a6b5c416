// The files of a journal's folder: which of them are believed, and their lines. Everything in it may be foreign, half
// written, or gone a moment later.

import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { findUser, JOURNAL, userName } from '../options/users.js';
import { Failure } from '../text/failure.js';
import { oneLine, whyUnreadable } from '../text/text.js';
import { LINE_BYTES, parseLine, SEGMENT_BYTES, type Segment, type SegmentKind, segmentsOf } from './format.js';

/** The exit code of a program that found no journal: that of one without a board. */
const NO_JOURNAL = 4;

/** A folder that has no journal, or none that this user may read. */
export class NoJournal extends Failure {
  constructor(folder: string, why: string) {
    super(`${oneLine(folder)}: ${why}`, NO_JOURNAL);
  }
}

/** The users whose files are believed. Throws a Failure if there is no user with the owner's name. */
export function believedUsers(owner: number | string | undefined): ReadonlySet<number> {
  const found = typeof owner === 'string' ? findUser(owner)?.uid : owner;
  if (owner !== undefined && found === undefined)
    throw new Failure(`there is no user ${oneLine(String(owner))} in /etc/passwd; give --owner its id`, 2);
  const users = [0, process.geteuid?.(), findUser(JOURNAL)?.uid, found];
  return new Set(users.filter(user => user !== undefined));
}

/** A segment that is read. It stays readable when the journal removes it. */
export interface OpenSegment {
  readonly segment: Segment;
  /** -1 when it is not needed any more. */
  fd: number;
}

export function closeSegment(opened: OpenSegment): void {
  if (opened.fd >= 0) closeSync(opened.fd);
  opened.fd = -1;
}

/** Waits for nobody if a FIFO has taken its place, and follows no link. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

/** How much is read at once. */
const PIECE_BYTES = 1 << 17;

const NEW_LINE = 10;

/** No line has fewer bytes: it has an id. */
const LEAST_BYTES = 32;

/**
 * Calls `each` with every whole line from that byte on, and where it begins; returns where the last one ends. A line too
 * long or too short to be one of a journal is given as undefined. `pieces`: reads no more than so many, unless a line is
 * longer.
 */
export function scan(
  fd: number,
  from: number,
  each: (line: string | undefined, offset: number, bytes: number) => void,
  pieces = Number.POSITIVE_INFINITY,
): number {
  let room = Buffer.allocUnsafe(PIECE_BYTES);
  // Where the room's first byte stands in the file, and how many bytes of a line without its end are in it.
  let [at, held] = [from, 0];
  // Where a line began that does not fit.
  let tooLong: number | undefined;
  for (let piece = 1; at + held < SEGMENT_BYTES; piece++) {
    if (room.length < held + PIECE_BYTES)
      room = Buffer.concat([room, Buffer.allocUnsafe(held + PIECE_BYTES - room.length)]);
    const read = readSync(fd, room, held, Math.min(PIECE_BYTES, SEGMENT_BYTES - at - held), at + held);
    if (read === 0) break;
    const bytes = room.subarray(0, held + read);
    let start = 0;
    for (let end = bytes.indexOf(NEW_LINE, held); end >= 0; end = bytes.indexOf(NEW_LINE, start)) {
      const offset = tooLong ?? at + start;
      const length = at + end + 1 - offset;
      const isNone = length > LINE_BYTES || length < LEAST_BYTES;
      each(isNone ? undefined : bytes.toString('utf8', start, end), offset, length);
      tooLong = undefined;
      start = end + 1;
    }
    held = bytes.length - start;
    at += start;
    if (held > LINE_BYTES || (tooLong !== undefined && held > 0)) {
      tooLong ??= at;
      at += held;
      held = 0;
    }
    if (piece >= pieces && at > from && tooLong === undefined) break;
    room.copyWithin(0, start, start + held);
  }
  return tooLong ?? at;
}

/** A line of a segment, without its end; undefined if it does not stand there any more. */
export function lineAt({ fd }: OpenSegment, offset: number, bytes: number): string | undefined {
  const room = Buffer.allocUnsafe(bytes);
  return readSync(fd, room, 0, bytes, offset) === bytes ? room.toString('utf8', 0, bytes - 1) : undefined;
}

/** When the first line of a segment that can be read was written down, ms since 1970; undefined: there is none at its head. */
export function beganAt({ fd }: OpenSegment): number | undefined {
  let first: number | undefined;
  scan(
    fd,
    0,
    text => {
      const line = first === undefined && text !== undefined ? parseLine(text) : undefined;
      if (line !== undefined) first = Date.parse(line.at);
    },
    1,
  );
  return first;
}

export class JournalFolder {
  /** Segments that are not read, and why. */
  readonly refused = new Map<string, string>();
  /** Whether there are jobs that this user may not read. */
  areJobsDenied = false;

  constructor(
    readonly path: string,
    readonly believed: ReadonlySet<number>,
  ) {}

  /** The segments that are there now, in the order of writing. Throws NoJournal. */
  segments(kind: SegmentKind): Segment[] {
    let names: string[];
    try {
      names = readdirSync(this.path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') throw this.absent();
      if (code === 'EACCES') throw new NoJournal(this.path, 'permission denied; run this as a user who may read it');
      throw new NoJournal(this.path, `${whyUnreadable(error)}; name a folder that can be read by --journal-dir`);
    }
    return segmentsOf(names, kind);
  }

  /** Whether it is still the file of its name. */
  has({ segment, fd }: OpenSegment): boolean {
    const there = lstatSync(join(this.path, segment.name), { throwIfNoEntry: false });
    const { ino, dev } = fstatSync(fd);
    return there?.ino === ino && there.dev === dev;
  }

  absent(): NoJournal {
    return new NoJournal(this.path, 'there is no journal; start beoboard journal, or give its --journal-dir');
  }

  /** There are segments, and none of them is read. */
  unread(): NoJournal {
    const [[name = '', why = ''] = []] = [...this.refused];
    return new NoJournal(this.path, `${oneLine(name)} is not read: ${why}`);
  }

  /** Opens a segment; undefined if it is gone, or not believed, or may not be read. */
  open(segment: Segment): OpenSegment | undefined {
    const { name, kind } = segment;
    let fd: number;
    try {
      fd = openSync(join(this.path, name), AT_ONCE);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' && kind === 'jobs') this.areJobsDenied = true;
      // The oldest go while the journal is read.
      else if (code !== 'ENOENT') this.refused.set(name, code === 'ELOOP' ? 'it is a link' : whyUnreadable(error));
      return undefined;
    }
    const stats = fstatSync(fd);
    const objection = !stats.isFile()
      ? 'it is no plain file'
      : this.believed.has(stats.uid)
        ? undefined
        : `it belongs to ${userName(stats.uid)}, and only files of root, ${JOURNAL}, yourself and --owner are believed`;
    if (objection === undefined) {
      if (stats.size > SEGMENT_BYTES) this.refused.set(name, 'it is too large: only its beginning is read');
      return { segment, fd };
    }
    this.refused.set(name, objection);
    closeSync(fd);
    return undefined;
  }
}
