// What is packaged, once, for deb and rpm alike: which package has which file, where it lies, which units it brings, what it depends on.
// scripts/package.mjs makes the packages out of this table. Data alone: nothing here reads, runs or writes.

/**
 * The processors: what Debian, rpm, Node.js and the compilers call each, and where Debian has its libraries. What is static is linked
 * with musl, whose specs come with musl-dev of that processor.
 */
export const PROCESSORS = {
  amd64: { rpm: 'x86_64', node: 'x64', triplet: 'x86_64-linux-gnu', musl: 'x86_64-linux-musl' },
  arm64: { rpm: 'aarch64', node: 'arm64', triplet: 'aarch64-linux-gnu', musl: 'aarch64-linux-musl' },
};

/** The newest symbols that a shared object may ask for, by what it is part of: what EL 8 and Debian 10 have, and for beoboard-gpu EL 9. */
export const FLOORS = {
  'libbeoboard.so': { GLIBC: '2.28' },
  'beoboard.node': { GLIBC: '2.28', GLIBCXX: '3.4.25', CXXABI: '1.3.11' },
  'beoboard-gpu': { GLIBC: '2.34' },
};

export const PROJECT = {
  summary: 'cluster scoreboard',
  maintainer: 'The beoboard authors <beoboard@localhost>',
  licence: 'MIT',
};

/** Where a format has what does not lie in the same place everywhere. */
export const PLACES = {
  deb: { lib: 'usr/lib/{triplet}', zsh: 'vendor-completions', development: 'libbeoboard-dev' },
  rpm: { lib: 'usr/lib64', zsh: 'site-functions', development: 'libbeoboard-devel' },
};

/** Packages of npm that the addon is compiled with, and that nothing needs when it runs. */
export const BUILD_ONLY = ['node-addon-api', 'node-api-headers'];

/** What has to go with a program that is linked with musl. */
export const MUSL_NOTICE = `This program is linked with musl, which is under the MIT licence:
Copyright © 2005-2020 Rich Felker, et al.
`;

// Files are rows [from, to]. `from` is in the repository, or in {built}, where the programs of a processor lie; `to` is in the system, and a
// folder where it ends with a slash. {lib} and its like are in PLACES. A folder is taken with all that is in it. Manual pages
// are compressed, what lies in a bin, sbin or is a shared object may be executed, and what lies in /etc is configuration. A row
// [null, to] is an empty folder, and ['-> target', to] a link.

const MAN = 'usr/share/man';
const UNITS = 'usr/lib/systemd/system/';
const SHARE = 'usr/share/beoboard/';
/** Manual pages, options and units name documents as docs/NAME.md and proto/NAME.md: below this folder. */
const DOC = 'usr/share/doc/beoboard/';

/**
 * Packages by their names. `rpm`: what else it is called there. `each`: one for each processor. `depends`: on other packages of these by
 * `ours`, else by the names of each. `units`: those it brings; enabled ones start at boot, and when it is installed, unless their
 * condition does not hold; all that run are restarted by an upgrade, but sockets, which are never stopped. `purges`: files that the
 * package reads, an administrator writes, and a purge takes away; keys are never taken away. `written`: what it may leave in memory.
 * `musl`: it holds musl, whose licence then has to be with it.
 */
export const PACKAGES = {
  'beoboard-common': {
    summary: 'user and folders of beoboard',
    description: [
      'What all packages need: the user beoboard, the folder /dev/shm/beoboard for',
      'the board, /run/beoboard for files that other programs write for the',
      'senders, /etc/beoboard for options, and a sysctl that lets the receiver have',
      'a socket buffer of 64 MiB.',
    ],
    depends: {
      deb: [
        'systemd | systemd-standalone-sysusers | systemd-sysusers',
        'systemd | systemd-standalone-tmpfiles | systemd-tmpfiles',
      ],
      rpm: ['systemd'],
    },
    sysusers: 'beoboard.conf',
    tmpfiles: 'beoboard.conf',
    sysctl: '60-beoboard.conf',
    written: ['/dev/shm/beoboard', '/run/beoboard'],
    files: [
      ['packaging/sysusers.d/beoboard.conf', 'usr/lib/sysusers.d/'],
      ['packaging/tmpfiles.d/beoboard.conf', 'usr/lib/tmpfiles.d/'],
      ['packaging/sysctl.d/60-beoboard.conf', 'usr/lib/sysctl.d/'],
      [null, 'etc/beoboard/'],
    ],
  },
  'beoboard-send': {
    each: true,
    summary: 'sender for compute nodes',
    description: [
      'A static program that reports the state of this node to the master, in one',
      'datagram a second. Its unit needs the file /etc/beoboard/send.toml.',
    ],
    depends: { ours: ['beoboard-common'] },
    musl: true,
    units: { 'beoboard-send.service': { enabled: true } },
    purges: ['/etc/beoboard/send.toml'],
    files: [
      ['{built}/beoboard-send', 'usr/sbin/'],
      ['c/sender/beoboard-send.8', `${MAN}/man8/`],
      ['packaging/systemd/beoboard-send.service', UNITS],
      ['packaging/config/send.toml', `${SHARE}send.toml`],
    ],
  },
  beoboard: {
    each: true,
    summary: 'receiver, commands and servers for the master',
    description: [
      'The receiver writes the reports of all nodes to a board in shared memory.',
      'Commands and servers show the board to people, Nagios, Ganglia, Prometheus',
      'and Slurm. After installation the receiver runs, and listens on this machine',
      'only, until /etc/beoboard/receive.toml says otherwise.',
    ],
    depends: {
      ours: ['beoboard-common'],
      deb: ['nodejs (>= 20)', 'libc6 (>= 2.28)', 'libstdc++6 (>= 8)', 'libgcc-s1 (>= 3.0)'],
      rpm: ['nodejs >= 1:20'],
    },
    units: {
      'beoboard-receive.service': { enabled: true },
      'beoboard-receive.socket': {},
      'beoboard-ganglia.service': { enabled: true },
      'beoboard-prometheus.service': { enabled: true },
      'beoboard-slurm.service': { enabled: true },
      'beoboard-supermon.service': { enabled: true },
      'beoboard-web.service': { enabled: true },
      // Gives Slurm orders: somebody has to want that.
      'beoboard-bridge.service': {},
      'beoboard-relay.service': {},
      // Its board takes the place of a receiver's.
      'beoboard-mirror.service': {},
      // Where beoboard-send.service is, too, either would end the other.
      'beoboard-send-nodejs.service': {},
    },
    purges: ['ganglia', 'prometheus', 'slurm', 'supermon', 'web', 'bridge', 'relay', 'mirror'].map(
      name => `/etc/beoboard/${name}.toml`,
    ),
    files: [
      ['{built}/program', 'usr/lib/beoboard/'],
      ['-> ../lib/beoboard/dist/bin/beoboard.cjs', 'usr/bin/beoboard'],
      ['c/lib/man/beoboard.1', `${MAN}/man1/`],
      ['packaging/systemd/beoboard-receive.service', UNITS],
      ['packaging/systemd/beoboard-receive.socket', UNITS],
      ['packaging/systemd/beoboard-ganglia.service', UNITS],
      ['packaging/systemd/beoboard-prometheus.service', UNITS],
      ['packaging/systemd/beoboard-slurm.service', UNITS],
      ['packaging/systemd/beoboard-supermon.service', UNITS],
      ['packaging/systemd/beoboard-web.service', UNITS],
      ['packaging/systemd/beoboard-bridge.service', UNITS],
      ['packaging/systemd/beoboard-relay.service', UNITS],
      ['packaging/systemd/beoboard-mirror.service', UNITS],
      ['packaging/systemd/beoboard-send-nodejs.service', UNITS],
      ['packaging/config/receive.toml', 'etc/beoboard/'],
      ['packaging/completions/beoboard.bash', 'usr/share/bash-completion/completions/beoboard'],
      ['packaging/completions/_beoboard', 'usr/share/zsh/{zsh}/_beoboard'],
      ['packaging/completions/beoboard.fish', 'usr/share/fish/vendor_completions.d/'],
      ['README.md', DOC],
      ['docs', `${DOC}docs/`],
      ['proto/board-v2.md', `${DOC}proto/`],
      ['proto/relay-v1.md', `${DOC}proto/`],
      ['proto/stat-v1.md', `${DOC}proto/`],
      ['packaging/grafana', `${SHARE}grafana/`],
      ['packaging/prometheus', `${SHARE}prometheus/`],
    ],
  },
  libbeoboard1: {
    each: true,
    rpm: 'libbeoboard',
    section: 'libs',
    summary: 'library to read the board',
    description: [
      'For schedulers in C, and in languages that call C: the state of each node,',
      'its last report, and the likely cause of a silence, from shared memory.',
    ],
    depends: { deb: ['libc6 (>= 2.28)'] },
    library: 'libbeoboard.so',
    files: [['{built}/lib/libbeoboard.so.*', '{lib}/']],
  },
  'libbeoboard-dev': {
    each: true,
    rpm: 'libbeoboard-devel',
    section: 'libdevel',
    summary: 'development files of libbeoboard',
    description: ['The header, the static library, a file for pkg-config, manual pages, examples.'],
    depends: { same: ['libbeoboard1'] },
    development: true,
    files: [
      ['c/beoboard.h', 'usr/include/'],
      ['{built}/lib/libbeoboard.so', '{lib}/'],
      ['{built}/lib/libbeoboard.a', '{lib}/'],
      ['{built}/lib/{format}/beoboard.pc', '{lib}/pkgconfig/'],
      ['c/lib/man/beoboard.3', `${MAN}/man3/`],
      ['c/lib/man/beoboard.5', `${MAN}/man5/`],
      ['c/lib/man/beoboard-stat.5', `${MAN}/man5/`],
      ['c/examples', 'usr/share/doc/{development}/examples/'],
    ],
  },
  'beoboard-gate': {
    each: true,
    summary: "gate for Slurm's jobs",
    description: [
      'A static program for PrologSlurmctld. Its exit code says whether the nodes of',
      'a job are live on the board, so that the job may start.',
    ],
    depends: {},
    musl: true,
    files: [
      ['{built}/beoboard-gate', 'usr/sbin/'],
      ['c/gate/beoboard-gate.8', `${MAN}/man8/`],
    ],
  },
  'beoboard-tools': {
    each: true,
    summary: 'short programs that read the board',
    description: [
      'beoboard-nodes lists nodes by their states. The exit code of beoboard-check',
      'says whether nodes are well. Both are static programs without Node.js, for',
      'prologs, cron and loops, with the output of beoboard nodes and beoboard check.',
    ],
    depends: {},
    musl: true,
    files: [
      ['{built}/beoboard-nodes', 'usr/bin/'],
      ['{built}/beoboard-check', 'usr/bin/'],
      ['c/verbs/beoboard-nodes.1', `${MAN}/man1/`],
      ['c/verbs/beoboard-check.1', `${MAN}/man1/`],
    ],
  },
  'beoboard-mon': {
    each: true,
    summary: "live readings of a node, by Supermon's protocol",
    description: [
      'A static program that answers with the current readings of this node, as',
      'often as it is asked. beoboard zoom starts it over ssh. It can also run as a',
      'service, which is not enabled by default and listens on this machine only.',
    ],
    depends: {},
    musl: true,
    units: { 'beoboard-mon.service': {} },
    files: [
      ['{built}/beoboard-mon', 'usr/sbin/'],
      ['c/mon/beoboard-mon.8', `${MAN}/man8/`],
      ['packaging/systemd/beoboard-mon.service', UNITS],
    ],
  },
  'beoboard-gpu': {
    each: true,
    summary: 'NVIDIA GPUs for the senders',
    description: [
      'Writes the readings of the NVIDIA GPUs of this machine for the sender. It',
      "loads the driver's own library at run time, and waits if there is no driver.",
    ],
    depends: { ours: ['beoboard-common'], deb: ['libc6 (>= 2.34)'] },
    units: { 'beoboard-gpu.service': { enabled: true } },
    files: [
      ['{built}/beoboard-gpu', 'usr/sbin/'],
      ['c/gpu/beoboard-gpu.8', `${MAN}/man8/`],
      ['packaging/systemd/beoboard-gpu.service', UNITS],
    ],
  },
};
