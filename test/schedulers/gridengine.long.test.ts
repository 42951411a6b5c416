// The load sensor with a real Grid Engine, its qmaster and execds in namespaces, and a real receiver and senders: a host
// that dies gets no more jobs once it is silent, a board that stalls alarms no queue, and what qmaster keeps when the
// sensor dies or hangs. As root, with mmdebstrap and a mirror of Debian; some six minutes.
//   npm run test:long -- gridengine

import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { compiled, compileSender } from '../kit/compiling.js';
import { gridEngineRoot, TWO_HOSTS, withGridEngine } from '../kit/gridengine.js';
import { lacks } from '../kit/lacking.js';
import { boardPath, ROOT } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';

t.setTimeout(1_800_000);
const REPORT_TIME = 10;
const skip = process.getuid?.() === 0 ? lacks('mmdebstrap', 'mmdebstrap') : 'not root';

const SCRIPT = `
ms() { date +%s%3N; }
until [ -s $BOARD ]; do sleep 0.1; done
$SENDER --to 10.99.0.1 --name master &
for h in n1 n2; do on $h $SENDER --to 10.99.0.1 & done
(M qconf -sc; cat $EXAMPLES/complexes) | grep -v '^#' >$R/tmp/c && M qconf -Mc /tmp/c
values() { M qhost -F bb_state -h $1 | sed -n 's/.*bb_state=\\([0-9]\\).*/\\1/p'; }
until [ "$(values n1) $(values n2)" = '0 0' ]; do sleep 0.2; done
M qconf -mattr queue load_thresholds bb_state=1,bb_problems=1 all.q
has_alarm() { case $(state $1) in *[aA]*) return 0 ;; esac; return 1; }
until ! has_alarm n1 && ! has_alarm n2; do sleep 0.2; done
${TWO_HOSTS}
for trial in 1 2 3; do
  sleep $((RANDOM % 10)).$((RANDOM % 10))
  t=$(ms); ip link set n1 down
  until has_alarm n1; do sleep 0.1; done
  echo "alarm $(($(ms) - t)) $($NODES --board $BOARD --state silent) n2 $(state n2)" >&3
  as 2001 qsub -b y -o /dev/null -e /dev/null -N j$trial /bin/sleep 2
  until q=$(M qstat -s r -u '*' | awk -v j=j$trial '$3 == j { print $8 }') && [ -n "$q" ]; do sleep 0.1; done
  echo "job $q $(($(ms) - t))" >&3
  t=$(ms); ip link set n1 up
  until ! has_alarm n1; do sleep 0.1; done
  echo "gone $(($(ms) - t))" >&3
done
kill -STOP $RECEIVER
for i in $(seq 100); do for h in n1 n2; do ! has_alarm $h || echo "stalled: alarm of $h" >&3; done; sleep 0.3; done
echo "stalled $(values n1) $(values n2)" >&3
kill -CONT $RECEIVER
sensor() { pgrep -f '^/usr/sbin/beoboard-sensor' | head -1; }
until [ "$($NODES --board $BOARD --state live --count)" = 3 ]; do sleep 0.2; done
old=$(sensor); kill -9 $old; t=$(ms); ip link set n1 down
until has_alarm n1; do sleep 0.1; done
echo "killed $([ "$(sensor)" != "$old" ] && echo another) $(($(ms) - t))" >&3
kill -STOP $(sensor); ip link set n1 up
for i in $(seq 100); do has_alarm n1 || break; sleep 0.3; done
echo "stopped $(has_alarm n1 && echo alarm)" >&3
t=$(ms); kill -CONT $(sensor)
until ! has_alarm n1; do sleep 0.1; done
echo "continued $(($(ms) - t))" >&3
ip link set n1 down
until has_alarm n1; do sleep 0.1; done
pkill -9 -P $EXECD; kill -9 $EXECD; ip link set n1 up
for i in $(seq 100); do has_alarm n1 || break; sleep 0.3; done
echo "execd $(has_alarm n1 && echo alarm) $([ -z "$(sensor)" ] && echo ended)" >&3
`;

t.test('Grid Engine 8.1.9 of Debian 12', { skip }, async t => {
  const root = mkdtempSync(join(tmpdir(), 'beoboard-test.'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  gridEngineRoot(root);
  copyFileSync(compiled(t, 'sensor', 'beoboard-sensor'), join(root, 'usr', 'sbin', 'beoboard-sensor'));
  const nodes = compiled(t, 'verbs', 'beoboard-nodes');
  const sender = compileSender(t);
  const examples = join(ROOT, 'examples', 'gridengine');
  const board = boardPath(t);
  chmodSync(join(board, '..'), 0o755);
  const script = `#!/bin/sh\nexec /usr/sbin/beoboard-sensor --board ${board}\n`;
  writeFileSync(join(root, 'usr', 'sbin', 'site-sensor'), script, { mode: 0o755 });
  const receive = `"$NODE" "$PROGRAM" receive --board ${board} --listen 10.99.0.1 & RECEIVER=$!`;
  const env = { BOARD: board, SENDER: sender, NODES: nodes, EXAMPLES: examples, LOAD_SENSOR: '/usr/sbin/site-sensor' };
  const programs = { NODE: process.execPath, PROGRAM };
  const { told, rest } = await withGridEngine(t, root, REPORT_TIME, { ...env, ...programs }, `${receive}\n${SCRIPT}`);
  t.comment(told.join('\n'));
  const of = (word: string) => told.filter(line => line.startsWith(`${word} `)).map(line => line.split(' '));
  const [jobs = '{}'] = told.filter(line => line.startsWith('jobs ')).map(line => line.slice(5));
  t.match(JSON.parse(jobs), { jobs: [{ user: 'anna', name: '<pair>', nodes: 'n[1-2]' }] }, 'jobs are shown');
  t.strictSame(
    of('alarm').map(words => words.slice(2).join(' ')),
    ['n1 n2 ', 'n1 n2 ', 'n1 n2 '],
    'only n1, and only when the board calls it silent',
  );
  t.strictSame(
    of('job').map(([, queue]) => queue),
    ['all.q@n2', 'all.q@n2', 'all.q@n2'],
    'the next job starts elsewhere',
  );
  t.strictSame(of('stalled'), [['stalled', '0', '0']], 'a stalled board alarms no queue');
  t.equal(of('killed')[0]?.[1], 'another', 'a sensor that died is started again');
  t.strictSame(of('stopped'), [['stopped', 'alarm']], 'of one that hangs the last values stay');
  t.equal(of('continued').length, 1, 'and are new when it goes on');
  if (!t.passing()) t.comment(rest.slice(-2000));
  t.strictSame(of('execd'), [['execd', 'alarm', 'ended']], "and after the end of its execd, which is the sensor's end");
});
