// Pages of the wall that are never drawn: each reads the stream of one of three readings and discards it. `node
// pages.mjs PORT N`; sends its parent the time of each first picture, ms, and on request the number of received bytes.

import { get } from 'node:http';

const [, , port, count] = process.argv;
const READINGS = ['cpu', 'mem', 'net'];
const PICTURE = 3;

let bytes = 0;
for (let i = 0; i < Number(count); i++) {
  const began = performance.now();
  const path = `/api/v1/stream?reading=${READINGS[i % READINGS.length]}`;
  get({ host: '127.0.0.1', port, path, agent: false }, response => {
    let begin = Buffer.alloc(0);
    let hasPicture = false;
    response.on('data', data => {
      bytes += data.length;
      if (hasPicture) return;
      begin = Buffer.concat([begin, data]);
      for (let at = 0; begin.length >= at + 5; at += 4 + begin.readUInt32LE(at)) {
        if (begin[at + 4] !== PICTURE || begin.length < at + 4 + begin.readUInt32LE(at)) continue;
        hasPicture = true;
        begin = Buffer.alloc(0);
        process.send({ first: performance.now() - began });
        return;
      }
    });
  });
}
process.on('message', () => process.send({ bytes }));
process.on('disconnect', () => process.exit());
