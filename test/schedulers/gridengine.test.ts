// With a real Grid Engine of this machine's packages, in namespaces: the values of the load sensor reach qhost, and a job
// on two hosts is shown. What else the sensor does: test/schedulers/gridengine.long.test.ts.
//
// @seconds 10
// @waits
// @rest

import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compiled, compileSender } from '../kit/compiling.js';
import { machineRoot, noGridEngine, TWO_HOSTS, withGridEngine } from '../kit/gridengine.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';

t.setTimeout(600_000);

const SCRIPT = `
"$NODE" "$PROGRAM" receive --board $BOARD --listen 10.99.0.1 &
until [ -s $BOARD ]; do sleep 0.1; done
for h in n1 n2; do on $h $SENDER --to 10.99.0.1 & eval S_$h=$!; done
(M qconf -sc; cat $EXAMPLES/complexes) | grep -v '^#' >$R/tmp/c && M qconf -Mc /tmp/c
value() { M qhost -F bb_$1 -h $2 | sed -n "s/.*bb_$1=\\([0-9]*\\)\\..*/\\1/p"; }
until [ "$(value until n1)" -gt 0 ] && [ "$(value until n2)" -gt 0 ]; do sleep 0.2; done 2>/dev/null
echo "live $(value state n1) $(value state n2)" >&3
until [ -z "$(state n1)$(state n2)" ]; do sleep 0.2; done
${TWO_HOSTS}
eval "M $("$NODE" "$PROGRAM" drain -w n1 --reason x --slurm-dir $R/tmp/jobs --board $BOARD | tail -1)"
until M qstat -f -q '*@n1' | grep -q 'd$'; do sleep 0.2; done
M qstat -f -q '*@n2' | grep -q 'd$' || echo "drained n1 alone" >&3
M qmod -e '*@n1'
pkill -P $S_n1
until [ "$(value state n1)" = 1 ]; do sleep 0.2; done
echo "left $(value state n1) $(value state n2)" >&3
`;

t.test('a sensor and a job', { skip: noGridEngine() }, async t => {
  const root = folder(t);
  machineRoot(root);
  const board = boardPath(t);
  chmodSync(join(board, '..'), 0o755);
  const sensor = join('opt', 'beoboard-sensor');
  copyFileSync(compiled(t, 'sensor', 'beoboard-sensor'), join(root, sensor));
  const script = `#!/bin/sh\nexec /${sensor} --board ${board}\n`;
  writeFileSync(join(root, 'opt', 'site-sensor'), script, { mode: 0o755 });
  const env = {
    ...{ NODE: process.execPath, PROGRAM, BOARD: board, SENDER: compileSender(t) },
    ...{ EXAMPLES: join(ROOT, 'examples', 'gridengine'), LOAD_SENSOR: '/opt/site-sensor' },
  };
  const { told, rest } = await withGridEngine(t, root, 1, env, SCRIPT);
  const [live, jobs = '', drained, left] = told;
  t.equal(live, 'live 0 0');
  t.match(jobs, /^jobs \{/);
  t.match(JSON.parse(jobs.slice(5)), {
    jobs: [{ user: 'anna', name: '<pair>', nodes: 'n[1-2]', states: { live: 2 } }],
  });
  t.equal(drained, 'drained n1 alone', 'by the command that beoboard drain prints');
  t.equal(left, 'left 1 0', 'of a host that said goodbye');
  if (!t.passing()) t.comment(rest.slice(-2000));
});
