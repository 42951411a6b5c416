// Whether this machine has IPv6. No test of its own.

import { once } from 'node:events';
import { createServer } from 'node:net';

/** Why nothing can listen by IPv6 here; false: it can. */
export const NO_IPV6: string | false = await (async () => {
  const server = createServer().listen(0, '::1');
  try {
    await once(server, 'listening');
    return false;
  } catch (error) {
    return `no IPv6 here: ${(error as Error).message}`;
  } finally {
    server.close();
  }
})();
