// The minimum for a sender: reads the files of the fast sets as often as beoboard's sender does, and sends as many
// bytes to the same place. It parses nothing. It reads with promises, as in the first example of Node's manual; with
// `sync` by readFileSync; with `lean` it keeps the files open, as few programs do. With `slow` it also reads the files
// of the slow side; with `six` only six files. On SIGHUP it changes to one report a second.
//   node bare-sender.mjs PORT INTERVAL_MS [sync | lean] [slow] [six]

import { createSocket } from 'node:dgram';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

const [port = '', interval = '1000', ...how] = process.argv.slice(2);
const slow = how.includes('slow');
const lean = how.includes('lean');
const sync = how.includes('sync');
const six = ['stat', 'loadavg', 'meminfo', 'vmstat', 'net/dev', 'diskstats'].map(name => `/proc/${name}`);
const buffer = Buffer.alloc(1 << 20);
const datagram = Buffer.alloc(1216);

const list = dir => {
  try {
    return readdirSync(dir).map(name => `${dir}/${name}`);
  } catch {
    return [];
  }
};

/** Reads an open file from its beginning to its end. */
function readAll(fd) {
  let length = 0;
  for (let got = 1; got > 0; length += got)
    got = readSync(fd, buffer, length, Math.min(4096, buffer.length - length), length);
}

function readOnce(path) {
  let fd;
  try {
    fd = openSync(path, 'r');
    readAll(fd);
  } catch {
    // The sender leaves it out, too.
  }
  if (fd !== undefined) closeSync(fd);
}

const paths = [
  ...['stat', 'loadavg', 'meminfo', 'vmstat', 'pressure/cpu', 'pressure/memory', 'pressure/io', 'pressure/irq'],
  ...['net/snmp', 'net/dev', 'diskstats', 'sys/fs/file-nr'],
]
  .map(name => `/proc/${name}`)
  .concat(['online', 'present'].map(name => `/sys/devices/system/cpu/${name}`))
  .filter(path => {
    if (how.includes('six') && !six.includes(path)) return false;
    try {
      readFileSync(path);
      return true;
    } catch {
      return false;
    }
  });
const open = lean ? paths.map(path => openSync(path, 'r')) : [];

/** Every tenth tick: the interfaces and the sizes of disks. */
function seldom() {
  const physical = list('/sys/class/net').filter(dir => existsSync(`${dir}/device`));
  for (const dir of physical) for (const leaf of ['ifindex', 'flags', 'operstate']) readOnce(`${dir}/${leaf}`);
  for (const dir of list('/sys/block')) if (!/\/(loop|ram|zram|dm-|md)/.test(dir)) readOnce(`${dir}/size`);
}

/** The slow side: some files in every round, and the others at their own intervals. */
function slowly(tick) {
  for (const zone of list('/sys/class/powercap'))
    for (const leaf of ['name', 'max_energy_range_uj', 'energy_uj']) readOnce(`${zone}/${leaf}`);
  for (const device of list('/sys/class/infiniband'))
    for (const port of list(`${device}/ports`)) for (const path of list(`${port}/counters`)) readOnce(path);
  for (const name of ['health', 'hold']) readOnce(`/run/beoboard/${name}`);
  if (tick % 5 === 0) {
    for (const name of ['power', 'gpu']) readOnce(`/run/beoboard/${name}`);
    for (const chip of list('/sys/class/hwmon')) readOnce(`${chip}/temp1_input`);
  }
  if (tick % 10 === 0)
    for (const path of ['/proc/sys/kernel/tainted', '/proc/self/mountinfo', '/proc/self/mountinfo']) readOnce(path);
}

const socket = createSocket('udp4');
socket.bind(0, '127.0.0.1', () => socket.connect(Number(port), '127.0.0.1', start));

let tick = 0;
let round = 0;
let every = Math.max(1, Math.round(1000 / Number(interval)));

async function report() {
  if (lean) for (const fd of open) readAll(fd);
  else if (sync) for (const path of paths) readFileSync(path);
  else await Promise.all(paths.map(path => readFile(path)));
  if (tick % 10 === 0 && !how.includes('six')) seldom();
  if (slow && tick % every === 0) slowly(round++);
  datagram.writeUInt32LE(tick++, 24);
  socket.send(datagram);
}

function start() {
  const timer = setInterval(report, Number(interval));
  process.on('SIGHUP', () => {
    clearInterval(timer);
    every = 1;
    setInterval(report, 1000);
  });
}
