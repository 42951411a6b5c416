// A million random keys and messages: see test/keys/hmacs.ts. Not part of `npm test`.
//   npm run test:long -- hmac          SEED=n repeats a run, MESSAGES=n makes it shorter or longer

import t from 'tap';
import { agree } from './hmacs.js';

t.test('OpenSSL in the addon, our own C code, and node:crypto agree', { timeout: 1_000_000 }, async t => {
  const messages = Number(process.env.MESSAGES ?? 1_000_000);
  agree(t, messages);
  t.comment(`${messages} random keys and messages, three ways, the same tags`);
});
