// What a receiver in JavaScript cannot do without: a UDP socket of Node, and a copy of each datagram into a slot. Understands nothing of what
// it receives.
//   node-receiver.mjs SLOTS          a child that tells its port, and ten times a second how many it has taken

import { createSocket } from 'node:dgram';

const STRIDE = 2944; // of records on the board
const slots = Number(process.argv[2]);
const board = new Uint8Array(slots * STRIDE).fill(1);
const socket = createSocket({ type: 'udp4', recvBufferSize: 64 << 20 });
let count = 0;
socket.on('message', datagram => {
  board.set(datagram, (count++ % slots) * STRIDE);
});
socket.bind(0, '127.0.0.1', () => process.send({ port: socket.address().port }));
setInterval(() => process.send({ count }), 100);
process.on('disconnect', () => process.exit());
