// HMAC-SHA-256 by three implementations: the OpenSSL that the addon finds in Node, our own C code, and node:crypto. No
// test of its own.

import { createHmac } from 'node:crypto';
import { addon } from '../../src/native/addon.js';

/** HMAC-SHA-256 by the OpenSSL inside Node if there is one, or with `own` by our own code; so many times with one key. */
const { hmac } = addon as {
  hmac(secret: Uint8Array, data: Uint8Array, own: boolean, rounds: number): { tag: Uint8Array; openssl: boolean };
};

/** The part of tap that a test needs. */
interface Test {
  comment(text: string): void;
  equal(found: unknown, wanted: unknown, ...what: [string]): unknown;
}

const MOST = 1300;

/** Compares them for so many random keys and messages; SEED repeats a run. */
export function agree(t: Test, messages: number): void {
  const seed = process.env.SEED ?? String(Date.now() % 1_000_000);
  t.comment(`SEED=${seed}`);
  // Random but repeatable: the seed is hashed to a pool, and keys and messages are parts of it.
  let state = Buffer.from(seed);
  const more = () => {
    state = createHmac('sha256', 'pool').update(state).digest();
    return state;
  };
  const pool = Buffer.concat(Array.from({ length: 4096 }, more));
  let openssl = 0;
  for (let i = 0; i < messages; i++) {
    const random = more();
    const at = random.readUInt32LE(0) % (pool.length - MOST);
    // First every length, then random ones, and often the length of a report.
    const length = i <= MOST ? i : i % 4 === 0 ? 1200 : random.readUInt32LE(4) % MOST;
    const message = pool.subarray(at, at + length);
    const wanted = createHmac('sha256', random).update(message).digest();
    const found = hmac(random, message, false, 1);
    openssl += found.openssl ? 1 : 0;
    if (!wanted.equals(found.tag))
      t.equal(Buffer.from(found.tag).toString('hex'), wanted.toString('hex'), `OpenSSL, ${i}`);
    const { tag } = hmac(random, message, true, 1);
    if (!wanted.equals(tag)) t.equal(Buffer.from(tag).toString('hex'), wanted.toString('hex'), `our own, ${i}`);
  }
  t.equal(openssl, messages, `${messages} messages, one way was OpenSSL`);
}
