// Invalid command lines of every verb: each gets one line that tells an administrator what to do, and the documented
// exit code. All run in one process, and one of each kind as the real program as well, which answers the same. The
// golden file has all answers and can be read from top to bottom. To write it again, after looking at why:
// node dist/test/common/wronguses.test.js --write
//
// @seconds 18
// @whole

import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { VERBS } from '../../src/options/verbs.js';
import { oneLine, UNSEEN } from '../../src/text/text.js';
import { ended } from '../kit/children.js';
import { AS_NOBODY, NOBODY, noOrdinaryUser, ROOT_USER } from '../kit/ordinary.js';
import { folder, ROOT } from '../kit/places.js';
import { PROGRAM, startReceiver } from '../kit/program.js';
import { awaited } from '../kit/until.js';
import { type Answer, verbChild } from '../kit/verbchild.js';
import { partOf, SEED } from '../kit/whole.js';

const GOLDEN = join(ROOT, 'test', 'golden', 'wrong-uses.txt');
/** Lines at a time. */
const AT_ONCE = 4;
t.setTimeout(600_000);

/** Options of a row. */
interface More {
  /** The expected exit code; by default 2 (usage), for `check` 3 (unknown). */
  code?: number;
  env?: Record<string, string>;
  /** Run as an ordinary user. */
  ordinary?: boolean;
  /** Needs a file that only root can make. */
  root?: boolean;
}

/**
 * A command line without `beoboard`: a string, with words that hold blanks in single quotes, or a list of words. DIR
 * is the folder that `makeFolder` makes, BUSY a port of 127.0.0.1 that is in use.
 */
type Line = string | readonly string[];
type Row = Line | readonly [line: Line, more: More];

/** A board that is ready, with node1 to node3, which have never reported. */
const BOARD = '--board DIR/board';
const BILLION = 'n[1-1000000000]';
const LONG = 'x'.repeat(5000);

const TABLE: Readonly<Record<string, readonly Row[]>> = {
  'the journal': [
    'journal --most 1k',
    'journal --most 1KiB',
    'journal --keep 1m',
    'journal --name A/B',
    ['journal --journal-dir DIR/none/none', { code: 1 }],
  ],
  'relay, mirror and their keys': [
    'relay',
    'relay --nats nats://127.0.0.1:4222 --site home',
    'relay --nats http://127.0.0.1:4222 --site home --key-file DIR/none',
    'relay --nats nats://me:secret@127.0.0.1:4222 --site home --key-file DIR/none',
    'relay --nats nats://127.0.0.1:4222 --site Home --key-file DIR/none',
    'relay --nats nats://127.0.0.1:4222 --site home --key-file DIR/none',
    'mirror',
    'mirror --nats nats://127.0.0.1:4222 --site home --cluster alpha',
    'mirror --nats nats://127.0.0.1:4222 --site home --cluster alpha --trust m1',
    'mirror --nats nats://127.0.0.1:4222 --site home --cluster a.b --trust m1=DIR/none',
    'mirror --nats nats://127.0.0.1:4222 --site home --cluster alpha --trust m1=DIR/none',
    'keygen --relay --key-id 2 DIR/relay.key',
    'keygen --relay -',
  ],
  'a verb that is none': [
    'stauts',
    '--json status',
    'xyzzy',
    'Status',
    'STATUS',
    'statu',
    '--status',
    '-status',
    '--bord',
    '-v',
    [''],
    [' status'],
    ['status '],
    ['sta\ntus'],
    ['\u001b[31mred'],
    ['stätus'],
    [LONG],
    'help stauts',
    'help --nonsense',
    'constructor',
    '__proto__',
    'status.js',
    '../status',
  ],
  'an option that is none': [
    'status --bord DIR/board',
    'status --bord=DIR/board',
    'status -board DIR/board',
    'status -z',
    'status -xl',
    'status -long',
    'nodes -ec',
    'status --xyzzy',
    'status --listen ::1',
    'status --group os_release',
    'status --filter load',
    'status --format json',
    'status --JSON',
    'status --no-color',
    'status ---json',
    ['status', '--a\nb'],
    ['status', '--\u001b[31m'],
    ['status', '—json'],
    'nodes --all',
    'nodes --states live',
    'check --crit 5',
    'check --warn 5',
    'check -t 10',
    'send --host master --to 127.0.0.1',
    'receive --port 8677',
    'receive --user nobody',
    'xml --listen 127.0.0.1',
    'ganglia --port 8649',
    'prometheus --port 9678',
    'supermon --port 2709',
    'prometheus --web.listen-address 127.0.0.1:9678',
    'prometheus --collect cpu',
    'prometheus --openmetrics',
    'web --port 8678',
    'web --jobs',
    'web --board',
    'web status',
    'metrics --json',
    'metrics --listen 127.0.0.1:9678',
    'dump --raw',
    'describe --board DIR/board',
    'describe --all',
    'events --tail 5',
    'show --long node1',
    'nodeset --union a b',
    'clear node1',
    'forget --force node1',
    'forget -w node1',
    'pace --node node1',
    'keygen --node node1 -',
    'keygen --force DIR/new.key',
    'load --to 127.0.0.1 --count 10',
    'demo --board DIR/board',
    'demo --size 10',
  ],
  'a value that is missing, or is none': [
    'status --board',
    'status --board --json',
    'status --board=',
    ['status', '--board', ''],
    'status --json=yes',
    'status --watch=5',
    'status -w',
    'status -w --json',
    'status -o',
    'status --where',
    ['status', '--where', ''],
    ['status', '--where', '  '],
    'status --color',
    'status --color yes',
    'status --color Always',
    'send --to',
    'send --to --once',
    ['send', '--to', ''],
    'send --to 127.0.0.1 --name',
    'receive --nodes',
    'nodes --state',
    'nodes --state=',
    'check --fail',
    'check --fail maybe',
    'check --health maybe',
    'check --recent nothing',
    'nodes --for-at-least 5m',
    'nodes --state live --for-at-least forever',
    'nodes --with-state --count',
    'nodes --healthy --with-problem held',
    'nodes --with-problem full',
    'nodes --names DIR/nothing',
    'nodes --names DIR/nothing --for slurm',
    'nodes --nodes N1',
    'xml --metrics some',
    'ganglia --metrics none',
    'ganglia --metrics GMOND',
    'receive --require token --key-file DIR/cluster.key',
    'events -n',
    'nodeset --count --exclude',
    'status --board DIR/board --board DIR/board',
    'status --config DIR/good.toml --config DIR/good.toml',
    'send --to 127.0.0.1 --name a --name b',
    'send --to - --once --proc a --proc b --proc c',
  ],
  times: [
    'send --to 127.0.0.1 --interval 5',
    'send --to 127.0.0.1 --interval 0',
    'send --to 127.0.0.1 --interval 0s',
    'send --to 127.0.0.1 --interval 10ms',
    'send --to 127.0.0.1 --interval 11m',
    'send --to 127.0.0.1 --interval=-1s',
    'send --to 127.0.0.1 --interval -1s',
    'send --to 127.0.0.1 --interval NaN',
    'send --to 127.0.0.1 --interval Infinity',
    'send --to 127.0.0.1 --interval 1e3s',
    'send --to 127.0.0.1 --interval 1,5s',
    ['send', '--to', '127.0.0.1', '--interval', '1 s'],
    'send --to 127.0.0.1 --interval 1S',
    'send --to 127.0.0.1 --interval 1sec',
    'send --to 127.0.0.1 --interval 1m30s',
    'send --to 127.0.0.1 --interval 0.5ms',
    'send --to 127.0.0.1 --interval 100.5ms',
    'send --to 127.0.0.1 --interval 99999999999999999999s',
    ['send', '--to', '127.0.0.1', '--interval', `${'9'.repeat(400)}s`],
    ['send', '--to', '127.0.0.1', '--interval', ''],
    ['send', '--to', '127.0.0.1', '--interval', '１s'],
    'send --to 127.0.0.1 --pace-min 2m',
    'send --to 127.0.0.1 --pace-min 1ms',
    'receive --silent-after 25h',
    'receive --silent-after 1s',
    'receive --uncertain-after 20s',
    'receive --uncertain-after 100ms --silent-after 100ms',
    'receive --drain 101ms',
    'receive --drain 5',
    'receive --clock-window never',
    'receive --clock-window 1ms',
    'events --for 501h --board DIR/board',
    'receive --forget-after 23h',
    'receive --forget-after 30d --require none --key-file DIR/key',
    'events --for 1w --board DIR/board',
    'demo --for 1w',
    'demo --for 0',
    'demo --interval 50ms',
    'demo --interval fast',
    'load --to 127.0.0.1 --for never',
    'load --to 127.0.0.1 --restart-every 1ms',
    'load --to 127.0.0.1 --silent-from -5s',
    'pace -w node1 --interval 10s --for 745h',
    'pace -w node1 --interval 10s --for 1w',
    'pace -w node1 --interval 1ms --for 1h',
  ],
  journals: [
    'events --since 25:00',
    'events --since 3',
    'events --since 1h',
    'events --since tomorrow',
    'events --until 2026-02-30',
    'events --since 1h45 ago',
    ['events', '--since', ''],
    'events --since 2999-01-01',
    'events --since 2020-01-02 --until 2020-01-01',
    'events --last 1h --since 03:00',
    'events --last 1w',
    'events --kind silnet',
    'events --kind xyzzy',
    'events --event oom',
    'events --follow --until 03:00',
    'events --last-end --kind oom',
    'events --kind oom --for 1m',
    'events --kind oom --journal-dir DIR --owner nosuchuser',
    ['events --kind oom --journal-dir DIR/nowhere', { code: 4 }],
    ['events --last-end --journal-dir DIR/nowhere --journal-dir DIR/text', { code: 4 }],
    ['events --follow --journal-dir DIR', { code: 4 }],
    ['events --last 1h --journal-dir DIR/private', { code: 4, ordinary: true }],
  ],
  'numbers, sizes, shares': [
    'receive --capacity 0',
    'receive --capacity -1',
    'receive --capacity 1.5',
    'receive --capacity 10,240',
    'receive --capacity 1e6',
    'receive --capacity NaN',
    'receive --capacity 0x10',
    'receive --capacity 10K',
    'receive --capacity 10G',
    'receive --capacity 2M',
    'receive --capacity 99999999999999999999',
    ['receive', '--capacity', '１０'],
    'receive --capacity 2 --nodes n[1-3]',
    'events -n -1',
    'events -n 4097',
    'events -n all',
    'load --to 127.0.0.1 --size 0',
    'load --to 127.0.0.1 --size 2M',
    'load --to 127.0.0.1 --size many',
    'load --to 127.0.0.1 --rate 0',
    'load --to 127.0.0.1 --rate 1G',
    'load --to 127.0.0.1 --rate 1000/s',
    'load --to 127.0.0.1 --size 10 --rate 1M',
    'load --to 127.0.0.1 --size 1M --rate 1',
    'load --to 127.0.0.1 --nodes n[1-10] --rate 1M',
    'load --to 127.0.0.1 --loss 101%',
    'load --to 127.0.0.1 --loss -1%',
    'load --to 127.0.0.1 --loss NaN',
    'load --to 127.0.0.1 --loss half',
    'load --to 127.0.0.1 --seed -1',
    'load --to 127.0.0.1 --seed 4294967296',
    'check --warning 101%',
    'check --warning -1',
    'check --warning 5:10',
    'check --critical 2.5',
    'check --critical NaN',
    'check -w node1',
    'send --to 239.255.86.77 --ttl 256',
    'send --to 239.255.86.77 --ttl -1',
    'keygen --key-id 65536 DIR/new.key',
    'keygen --key-id first DIR/new.key',
  ],
  'host lists': [
    'nodeset --count n[1-',
    'nodeset --count n]1[',
    'nodeset --count n[3-1]',
    'nodeset --count n[]',
    'nodeset --count n[1,,2]',
    'nodeset --count n[1-2-3]',
    'nodeset --count n[a-c]',
    'nodeset --count n[-3]',
    'nodeset --count n[1-3',
    'nodeset --count n[[1-3]]',
    'nodeset --count n[01-9]',
    'nodeset --count n[1-9/0]',
    `nodeset --count ${BILLION}`,
    'nodeset --count n[1-1000][1-1000][1-1000]',
    'nodeset --count n[1-99999999999999999999]',
    'nodeset --count a,,b',
    'nodeset --count ,a',
    'nodeset --count a,',
    'nodeset --count -a',
    'nodeset --count a!b',
    'nodeset --count a^b',
    "nodeset --count 'a b'",
    'nodeset --count n{1..3}',
    'nodeset --count _a',
    ['nodeset', '--count', ''],
    ['nodeset', '--count', 'nöde1'],
    ['nodeset', '--count', 'a\nb'],
    ['nodeset', '--count', 'a\u001b[31m'],
    ['nodeset', '--count', LONG],
    'nodeset --count @',
    'nodeset --count @DIR/nowhere/list',
    'nodeset --count @DIR/folder',
    'nodeset --count @/dev/zero',
    'nodeset --count @DIR/pipe',
    'nodeset --count @DIR/empty',
    'nodeset --count @DIR/bad.list',
    ['nodeset --count @no-such-group', { env: { PATH: '' } }],
    'nodeset --count a --exclude n[',
    'nodeset --count a --intersection @DIR/nowhere/list',
    `status -w ${BILLION}`,
    'status -w Node1',
    'status -w n[1-9/2]',
    'status node[1-3',
    'status -w @DIR/empty',
    'nodes --nodes n[3-1]',
    `metrics ${BOARD} --nodes n[3-1]`,
    `metrics ${BOARD} --nodes @DIR/nowhere/list`,
    'show n[3-1]',
    'events -w n[',
    'check --nodes n[3-1] --board DIR/board',
    ['check', '--nodes', '', '--board', 'DIR/board'],
    `receive --nodes ${BILLION}`,
    'receive --nodes @DIR/nowhere/list',
    'forget n[3-1] --board DIR/board',
    ['forget', ''],
    'pace -w n[ --off',
    'load --to 127.0.0.1 --nodes n[3-1]',
    'load --to 127.0.0.1 --size 10 --silent node99',
    'keygen --key-file DIR/cluster.key --nodes n[3-1] DIR/keys/',
  ],
  conditions: [
    `status ${BOARD} --where constructor`,
    `nodes ${BOARD} --where '__proto__ > 1'`,
    `check ${BOARD} --where 'load > toString'`,
    `status ${BOARD} --where 'load >'`,
    `status ${BOARD} --where 'load = 1'`,
    `status ${BOARD} --where 'load > 1 and cpus > 2'`,
    `status ${BOARD} --where 'load > 1 & cpus'`,
    `status ${BOARD} --where 'load > 1 | cpus'`,
    `status ${BOARD} --where '(load > 1'`,
    `status ${BOARD} --where 'load > 1)'`,
    `status ${BOARD} --where 'load < > 1'`,
    `status ${BOARD} --where 'not held'`,
    `status ${BOARD} --where 'load > 1 cpus'`,
    `status ${BOARD} --where '1 < 2'`,
    `status ${BOARD} --where 5`,
    `status ${BOARD} --where 'loda > 1'`,
    `status ${BOARD} --where 'xyzzy > 1'`,
    `status ${BOARD} --where 'state == slient'`,
    `status ${BOARD} --where 'state == live,silent'`,
    `status ${BOARD} --where 'state in (live, silent)'`,
    `status ${BOARD} --where 'load > many'`,
    `status ${BOARD} --where 'load > NaN'`,
    `status ${BOARD} --where 'load > 5GiB'`,
    `status ${BOARD} --where 'age > 5fortnights'`,
    `status ${BOARD} --where 'age > 50%'`,
    `status ${BOARD} --where 'mem_avail < 10'`,
    `status ${BOARD} --where 'mem_avail < 1 GiB'`,
    `status ${BOARD} --where 'mem_avail < 1gb'`,
    `status ${BOARD} --where 'in > 10G'`,
    `status ${BOARD} --where 'load > age'`,
    `status ${BOARD} --where 'load > 1.2.3'`,
    `status ${BOARD} --where 'name == node1 name'`,
    `status ${BOARD} --where 'name == 5'`,
    `status ${BOARD} --where 'name == "x'`,
    `status ${BOARD} --where 'name ~ rack[12]'`,
    `status ${BOARD} --where 'name ~ "["'`,
    `status ${BOARD} --where 'name ~ "(?=a)"'`,
    `status ${BOARD} --where 'name ~'`,
    `status ${BOARD} --where 'load ~ 1'`,
    `status ${BOARD} --where 'name =~ "^n"'`,
    `status ${BOARD} --where 'gpu.util > 90%'`,
    `status ${BOARD} --where 'any(load > 1)'`,
    `status ${BOARD} --where 'any(gpu.util > 1% && net.up)'`,
    `status ${BOARD} --where 'any gpu.util > 1%'`,
    `status ${BOARD} --where 'any()'`,
    `status ${BOARD} --where 'any(all(gpu.util > 1%))'`,
    `status ${BOARD} --where 'some(gpu.util > 1%)'`,
    `status ${BOARD} --where 'gpu[0].util > 1'`,
    `status ${BOARD} --where 'gpu.99.util_pct > 1'`,
    ['status', '--board', 'DIR/board', '--where', 'load > 1\nrm -rf'],
    ['status', '--board', 'DIR/board', '--where', '\u001b[31m'],
    ['status', '--board', 'DIR/board', '--where', 'lõad > 1'],
    ['status', '--board', 'DIR/board', '--where', `${'('.repeat(10_000)}load`],
    ['status', '--board', 'DIR/board', '--where', `name ~ "${'x'.repeat(2000)}"`],
    `nodes ${BOARD} --where 'loda > 1'`,
    `nodes ${BOARD} --where 'load >'`,
    `check ${BOARD} --where 'loda > 1'`,
    "nodes --board DIR/nowhere/board --where 'loda > 1'",
    "check --board DIR/nowhere/board --where 'loda > 1'",
  ],
  'columns, orders, groups, fields': [
    `status ${BOARD} -o laod`,
    `status ${BOARD} -o xyzzy`,
    `status ${BOARD} -o LOAD`,
    `status ${BOARD} -o load,,cpu`,
    `status ${BOARD} -o load,`,
    `status ${BOARD} -o 'load, cpu'`,
    `status ${BOARD} -o load:cpu`,
    `status ${BOARD} -o gpu.util`,
    `status ${BOARD} --json -o laod`,
    `status ${BOARD} --csv -o laod`,
    `status ${BOARD} --sort laod`,
    `status ${BOARD} --sort +load`,
    `status ${BOARD} --sort load,cpu`,
    `status ${BOARD} --sort gpu.util`,
    `status ${BOARD} --json --sort laod`,
    `status ${BOARD} --csv --sort laod`,
    `status ${BOARD} --plain --sort laod`,
    `status ${BOARD} --by rakc`,
    `status ${BOARD} --by '^rack[0-9]+'`,
    `status ${BOARD} --by /rack[/`,
    `status ${BOARD} --by //`,
    `status ${BOARD} --by /rack`,
    `status ${BOARD} --by os_release,arch`,
    `status ${BOARD} --json --by rakc`,
    `status ${BOARD} --watch --json --sort laod`,
    `status ${BOARD} --watch --json --where 'loda > 1'`,
    ['status', '--board', 'DIR/board', '-o', 'lo\nad'],
    ['status', '--board', 'DIR/board', '--sort', '\u001b[31m'],
    ['status', '--board', 'DIR/board', '--by', '/\u001b[/'],
    'status --board DIR/nowhere/board --sort laod',
    'status --board DIR/nowhere/board -o laod',
    'status --board DIR/nowhere/board --by rakc',
    'describe cpu_bussy_pm',
    'describe xyzzy',
    'describe load cpu',
    'describe net.xyzzy',
    'describe xyzzy.rx_bytes',
    'describe LOADS',
    ['describe', ''],
    ['describe', 'lo\nad'],
    ['describe', '\u001b[31m'],
    ['describe', '__proto__'],
    'nodes --state lvie',
    'nodes --state live,,silent',
    'nodes --state Live',
    'nodes --state dead',
    'nodes --state down,up',
    'check --ignore eccc',
    'check --ignore all',
    'check --ignore held,',
    `metrics ${BOARD} --collect cpus`,
    `metrics ${BOARD} --collect xyzzy`,
    `metrics ${BOARD} --collect cpu,`,
    `metrics ${BOARD} --collect CPU`,
    ['metrics', '--board', 'DIR/board', '--collect', ''],
    ['metrics', '--board', 'DIR/board', '--collect', '\u001b[31m'],
  ],
  'options that do not go together, and arguments too many or too few': [
    'status --json --csv',
    'status --csv --plain',
    'status --watch --csv',
    'status --jobs --csv',
    'status --by os_release --csv',
    'status --by os_release --plain',
    'show',
    'show --json',
    'show --raw --json node1',
    'jobs 4711 node1',
    'nodes --expand --fold',
    'nodes --expand --count',
    'nodes --for pbs',
    'nodes node1',
    'nodeset',
    'nodeset a b',
    'nodeset --expand --fold a',
    'nodeset --count --nd a',
    'ack silent',
    'ack --until +1h',
    'ack silent --until 8h',
    'drain',
    'drain -w node1',
    'drain -w node1 --reason x --wait',
    'drain -w node1 --reason x --until @1',
    'drain -w node1 --reason x --until soon',
    ['drain -w node1 --reason x --slurm-dir DIR/board', { code: 1 }],
    'resume',
    'resume -w node1 --reason x',
    'ack silent --withdraw --until +1h',
    'clear',
    'forget',
    'forget a b',
    'keygen',
    'keygen a b',
    ['keygen', ''],
    'keygen --nodes node1 DIR/new.key',
    'keygen --key-file DIR/cluster.key DIR/new.key',
    'keygen --key-file DIR/cluster.key --key-id 2 --nodes node1 DIR/new.key',
    'keygen --key-file DIR/cluster.key --nodes n[1-3] DIR/new.key',
    'pace',
    'pace node1',
    'pace -w node1',
    'pace -w node1 --interval 10s',
    'pace -w node1 --for 1h',
    'pace -w node1 --off --interval 10s',
    `pace -w node1 --off --via 'ssh "-p" 22'`,
    ['pace', '-w', 'node1', '--off', '--via', ''],
    ['pace', '-w', 'node1', '--off', '--via', 'clush\n-w'],
    'pace -w node1 --off --pace-file pace',
    'pace -w node1 --off --pace-file /run/$(id)/pace',
    'pace -w node1 --off --pace-file /run/../pace',
    'send',
    'send master',
    'send --to 127.0.0.1 --pretend DIR/good.toml',
    'send --to 127.0.0.1 --pace-min 10s --pace-max 5s',
    'receive 127.0.0.1',
    'receive --require node',
    'receive --interface lo',
    'load',
    'load 127.0.0.1',
    'load --to -',
    'load --to 127.0.0.1 --to 127.0.0.2',
    'load --to 127.0.0.1 --silent-from 1s',
    'load --to 127.0.0.1 --silent-for 1s',
    'load --to 127.0.0.1 --odd clock',
    'load --to 127.0.0.1 --jobs 4 --odd fan',
    'load --to 127.0.0.1 --jobs 1 --odd clock,link',
    'load --to 127.0.0.1 --size 10 --full node11',
    'load --to 127.0.0.1 --jobs 4 --jobs-file DIR/none/jobs',
    'xml board',
    'dump DIR/board',
    'check node1',
    'check --ignore held --where held',
    'events node1',
    'ganglia alpha',
    'ganglia --board a=DIR/board --board a=DIR/other',
    'prometheus alpha',
    'supermon alpha',
    'supermon --board DIR/board --board DIR/other',
    'supermon --board a=DIR/board --board a=DIR/other',
    'prometheus --board DIR/board --board DIR/other',
    'prometheus --board a=DIR/board --board DIR/other',
    'prometheus --board a=DIR/board --board a=DIR/other',
    'metrics alpha',
    'metrics --board DIR/board --board DIR/other',
    'metrics --board a=DIR/board --board a=DIR/other',
    'metrics --board DIR/board --node-metrics --collect cpu',
    'demo now',
  ],
  'ports, addresses, names': [
    'send --to 127.0.0.1:0',
    'send --to 127.0.0.1:70000',
    'send --to 127.0.0.1:-1',
    'send --to 127.0.0.1:http',
    'send --to 127.0.0.1:',
    'send --to :8677',
    'send --to 8677',
    'send --to 10.1',
    'send --to 10.0.0.256',
    'send --to 10.0.0.1.5',
    'send --to 10.0.0.0/8',
    'send --to fe80::1:8677:x',
    'send --to ::1:8677:8677:1:2:3:4:5:6',
    'send --to [::1',
    'send --to [::1]8677',
    'send --to [::1]:70000',
    'send --to [master]:8677',
    'send --to http://master',
    'send --to udp://master:8677',
    'send --to master,backup',
    "send --to 'master backup'",
    'send --to user@master',
    'send --to -master',
    ['send', '--to', 'mäster'],
    ['send', '--to', 'mas\nter'],
    ['send', '--to', '\u001b[31m'],
    ['send', '--to', `${'a'.repeat(64)}.example`],
    'send --to 127.0.0.1 --name Node1',
    'send --to 127.0.0.1 --name node_1!',
    "send --to 127.0.0.1 --name 'node 1'",
    'send --to 127.0.0.1 --name -node',
    'send --to 127.0.0.1 --name node[1-3]',
    ['send', '--to', '127.0.0.1', '--name', ''],
    ['send', '--to', '127.0.0.1', '--name', 'x'.repeat(64)],
    ['send', '--to', '127.0.0.1', '--name', 'nöde'],
    ['send', '--to', '127.0.0.1', '--cluster', ''],
    'send --to 127.0.0.1 --cluster a&b',
    'send --to 239.255.86.77 --interface eth0/1',
    'send --to 239.255.86.77 --interface an-interface-of-more-letters',
    ['send', '--to', '239.255.86.77', '--interface', ''],
    'receive --listen *:8677',
    'receive --listen 127.0.0.1,127.0.0.2',
    'receive --listen :8677',
    'receive --listen 8677',
    'receive --listen 127.0.0.1:65536',
    'receive --listen ::1:8677:1:1:1:1:1:1:1',
    'receive --group 10.0.0.1',
    'receive --group 224.0.0.256',
    'receive --group all',
    ['receive --listen 127.0.0.1:BUSY --board DIR/new', { code: 1 }],
    ['receive --listen 192.0.2.1 --board DIR/new', { code: 1 }],
    ['receive --listen 127.0.0.1:0 --group 239.255.86.77 --interface nosuch0 --board DIR/new', { code: 1 }],
    'load --to 127.0.0.1:0',
    'load --to 127.0.0.1:70000',
    'load --to 127.0.0.1 --prefix Node',
    'load --to 127.0.0.1 --prefix -n',
    ['load', '--to', '127.0.0.1', '--prefix', ''],
    'ganglia --listen 127.0.0.1:99999',
    'ganglia --gzip-listen 127.0.0.1',
    'ganglia --cluster-name physics',
    ['ganglia', '--cluster-name', 'alpha=A & B'],
    ['ganglia', '--board', 'alpha=DIR/board', '--cluster-name', 'beta=My HPC'],
    'ganglia --gmetad-listen 8651',
    'ganglia --gmetad-listen 127.0.0.1:65535',
    ['ganglia --listen 192.0.2.1', { code: 1 }],
    'supermon --from 127.0.0.1:99999',
    'supermon --from a,b',
    ['supermon --listen 192.0.2.1', { code: 1 }],
    'zoom',
    'zoom node1',
    'zoom node1 node2',
    'zoom --csv --json',
    'zoom --rate 0 --csv',
    'zoom --play DIR/nothing --csv',
    'zoom --play DIR/nothing --at 127.0.0.1 --csv',
    'zoom --at 127.0.0.1 --via ssh --csv',
    'zoom --via "" --csv',
    ['zoom --at 127.0.0.1:9 --csv', { code: 1 }],
    'ganglia --trusted-hosts master',
    'ganglia --trusted-hosts 10.0.0.0/33',
    'ganglia --trusted-hosts 10.0.0.1,,10.0.0.2',
    'ganglia --grid a/b',
    'ganglia --board =DIR/board',
    'ganglia --board alpha=',
    "ganglia --board 'a b=DIR/board'",
    'prometheus --listen 127.0.0.1:99999',
    'prometheus --listen 9678',
    'prometheus --listen localhost:http',
    ['prometheus --listen 192.0.2.1', { code: 1 }],
    'web --base cluster',
    'web --base /a//b',
    'web --base https://master/cluster',
    'web --listen 8678',
    ['web --listen 192.0.2.1', { code: 1 }],
    'web --allow-host master:8678',
    'prometheus --allow-host master:9678',
    'prometheus --allow-host http://master',
    'prometheus --allow-host *.example',
    'prometheus --allow-host -master',
    ['prometheus', '--allow-host', ''],
    "prometheus --board 'a b=DIR/board'",
    'prometheus --board alpha=',
    "metrics --board 'a b=DIR/board'",
    'status --owner nobody-of-that-name',
    "status --owner 'a b'",
    'status --owner 4294967295',
    'status --owner -1',
    ['status', { env: { BEOBOARD_OWNER: 'a b' } }],
    ['status', { env: { BEOBOARD_OWNER: 'nobody-of-that-name' } }],
  ],
  'boards that are none': [
    ...['status', 'show node1', 'nodes', 'xml', 'dump', 'events', 'forget node1', 'check'].flatMap((verb): Row[] => {
      const code = verb === 'check' ? 3 : 4;
      return [
        [`${verb} --board DIR/nowhere/board`, { code }],
        [`${verb} --board DIR/folder`, { code }],
        [`${verb} --board DIR/pipe`, { code }],
        [`${verb} --board DIR/text/board`, { code }],
        [`${verb} --board DIR/locked`, { code, ordinary: true }],
      ];
    }),
    // Not for dump, which shows what is wrong with a file.
    ...['status', 'show node1', 'nodes', 'xml', 'events', 'forget node1', 'check'].flatMap((verb): Row[] => {
      const code = verb === 'check' ? 3 : 4;
      return [
        [`${verb} --board DIR/text`, { code }],
        [`${verb} --board DIR/empty`, { code }],
      ];
    }),
    ...['status', 'show node1', 'nodes', 'xml', 'events', 'check'].map(
      (verb): Row => [`${verb} --board DIR/other`, { code: verb === 'check' ? 3 : 4, root: true }],
    ),
    ['forget node1 --board DIR/other', { code: 1, root: true }],
    ...['show node1', 'nodes', 'dump', 'events', 'check'].map(
      (verb): Row => `${verb} --board DIR/board --owner nobody-of-that-name`,
    ),
    [['status', '--board', 'DIR/no\nwhere'], { code: 4 }],
    [['status', '--board', 'DIR/\u001b[31m'], { code: 4 }],
    [['status', '--board', 'DIR/nœuds'], { code: 4 }],
    [['status', '--board', `DIR/${'x'.repeat(300)}`], { code: 4 }],
    ['status --board DIR/board/', { code: 4 }],
    ['status --board /dev/null', { code: 4 }],
    ['status --board http://master/board', { code: 4 }],
    ['status --watch --board DIR/nowhere/board', { code: 4 }],
    ['status --watch --json --board DIR/nowhere/board', { code: 4 }],
    ['check --board DIR/nowhere/board --fail closed', { code: 2 }],
    ['receive --listen 127.0.0.1:0 --board DIR/folder', { code: 1 }],
    ['receive --listen 127.0.0.1:0 --board DIR/folder/', { code: 1 }],
    ['receive --listen 127.0.0.1:0 --board DIR/text', { code: 1 }],
    ['receive --listen 127.0.0.1:0 --board DIR/text/board', { code: 1 }],
    ['receive --listen 127.0.0.1:0 --board DIR/open/board', { code: 1 }],
    ['receive --listen 127.0.0.1:0 --board DIR/board', { code: 1 }],
    ['receive --listen 127.0.0.1:0 --board DIR/other', { code: 1, root: true }],
    ['receive --listen 127.0.0.1:0 --board DIR/private/board', { code: 1, ordinary: true }],
    ['receive', '--board', `DIR/${'x'.repeat(100)}`],
    ['receive', '--board', ''],
    ['xml --board DIR/board --owner nobody-of-that-name', { code: 2 }],
  ],
  'names that are not on the board': [
    [`nodes ${BOARD} --nodes node99`, { code: 1 }],
    [`show ${BOARD} node99`, { code: 1 }],
    [`show ${BOARD} n[1-3],${LONG.slice(0, 60)}`, { code: 1 }],
    [`forget ${BOARD} node99`, { code: 1 }],
    [`check ${BOARD} --nodes node99`, { code: 2 }],
  ],
  'option files, keys and pretence': [
    ...[
      'send',
      'receive',
      'status',
      'show',
      'events',
      'nodes',
      'check',
      'xml',
      'ganglia',
      'dump',
      'forget',
      'load',
    ].map(verb => `${verb} --config DIR/nowhere/beoboard.toml`),
    'receive --config DIR/folder',
    'receive --config /dev/zero',
    'receive --config DIR/pipe',
    'receive --nodes @DIR/pipe',
    'receive --key-file DIR/pipe',
    'send --to 127.0.0.1 --key-file /dev/zero',
    'scheduler --slurm-names DIR/pipe',
    'scheduler --scheduler pbs',
    'scheduler --scheduler file:',
    'bridge --scheduler file:DIR/text --journal /nonexistent',
    'bridge --scheduler gridengine --journal /nonexistent',
    'send --to - --once --pretend DIR/pipe',
    ['receive --config DIR/locked', { ordinary: true }],
    ['receive', '--config', ''],
    'receive --config DIR/text',
    'receive --config DIR/unknown.toml',
    'receive --config DIR/table.toml',
    'receive --config DIR/type.toml',
    'receive --config DIR/list.toml',
    'receive --config DIR/twice.toml',
    'receive --config DIR/bounds.toml',
    'receive --config DIR/limits.toml',
    'receive --config DIR/elsewhere.toml',
    'receive --config DIR/binary.toml',
    'send --config DIR/flag.toml --to 127.0.0.1',
    'status --config DIR/unknown.toml',
    'send --to 127.0.0.1 --key-file DIR/nowhere/key',
    'send --to 127.0.0.1 --key-file DIR/folder',
    'send --to 127.0.0.1 --key-file DIR/loose.key',
    'send --to 127.0.0.1 --key-file DIR/text.key',
    'send --to 127.0.0.1 --key-file DIR/empty.key',
    'send --to 127.0.0.1 --name node2 --key-file DIR/node1.key',
    'scheduler --slurm-names DIR/nowhere/names',
    'scheduler --slurm-names DIR/text',
    ['scheduler --slurm-dir /proc/nowhere', { code: 1 }],
    'bridge --slurm-names DIR/text',
    ['bridge --enforce --journal DIR/nowhere/journal', { code: 1 }],
    ['bridge --enforce --journal DIR/text', { code: 1 }],
    ['bridge --undrain-own --journal DIR/nowhere/journal', { code: 1 }],
    ['bridge --release --journal DIR/nowhere/journal', { code: 1 }],
    'bridge --ignore held',
    'bridge --drain-ill',
    'bridge --status --release',
    'bridge --json',
    'bridge --by rack',
    'odd --by rack',
    'odd node[1-3',
    "odd --where 'load <'",
    'odd --sort load',
    "bridge --by '/[/'",
    'bridge --interval 100ms',
    'bridge --witness ping',
    'bridge --drain-after 0s',
    'bridge --ignore fans',
    'bridge --enforce=yes',
    'bridge node001',
    [`jobs --slurm-dir DIR/nowhere ${BOARD}`, { code: 1 }],
    [`users --slurm-dir DIR/nowhere ${BOARD}`, { code: 1 }],
    [`nodes --for slurm --slurm-dir DIR/nowhere ${BOARD}`, { code: 1 }],
    'receive --key-file DIR/nowhere/key',
    'receive --key-file DIR/loose.key',
    'receive --key-file DIR/text.key',
    'receive --key-file DIR/node1.key',
    'load --to 127.0.0.1 --key-file DIR/node1.key',
    'load --to 127.0.0.1 --key-file DIR/nowhere/key',
    'keygen --key-file DIR/nowhere/key --nodes node1 -',
    'keygen --key-file DIR/text.key --nodes node1 -',
    'keygen --key-file DIR/node1.key --nodes node1 -',
    ['keygen DIR/cluster.key', { code: 1 }],
    ['keygen DIR/nowhere/new.key', { code: 1 }],
    ['keygen DIR/text/new.key', { code: 1 }],
    ['keygen DIR/folder', { code: 1 }],
    ['keygen DIR/private/new.key', { code: 1, ordinary: true }],
    'send --to - --once --pretend DIR/nowhere/p.toml',
    'send --to - --once --pretend DIR/text',
    'send --to - --once --pretend DIR/empty',
    'send --to - --once --pretend DIR/unknown.toml',
  ],
};

const FILES: Readonly<Record<string, string>> = {
  text: 'this is not a board\n',
  empty: '',
  'bad.list': 'node[1-3]\nnode[4-\n',
  'good.toml': '',
  'unknown.toml': '# the master\nintervall = "1s"\n',
  'table.toml': '[receiver]\ncapacity = 5\n',
  'type.toml': 'capacity = true\n',
  'list.toml': 'listen = []\n',
  'twice.toml': 'capacity = 1\ncapacity = 2\n',
  'bounds.toml': '\ncapacity = 0\n',
  'limits.toml': 'silent-after = "1s"\n',
  'elsewhere.toml': 'interval = "1s"\n',
  'binary.toml': '\u0000\u0001\u001b[31m = 1\n',
  'flag.toml': 'once = "yes"\n',
  'loose.key': `1 cluster ${'ab'.repeat(32)}\n`,
  'cluster.key': `1 cluster ${'ab'.repeat(32)}\n`,
  'node1.key': `1 node node1 ${'ab'.repeat(32)}\n`,
  'text.key': 'this is not a key\n',
  'empty.key': '',
  locked: '',
  other: '',
};

/** Makes the files that the command lines name, in a folder that every user may enter. */
function makeFolder(): string {
  const dir = folder(t);
  chmodSync(dir, 0o755);
  for (const [name, text] of Object.entries(FILES)) {
    writeFileSync(join(dir, name), text);
    if (name.endsWith('.key')) chmodSync(join(dir, name), name === 'loose.key' ? 0o644 : 0o600);
  }
  mkdirSync(join(dir, 'folder'));
  mkdirSync(join(dir, 'private'));
  chmodSync(join(dir, 'private'), 0o000);
  mkdirSync(join(dir, 'open'));
  chmodSync(join(dir, 'open'), 0o777);
  spawnSync('mkfifo', [join(dir, 'pipe')]);
  chmodSync(join(dir, 'locked'), 0o000);
  return dir;
}

function wordsOf(line: Line): readonly string[] {
  return typeof line === 'string' ? [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word) : line;
}

function isMore(row: Row): row is readonly [Line, More] {
  return typeof row !== 'string' && typeof row[1] === 'object';
}

interface Use {
  readonly title: string;
  /** The command line as it is written in the golden file. */
  readonly shown: string;
  readonly words: readonly string[];
  readonly more: More;
}

/** A word as a person would type it; very long ones are cut. */
function typed(word: string): string {
  if (word.length > 200) return `${word.slice(0, 10)}…${word.length} characters`;
  if (word.search(UNSEEN) >= 0) {
    const escaped = word.replaceAll(UNSEEN, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
    return `$'${escaped}'`;
  }
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word}'`;
}

const USES: readonly Use[] = Object.entries(TABLE).flatMap(([title, rows]) =>
  rows.map(row => {
    const [line, more] = isMore(row) ? row : [row, {}];
    const words = wordsOf(line);
    const env = Object.entries(more.env ?? {}).map(([name, value]) => `${name}=${typed(value)}`);
    return { title, words, more, shown: [...env, 'beoboard', ...words.map(typed)].join(' ') };
  }),
);

const codeOf = ({ words: [verb], more }: Use) => more.code ?? (verb === 'check' ? 3 : 2);

/** The kinds of line that this is one of: its title, its verb with the exit code, what it takes from the environment. */
const kindsOf = (use: Use) => [
  use.title,
  `${Object.hasOwn(VERBS, use.words[0] ?? '') ? use.words[0] : 'no verb'} ${codeOf(use)}`,
  `environment ${Object.keys(use.more.env ?? {})}`,
];

/** The lines that are run as the real program: the first of each kind, and those of an ordinary user. */
const STARTED: ReadonlySet<Use> = new Set([
  ...new Map([...USES].reverse().flatMap(use => kindsOf(use).map(kind => [kind, use] as const))).values(),
  ...USES.filter(({ more }) => more.ordinary),
]);

function environment(more: Record<string, string> = {}): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, TZ: 'UTC', ...more };
}

/** Runs the real program. A command line that is accepted by mistake may run forever. */
async function start(words: readonly string[], { env, ordinary }: More): Promise<Answer> {
  const [program = '', ...args] = [...(ordinary ? AS_NOBODY : []), process.execPath, PROGRAM, ...words];
  const child = spawn(program, args, { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
  return awaited(`beoboard ${words.join(' ')} has ended`, ended(child)).finally(() => child.kill('SIGKILL'));
}

/** The answers of the golden file by command line. */
function readGolden(): Map<string, string> {
  const text = existsSync(GOLDEN) ? readFileSync(GOLDEN, 'utf8') : '';
  return new Map(
    [...text.matchAll(/^\$ (.*)\n((?: {2}.*\n)+)/gm)].map(([, shown = '', answer = '']) => [shown, answer]),
  );
}

t.test('every wrong use gets one line that says what to do', async t => {
  const dir = makeFolder();
  const { port } = await startReceiver(t, join(dir, 'board'), ['--nodes', 'node[1-3]']);
  writeFileSync(join(dir, 'other'), readFileSync(join(dir, 'board')));
  if (ROOT_USER) chownSync(join(dir, 'other'), NOBODY, NOBODY);

  const place = (word: string) => word.replaceAll('DIR', dir).replaceAll('BUSY', String(port));
  const placeless = (text: string) =>
    text
      .replaceAll(dir, 'DIR')
      .replaceAll(String(port), 'BUSY')
      .replace(/pid \d+/, 'pid N')
      .replace(/(.)\1{99,}/g, (run, letter: string) => `${letter}…${run.length} characters`);
  const before = readGolden();
  const answers = new Map<Use, string>();
  const writes = process.argv.includes('--write');

  const runHere = verbChild(t);

  const look = async (use: Use) => {
    const { shown, words, more } = use;
    const skipped = (more.root && !ROOT_USER && 'only root can make it') || (more.ordinary && noOrdinaryUser());
    if (skipped) {
      answers.set(use, before.get(shown) ?? '');
      t.pass(shown, { skip: skipped });
      return;
    }
    const placed = words.map(place);
    const started = STARTED.has(use) ? await start(placed, more) : undefined;
    const here = more.ordinary ? undefined : await runHere(placed, environment(more.env));
    if (started && here) t.same(started, here, `${shown}: as the real program`);
    const { code, stdout, stderr } = (here ?? started) as Answer;
    // A monitor reads only stdout.
    const isCheck = words[0] === 'check';
    const [told, silent] = isCheck ? [stdout, stderr] : [stderr, stdout];
    const answer = placeless(told);
    answers.set(use, `  ${code}: ${answer.replace(/\n$/, '').replaceAll('\n', '\n  ')}\n`);
    const advises = /[;?] \S|\?$/.test(told.trimEnd());
    const names = words.slice(1).some(word => told.includes(oneLine(place(word))));
    const faults = [
      code !== codeOf(use) && `the code ${code}`,
      silent !== '' && `also ${JSON.stringify(silent)}`,
      !/^[^\n]+\n$/.test(told) && 'not one line',
      told.slice(0, -1).search(UNSEEN) >= 0 && 'what no terminal shows',
      /\bundefined\b|NaN(?!')|\[object| {4}at |Error:/.test(answer) && 'an error of ours',
      told.length > 600 + dir.length && 'more than anybody reads',
      !(isCheck ? /^BEOBOARD (CRITICAL|UNKNOWN): / : /^beoboard( [a-z]+)?: /).test(told) && 'not who says it',
      !(advises || (more.code !== undefined && names)) && 'neither what to do nor what is meant',
    ].filter(fault => fault !== false);
    t.same(faults, [], `${shown}: ${answer}`);
    t.equal(answers.get(use), before.get(shown), shown);
  };
  const next = (writes ? USES : partOf(USES, 6, SEED, 2)).values();
  const work = async () => {
    for (const use of next) await look(use);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));

  if (writes) {
    const parts = Object.keys(TABLE).map(title => {
      const those = USES.filter(use => use.title === title);
      return [`# ${title}\n`, ...those.map(use => `$ ${use.shown}\n${answers.get(use)}`)].join('\n');
    });
    writeFileSync(GOLDEN, `${parts.join('\n')}`);
  }
});

t.test('the table is long, holds nothing twice, and has something of every verb', async t => {
  t.ok(USES.length >= 150, `${USES.length} uses`);
  const shown = USES.map(use => use.shown);
  t.same(
    shown.filter((line, i) => shown.indexOf(line) < i),
    [],
  );
  const verbs = new Set(USES.map(({ words }) => words[0]));
  t.same(
    Object.keys(VERBS).filter(verb => !verbs.has(verb)),
    [],
  );
  t.same(
    [...readGolden().keys()].filter(line => !shown.includes(line)),
    [],
    'no answer is left of a use that is gone',
  );
});
