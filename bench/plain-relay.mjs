// The minimum for carrying a board's reports to another process, with which relay and mirror are compared: the same
// sweeps, plain TCP, no signature, no index, no clock; at the other end each report is copied to its record.
//   node plain-relay.mjs sink            prints its port
//   node plain-relay.mjs source BOARD PORT

import { connect, createServer } from 'node:net';
import { Sweep } from '../dist/src/native/index.js';
import { tryBoard } from '../dist/src/shm/reader.js';
import { structs } from '../dist/test/kit/layout.gen.js';

const SWEEP_MS = 40;
const MOST_BYTES = 400_000;

function sink() {
  const places = new Map();
  const taken = bytes => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < bytes.length; at += view.getUint16(at + 2, true)) {
      if (view.getUint16(at, true) !== 1) continue;
      const record = view.getUint32(at + 4, true);
      let place = places.get(record);
      if (place === undefined) {
        place = new Uint8Array(structs.relay_report.bytes);
        places.set(record, place);
      }
      place.set(bytes.subarray(at, at + place.length));
    }
  };
  const server = createServer(socket => {
    let chunks = [];
    let length = 0;
    socket.on('data', chunk => {
      chunks.push(chunk);
      length += chunk.length;
      for (;;) {
        if (length < 4) return;
        let all = chunks.length === 1 ? chunks[0] : undefined;
        if (all === undefined) {
          if (chunks[0].length < 4) chunks = [Buffer.concat(chunks)];
          if (length < 4 + chunks[0].readUInt32LE(0)) return;
          all = Buffer.concat(chunks);
        }
        const bytes = all.readUInt32LE(0);
        if (all.length < 4 + bytes) {
          chunks = [all];
          return;
        }
        taken(all.subarray(4, 4 + bytes));
        chunks = [all.subarray(4 + bytes)];
        length = chunks[0].length;
      }
    });
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
}

function source(path, port) {
  const { board } = tryBoard(path);
  const sweep = new Sweep(board);
  sweep.prime();
  const socket = connect(Number(port), '127.0.0.1');
  const about = new Uint8Array(structs.relay_board.bytes);
  setInterval(() => {
    sweep.begin(false, 0, about);
    for (;;) {
      const message = new Uint8Array(MOST_BYTES);
      const { state, bytes } = sweep.take(message.subarray(8));
      new DataView(message.buffer).setUint32(4, bytes, true);
      socket.write(message.subarray(4, 8 + bytes));
      if (state !== 0) break;
    }
  }, SWEEP_MS);
}

process.on('disconnect', () => process.exit());
if (process.argv[2] === 'sink') sink();
else source(process.argv[3], process.argv[4]);
