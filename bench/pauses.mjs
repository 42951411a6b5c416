// Watches the clock every 20 ms; when asked, lists every pause of more than 0.2 s, in ms.

const EVERY_MS = 20;
const LONG_MS = 200;
const pauses = [];
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  if (now - last - EVERY_MS > LONG_MS) pauses.push(now - last - EVERY_MS);
  last = now;
}, EVERY_MS);
process.on('message', () => process.send(pauses));
process.on('disconnect', () => process.exit());
