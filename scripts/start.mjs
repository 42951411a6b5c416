// `npm start`: builds what is missing, and then is `beoboard demo`. All in one process, the child of npm: it gets the
// signals that npm passes on, and ends when npm has gone, even by kill -9. Plain JavaScript without dependencies,
// because it runs before there are any.

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../dist/bin/beoboard.cjs', import.meta.url));
const npm = process.ppid;
setInterval(() => {
  if (process.ppid !== npm) process.kill(process.pid, 'SIGTERM');
}, 500).unref();

await import('./build.mjs');
process.argv.splice(1, 1, program, 'demo');
createRequire(import.meta.url)(program);
