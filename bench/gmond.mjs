// The configuration of a real gmond, for several benchmarks.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

/** Its channels for sending and receiving. */
const channels = {
  hears: `udp_recv_channel { bind = 127.0.0.1 port = 8649 }
tcp_accept_channel { bind = 127.0.0.1 port = 8649 }`,
  sends: 'udp_send_channel { host = 127.0.0.1 port = 8649 }',
};

/**
 * A gmond.conf with the default metrics, which `gmond -t` prints. `does`: sends, hears, or both. `everySecond`: every
 * metric is collected and sent once a second; otherwise at its own thresholds. `name`: its host name and its address,
 * by which a gmond distinguishes hosts.
 */
export function gmondConf({ does, everySecond, name }) {
  const standard = execFileSync('gmond', ['-t'], { encoding: 'utf8' });
  let groups = standard.slice(standard.indexOf('modules {')).replace(/^include .*$/m, '');
  if (everySecond)
    groups = groups
      .replace(/^ *(collect_every|time_threshold) *= *\d+/gm, '$1 = 1')
      .replace(/^ *value_threshold *=.*$/gm, '');
  const modules = readdirSync('/usr/lib')
    .map(triplet => `/usr/lib/${triplet}/ganglia`)
    .find(existsSync);
  const who = name === undefined ? '' : `override_hostname = ${name}\n  override_ip = ${name}`;
  return `globals {
  daemonize = no
  setuid = no
  host_dmax = 0
  module_dir = "${modules}"
  mute = ${does.includes('sends') ? 'no' : 'yes'}
  deaf = ${does.includes('hears') ? 'no' : 'yes'}
  ${who}
}
cluster { name = "bench" }
${does.map(what => channels[what]).join('\n')}
${groups}`;
}
