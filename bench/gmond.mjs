// What the benchmarks share of a real gmond: its configuration.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

/** How it sends and hears. */
const channels = {
  hears: `udp_recv_channel { bind = 127.0.0.1 port = 8649 }
tcp_accept_channel { bind = 127.0.0.1 port = 8649 }`,
  sends: 'udp_send_channel { host = 127.0.0.1 port = 8649 }',
};

/**
 * A gmond.conf with what `gmond -t` prints: its default metrics. `does`: sends, hears, or both. `everySecond`: every
 * metric is looked at and sent once a second; else at its own thresholds. `name`: who it says that it is, which is its address, too:
 * by that a gmond tells hosts apart.
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
