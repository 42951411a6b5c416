// The packages, for both deb and rpm: their files and where these are installed, their units, and their dependencies.
// scripts/package.mjs makes the packages from this table. Only data: nothing here reads, runs or writes.

/**
 * The processors: their names in Debian, rpm, Node.js and the compilers, and the folder of Debian's libraries. Static
 * programs are linked with musl, whose specs come with musl-dev of that processor.
 */
export const PROCESSORS = {
  amd64: { rpm: 'x86_64', node: 'x64', triplet: 'x86_64-linux-gnu', musl: 'x86_64-linux-musl' },
  arm64: { rpm: 'aarch64', node: 'arm64', triplet: 'aarch64-linux-gnu', musl: 'aarch64-linux-musl' },
};

/** The newest versions of symbols that may be needed: those of EL 8 and Debian 10, and for beoboard-gpu of EL 9. */
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

/** Folders and names that differ between deb and rpm. */
export const PLACES = {
  deb: {
    lib: 'usr/lib/{triplet}',
    zsh: 'vendor-completions',
    development: 'libbeoboard-dev',
    python: 'usr/lib/python3/dist-packages',
  },
  // Its Python is that of EL 9.
  rpm: {
    lib: 'usr/lib64',
    zsh: 'site-functions',
    development: 'libbeoboard-devel',
    python: 'usr/lib/python3.9/site-packages',
  },
};

/** npm packages that are needed to compile the addon, and not at run time. */
export const BUILD_ONLY = ['node-addon-api', 'node-api-headers'];

/** The notice that a program linked with musl must have. */
export const MUSL_NOTICE = `This program is linked with musl, which is under the MIT licence:
Copyright © 2005-2020 Rich Felker, et al.
`;

// Files are rows [from, to]. `from` is in the repository, or in {built}, the folder of the programs for a processor;
// `to` is the path in the system, a folder if it ends with a slash. {lib} and the like are in PLACES. A folder is
// packaged with its contents, without what has a row of its own in any package. Manual pages are compressed; files in a
// bin or sbin and shared objects are executable; files in /etc are configuration. A row [null, to] is an empty folder,
// and ['-> target', to] a link.

const MAN = 'usr/share/man';
const UNITS = 'usr/lib/systemd/system/';
const SHARE = 'usr/share/beoboard/';
/** Manual pages, options and units name documents as docs/NAME.md and proto/NAME.md: below this folder. */
const DOC = 'usr/share/doc/beoboard/';

/**
 * Packages by name. `rpm`: its name there, if that differs. `each`: one for each processor. `depends`: `ours` are
 * packages of this table; others have their names in deb and rpm. `units`: its units; enabled ones start at boot and at
 * installation if their conditions hold; an upgrade restarts all running ones except sockets, which are never stopped.
 * Of a template, `instance` is the one that is meant; its [Install] names the same.
 * `sysctl`: what it sets. `purges`: files that the package reads and an administrator writes, which a purge removes;
 * keys are never removed. `written`: what it may leave in memory, or in folders of its own; `emptied`: a folder of
 * another package, which may stay. `musl`: it contains musl,
 * and so must have its licence. `python`: its module. `recommends`: packages of this table. `splits`: the package whose
 * older versions had some of its files and units; `replaces`: one whose place it takes. What an administrator decided
 * about their units stays, and what ran runs. `next`: what an administrator has to do after a first installation.
 */
export const PACKAGES = {
  'beoboard-common': {
    summary: 'user and folders of beoboard',
    description: [
      'What all packages need: the user beoboard, the folder /dev/shm/beoboard for',
      'the board, /run/beoboard for files that other programs write for the',
      'senders, and /etc/beoboard for options.',
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
    written: ['/dev/shm/beoboard', '/run/beoboard'],
    files: [
      ['packaging/sysusers.d/beoboard.conf', 'usr/lib/sysusers.d/'],
      ['packaging/tmpfiles.d/beoboard.conf', 'usr/lib/tmpfiles.d/'],
      [null, 'etc/beoboard/'],
      // Both senders read the health file.
      ['c/sender/beoboard-health.5', `${MAN}/man5/`],
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
    next: 'beoboard-send: it starts when there is /etc/beoboard/send.toml (as /usr/share/beoboard/send.toml): systemctl restart beoboard-send',
    files: [
      ['{built}/beoboard-send', 'usr/sbin/'],
      ['c/sender/beoboard-send.8', `${MAN}/man8/`],
      ['packaging/systemd/beoboard-send.service', UNITS],
      ['packaging/config/send.toml', `${SHARE}send.toml`],
      ['packaging/health/nhc-beoboard', SHARE],
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
    // Where 0.2.0 served Supermon's clients, an upgrade must not end that.
    // Its groups for ClusterShell and its commands for Nagios call programs of beoboard-tools.
    recommends: ['beoboard-supermon', 'beoboard-tools'],
    sysusers: 'beoboard-master.conf',
    // So that the receiver may have a socket buffer of 64 MiB.
    sysctl: 'net.core.rmem_max',
    units: {
      'beoboard-receive.service': { enabled: true },
      'beoboard-receive.socket': {},
      'beoboard-ganglia.service': { enabled: true },
      'beoboard-journal@.service': { enabled: true, instance: 'default' },
      'beoboard-prometheus.service': { enabled: true },
      'beoboard-slurm.service': { enabled: true },
      'beoboard-web.service': { enabled: true },
      // Not enabled, because it changes the state of nodes in Slurm: an administrator must decide that.
      'beoboard-bridge.service': {},
      'beoboard-relay.service': {},
      // Not enabled, because its board replaces a receiver's.
      'beoboard-mirror.service': {},
      // Not enabled, because it and beoboard-send.service stop each other.
      'beoboard-send-nodejs.service': {},
    },
    purges: ['ganglia', 'journal-*', 'prometheus', 'slurm', 'web', 'bridge', 'relay', 'mirror', 'send'].map(
      name => `/etc/beoboard/${name}.toml`,
    ),
    written: ['/var/lib/beoboard-bridge', '/var/log/beoboard', '/run/beoboard-bridge', '/run/beoboard-journal'],
    emptied: '/dev/shm/beoboard',
    next: 'beoboard: the receiver listens on this machine only; edit /etc/beoboard/receive.toml, systemctl restart beoboard-receive, beoboard check --setup',
    files: [
      ['{built}/program', 'usr/lib/beoboard/'],
      ['-> ../lib/beoboard/dist/bin/beoboard.cjs', 'usr/bin/beoboard'],
      ['c/lib/man/beoboard.1', `${MAN}/man1/`],
      ['packaging/man', `${MAN}/man1/`],
      ['packaging/systemd/beoboard-receive.service', UNITS],
      ['packaging/systemd/beoboard-receive.socket', UNITS],
      ['packaging/systemd/beoboard-ganglia.service', UNITS],
      ['packaging/systemd/beoboard-journal@.service', UNITS],
      ['packaging/systemd/beoboard-prometheus.service', UNITS],
      ['packaging/systemd/beoboard-slurm.service', UNITS],
      ['packaging/systemd/beoboard-web.service', UNITS],
      ['packaging/systemd/beoboard-bridge.service', UNITS],
      ['packaging/systemd/beoboard-relay.service', UNITS],
      ['packaging/systemd/beoboard-mirror.service', UNITS],
      ['packaging/systemd/beoboard-send-nodejs.service', UNITS],
      // On a node, where this package is not installed, the sender stays the user beoboard.
      ['packaging/dropins/master.conf', `${UNITS}beoboard-send.service.d/`],
      ['packaging/dropins/master.conf', `${UNITS}beoboard-send-nodejs.service.d/`],
      ['packaging/sysusers.d/beoboard-master.conf', 'usr/lib/sysusers.d/'],
      ['packaging/sysctl.d/10-beoboard-master.conf', 'usr/lib/sysctl.d/'],
      ['packaging/config/receive.toml', 'etc/beoboard/'],
      ['packaging/config/journal-default.toml', 'etc/beoboard/'],
      ['packaging/completions/beoboard.bash', 'usr/share/bash-completion/completions/beoboard'],
      ['packaging/completions/_beoboard', 'usr/share/zsh/{zsh}/_beoboard'],
      ['packaging/completions/beoboard.fish', 'usr/share/fish/vendor_completions.d/'],
      ['README.md', DOC],
      ['CHANGELOG.md', DOC],
      ['CONTRIBUTING.md', DOC],
      ['docs', `${DOC}docs/`],
      ['proto/board-v2.md', `${DOC}proto/`],
      ['proto/relay-v1.md', `${DOC}proto/`],
      ['proto/stat-v1.md', `${DOC}proto/`],
      ['examples', `${DOC}examples/`],
      ['packaging/grafana', `${SHARE}grafana/`],
      ['packaging/clustershell/groups.py', `${SHARE}clustershell/`],
      ['packaging/clustershell/beoboard.conf', 'etc/clustershell/groups.conf.d/'],
      ['packaging/nagios', `${SHARE}nagios/`],
      ['packaging/nats', `${SHARE}nats/`],
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
  'python3-beoboard': {
    section: 'python',
    summary: 'Python module to read the board, inventory for Ansible',
    description: [
      'States, reports, rates and trouble of all nodes, from shared memory, by',
      'libbeoboard. Typed, in pure Python. beoboard-inventory gives Ansible groups',
      'of nodes by their states and problems.',
    ],
    depends: {
      ours: ['libbeoboard1'],
      deb: ['python3 (>= 3.9)'],
      rpm: ['python(abi) = 3.9'],
    },
    python: 'beoboard',
    files: [
      ['python/beoboard', '{python}/beoboard/'],
      ['packaging/ansible/beoboard-inventory', 'usr/bin/'],
      ['packaging/ansible/beoboard-inventory.1', `${MAN}/man1/`],
    ],
  },
  'beoboard-gate': {
    each: true,
    summary: "gate for Slurm's jobs, load sensor for Grid Engine",
    description: [
      'A static program for PrologSlurmctld. Its exit code says whether the nodes of',
      'a job are live on the board, so that the job may start. Another is a load',
      'sensor, by which Grid Engine keeps jobs off hosts that are silent.',
    ],
    depends: {},
    musl: true,
    files: [
      ['{built}/beoboard-gate', 'usr/sbin/'],
      ['c/gate/beoboard-gate.8', `${MAN}/man8/`],
      ['{built}/beoboard-sensor', 'usr/sbin/'],
      ['c/sensor/beoboard-sensor.8', `${MAN}/man8/`],
      ['examples/gridengine', 'usr/share/doc/beoboard-gate/examples/gridengine/'],
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
  'beoboard-supermon': {
    each: true,
    summary: "Supermon's protocol, and a close look at one node",
    description: [
      'On the master, the verbs supermon and zoom of beoboard, which has to be of the',
      'same version. On nodes, beoboard-mon, a static program that answers with the',
      'current readings, as often as it is asked; beoboard zoom starts it over ssh.',
      'As a service it is not enabled by default, and listens on this machine only.',
    ],
    // A node needs no Node.js.
    depends: {},
    splits: 'beoboard',
    replaces: 'beoboard-mon',
    musl: true,
    units: { 'beoboard-supermon.service': { enabled: true }, 'beoboard-mon.service': {} },
    purges: ['/etc/beoboard/supermon.toml'],
    next: 'beoboard-supermon: it serves when there is /etc/beoboard/supermon.toml: systemctl restart beoboard-supermon',
    files: [
      ['{built}/program/dist/bin/supermon-*.cjs', 'usr/lib/beoboard/dist/bin/'],
      ['{built}/program/dist/bin/zoom-*.cjs', 'usr/lib/beoboard/dist/bin/'],
      ['packaging/man/beoboard-supermon.1', `${MAN}/man1/`],
      ['packaging/man/beoboard-zoom.1', `${MAN}/man1/`],
      ['packaging/systemd/beoboard-supermon.service', UNITS],
      ['{built}/beoboard-mon', 'usr/sbin/'],
      ['c/mon/beoboard-mon.8', `${MAN}/man8/`],
      ['packaging/systemd/beoboard-mon.service', UNITS],
      ['docs/supermon.md', `${DOC}docs/`],
    ],
  },
  'beoboard-gpu': {
    each: true,
    summary: 'GPUs for the senders',
    description: [
      'Writes the readings of the GPUs of this machine for the sender. It',
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
