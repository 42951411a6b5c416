// The sender in C in a container: with --root it reports the machine whose root is there, as it would outside.
// packages/image runs it in one.
//
// @seconds 6
// @rest
// @days 3

import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, rmSync, statfsSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compileSender } from '../kit/compiling.js';
import { folder } from '../kit/places.js';
import { machines, prepare, readable, seenFromInside } from '../kit/tree.js';
import { askC } from '../kit/twosenders.js';
import { todayOf } from '../kit/whole.js';

const sender = compileSender(t);

t.test('every machine, to the byte, as from outside', async t => {
  // Each takes half a second: a quarter of them, others each day.
  for (const machine of todayOf(machines(), 4)) {
    const own = folder(t);
    const argv = prepare(machine, own);
    const options = argv.slice(1, argv.indexOf('--proc'));
    const tree = join(own, 'now');
    const outside = askC(sender, [...options, '--proc', join(tree, 'proc'), '--sys', join(tree, 'sys')]);
    t.equal(outside.code, 0, machine);
    seenFromInside(tree);
    const pretend = join(own, 'pretend.toml');
    const links = readFileSync(pretend, 'utf8').replace(/^"(\/.*)" = "(\/.*)"$/gm, `"${tree}$1" = "${tree}$2"`);
    writeFileSync(pretend, links);
    const inside = askC(sender, [...options, '--root', `${tree}/`]);
    const said = inside.said.replaceAll(`${tree}/proc/1/`, `${tree}/proc/`);
    t.strictSame({ ...inside, said }, { ...outside, said: outside.said.replaceAll('/proc/self/', '/proc/') }, machine);
  }
});

t.test('file systems, software, and files of others are below the root', async t => {
  const own = folder(t);
  prepare('two-sockets', own);
  const tree = join(own, 'now');
  seenFromInside(tree);
  const answer = (...more: string[]) => {
    const { code, report, said } = askC(sender, ['--once', '--to', '-', '--root', tree, ...more]);
    t.equal(code, 0, said);
    return { said, report: readable(Buffer.from(report, 'hex')) };
  };
  const sets = ({ report }: ReturnType<typeof answer>) => report.valid as string[];

  const bare = answer();
  const { blocks, bsize } = statfsSync(tree, { bigint: true });
  t.equal(bare.report.root_total_mib, Number((blocks * bsize) >> 20n));
  t.notOk(sets(bare).includes('health'), 'no health file yet');
  // What is there is of a user that only the machine knows.
  writeFileSync(join(tree, 'etc', 'passwd'), 'beoboard:x:4711:4711::/:/bin/false\n');
  mkdirSync(join(tree, 'run', 'beoboard'));
  const health = join(tree, 'run', 'beoboard', 'health');
  writeFileSync(health, 'bad\n', { mode: 0o644 });
  if (process.getuid?.() === 0) chownSync(health, 4711, 4711);
  t.equal(answer().report.health, 'bad');
  const { report } = answer();
  writeFileSync(join(tree, 'etc', 'os-release'), 'ID=other\n');
  t.not(answer().report.sw_hash, report.sw_hash, 'the software is that of its /etc');

  // Nobody ever writes into it, and nobody waits.
  rmSync(join(tree, 'etc', 'passwd'));
  spawnSync('mkfifo', [join(tree, 'etc', 'passwd')]);
  answer();

  // The machine has /boot and /local on disks of their own, but what is there is of the file system below.
  const whole = () => answer('--scratch', '/scratch');
  for (const name of ['boot', 'local']) mkdirSync(join(tree, name));
  t.equal(whole().report.fs_total_mib, report.root_total_mib, 'a mount that the container does not see is left out');
  mkdirSync(join(tree, 'local', 'scratch'));
  const scratch = join(tree, 'scratch');
  symlinkSync('local/scratch', scratch);
  t.notOk(sets(whole()).includes('scratch'), 'nor is it taken for the scratch');
  const mounts = join(tree, 'proc', '1', 'mountinfo');
  const { dev } = statSync(tree);
  const device = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
  const text = readFileSync(mounts, 'utf8');
  writeFileSync(mounts, text.replace(/^(\d+ \d+ )\S+( \S+ \/local .* - )xfs/m, `$1${device}$2tmpfs`));
  t.ok(sets(whole()).includes('scratch'), 'a part of the file system that it is in is there');
  writeFileSync(mounts, text.replace(/^.* \/local .*\n/m, ''));
  t.ok(sets(whole()).includes('scratch'));
  rmSync(scratch);
  symlinkSync('/tmp', scratch);
  const led = whole();
  t.match(led.said, /^the scratch \/scratch does not exist or cannot be measured: it is left out$/m);
  t.notOk(sets(led).includes('scratch'), 'a link out of the root leads into the container, and is not followed');
});

t.test('a root without a machine is refused', async t => {
  const own = folder(t);
  const said = (root: string) => askC(sender, ['--once', '--to', '-', '--root', root]);
  t.strictSame(said(join(own, 'none')), { code: 2, report: '', said: `--root: cannot open ${own}/none: ENOENT\n` });
  t.strictSame(said(own), {
    code: 2,
    report: '',
    said: `--root: cannot read ${own}/proc/1/mountinfo: ENOENT; mount the machine's /proc there\n`,
  });
  const long = join(own, ...Array.from({ length: 5 }, () => 'x'.repeat(60)));
  mkdirSync(long, { recursive: true });
  t.match(said(long), { code: 2, said: '--root: the path is longer than 255 bytes; mount it at a shorter one\n' });
  for (const root of ['/', '//'])
    t.match(said(root), { code: 0, said: '' }, 'the own root is one like any other, and none');
});

/** Runs the sender in a root of its own, with this process's by /proc. */
const ELSEWHERE = `
import ctypes, os, shutil, subprocess, sys
sender, new, outside = sys.argv[1], sys.argv[2], os.getppid()
c = ctypes.CDLL(None, use_errno=True)
def must(failed):
    if failed:
        sys.exit("no root of its own: " + os.strerror(ctypes.get_errno()))
must(c.unshare(0x20000))
must(c.mount(None, b"/", None, 0x44000, None))
must(c.mount(b"none", new.encode(), b"tmpfs", 0, None))
os.chdir(new)
shutil.copy(sender, "send")
os.mkdir("proc")
os.mkdir("old")
must(c.mount(b"/proc", b"proc", None, 0x5000, None))
subprocess.run(["pivot_root", ".", "old"], check=True)
os.chdir("/")
must(c.umount2(b"/old", 2))
os.execv("/send", ["beoboard-send", "--once", "--to", "-", "--root", f"/proc/{outside}/root"])
`;

const elsewhere = spawnSync('python3', ['-c', ELSEWHERE, sender, folder(t)], { encoding: 'utf8' });
const lacking = elsewhere.error?.message ?? /^no root of its own: .*|No such file.*/m.exec(elsewhere.stderr)?.[0];
const skip = process.env.CI !== 'true' && lacking !== undefined && lacking;

t.test('a root that is another by a link of /proc is not taken for the own', { skip }, async t => {
  const said = "beoboard-send: --root: the path is a link out of this container; mount the machine's / in it\n";
  t.match(elsewhere, { stdout: '', stderr: said });
});
