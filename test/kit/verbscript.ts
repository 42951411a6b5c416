// A program `beoboard` for a shell that has many command lines: it asks a process that is there already (verbchild.ts),
// so it starts no Node. No test of its own.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Teardown } from './places.js';
import { verbChild } from './verbchild.js';

/** What bash sends is the number of arguments and then each, all ended by NUL; it gets the code, the length of stdout, and both outputs. */
const script = (port: number) => `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${port}
printf '%s\\0' $# "$@" >&3
read -r code length <&3
head -c "$length" <&3
cat <&3 >&2
exit "$code"
`;

/** Writes it into a folder; verbs have this environment, and the working directory that the test has now. */
export async function writeVerbScript(t: Teardown, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const ask = verbChild(t);
  const server = createServer(socket => {
    let asked = '';
    socket.setEncoding('utf8').on('data', async text => {
      asked += text;
      const [count, ...argv] = asked.split('\0').slice(0, -1);
      if (argv.length !== Number(count)) return;
      const { code, stdout, stderr } = await ask(argv, env);
      socket.end(`${code} ${Buffer.byteLength(stdout)}\n${stdout}${stderr}`);
    });
    // A reader that has seen enough, such as `head`, ends before it has all.
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  writeFileSync(join(folder, 'beoboard'), script((server.address() as AddressInfo).port), { mode: 0o755 });
}
