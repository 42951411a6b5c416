// The minimum for a receiver in JavaScript: a UDP socket of Node, and a copy of each datagram into a slot. It parses
// nothing.
//   node-receiver.mjs SLOTS          a child that sends its port, and ten times a second its count of datagrams

import { createSocket } from 'node:dgram';

const STRIDE = 3136; // of records on the board
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
