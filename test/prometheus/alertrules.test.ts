// The files of packaging/prometheus: what promtool and amtool say about them; each alert has a test, a section in
// docs/prometheus.md, and readings that the exporter has; and the rules among each other, so that nothing is wrongly
// reported as over.
//
// @rest
// @days 3

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { enums } from '../../src/layout/layout.gen.js';
import { boardFamilies } from '../../src/prometheus/boards.js';
import { FAMILIES } from '../../src/prometheus/families.js';
import { SchedulerFamilies } from '../../src/prometheus/schedulerfamilies.js';
import { STATES } from '../../src/shm/liveness.js';
import { PROBLEMS } from '../../src/shm/problems.js';
import { folder, ROOT } from '../kit/places.js';
import { noPrometheus, replaced, SHIPPED, shipped } from './alerting.js';

const skip = noPrometheus;

// ---- what the tools say ----

const tool = (cwd: string, program: string, ...argv: string[]) => {
  const { status, stdout, stderr } = spawnSync(program, argv, { cwd, encoding: 'utf8' });
  return { status, told: stdout + stderr };
};

t.test('promtool and amtool accept the files as they are', { skip }, async t => {
  for (const [program, ...argv] of [
    ['promtool', 'check', 'rules', 'rules.yml'],
    ['promtool', 'check', 'config', 'prometheus.yml'],
    ['amtool', 'check-config', 'alertmanager.yml'],
  ] as const) {
    const { status, told } = tool(SHIPPED, program, ...argv);
    t.equal(status, 0, `${program} ${argv.join(' ')}: ${told}`);
  }
});

t.test('and with shards, as the comment in the file says', { skip }, async t => {
  const dir = folder(t);
  const text = shipped('prometheus.yml').replace(/^ {4}static_configs:\n(?: {6}.*\n)+/m, '');
  writeFileSync(join(dir, 'prometheus.yml'), text.replaceAll(/^ {4}# (?=[ -]|http_sd|relabel)/gm, '    '));
  writeFileSync(join(dir, 'rules.yml'), shipped('rules.yml'));
  const { status, told } = tool(dir, 'promtool', 'check', 'config', 'prometheus.yml');
  t.equal(status, 0, told);
  t.match(readFileSync(join(dir, 'prometheus.yml'), 'utf8'), /^ {4}http_sd_configs:$[\s\S]*^ {4}relabel_configs:$/m);
});

t.test('each alert fires when it should, and does not when it should not', { skip }, async t => {
  const { status, told } = tool(SHIPPED, 'promtool', 'test', 'rules', 'rules_test.yml');
  t.equal(status, 0, told);
});

t.test('the example for odd nodes, which no file loads', { skip }, async t => {
  const path = join(SHIPPED, 'odd.yml');
  const { status, told } = tool(SHIPPED, 'promtool', 'check', 'rules', '--lint=all', '--lint-fatal', path);
  t.equal(status, 0, told);
  t.notMatch(shipped('prometheus.yml'), /odd/);
  const names = new Set(new SchedulerFamilies('/nonexistent').of([]).map(({ name }) => name));
  for (const name of new Set(shipped('odd.yml').match(/\bbeoboard_\w+/g))) t.ok(names.has(name), name);
  const firing = { exp_labels: { severity: 'warning', cluster: 'alpha', node: 'n2', reading: 'mhz' } };
  const at = (eval_time: string, exp_alerts: object[]) => ({ alertname: 'BeoboardNodeOdd', eval_time, exp_alerts });
  const series = (labels: string, values: string) => ({
    series: `beoboard_node_odd{cluster="alpha", ${labels}}`,
    values,
  });
  const test = {
    interval: '5s',
    input_series: [
      series('node="n2", reading="mhz", instance="a:1"', '_x11 1x24 stale _x11 1x12 stale _x200'),
      series('node="n3", reading="temp", instance="a:1"', '_x11 1x6 stale _x200'),
    ],
    alert_rule_test: [
      at('1m', []),
      at('1m50s', []),
      at('2m', [firing]),
      at('3m30s', [firing]),
      at('14m', [firing]),
      at('16m', []),
    ],
  };
  const file = join(folder(t), 'test.yml');
  // Only labels are compared: the words may change.
  const bare = join(folder(t), 'odd.yml');
  writeFileSync(bare, shipped('odd.yml').replace(/^ {8}annotations:\n(?: {10}.*\n)+/m, ''));
  writeFileSync(file, JSON.stringify({ rule_files: [bare], evaluation_interval: '5s', tests: [test] }));
  const found = tool(SHIPPED, 'promtool', 'test', 'rules', file);
  t.equal(found.status, 0, found.told);
});

// ---- what they have to keep ----

const S: Record<string, number> = { s: 1, m: 60 };
const seconds = (text: string | undefined) =>
  text === undefined ? 0 : Number.parseInt(text, 10) * (S[text.at(-1)!] ?? Number.NaN);

const ALERTS = shipped('rules.yml')
  .split(/^ {6}- (?=alert: |record: )/m)
  .filter(rule => rule.startsWith('alert: '))
  .map(rule => {
    const of = (key: string) => new RegExp(`^ *${key}: (.*)$`, 'm').exec(rule)?.[1];
    return { name: of('alert')!, for: seconds(of('for')), keep: seconds(of('keep_firing_for')), of, rule };
  });
const NAMES = ALERTS.map(({ name }) => name);
const alert = (name: string) => ALERTS.find(alert => alert.name === name)!;

t.test('every alert has a severity, what to do, and an answer in docs/prometheus.md', async t => {
  const answers = readFileSync(join(ROOT, 'docs', 'prometheus.md'), 'utf8');
  t.same([...answers.matchAll(/^### (Beoboard\w+)$/gm)].map(([, name]) => name).sort(), [...NAMES].sort());
  t.equal(new Set(NAMES).size, NAMES.length, 'each stands once: two of one name and labels would end each other');
  for (const { name, of, rule } of ALERTS) {
    t.match(of('severity'), /^(critical|warning)$/, name);
    t.match(rule, /^ {10}summary: .*\$labels\.cluster/m, name);
    t.match(rule, /^ {10}description: >-\n/m, name);
    t.equal(of('runbook'), `'docs/prometheus.md, ${name}'`);
  }
});

t.test('every alert has a test in which it fires, and one in which it does not', async t => {
  const tests = shipped('rules_test.yml');
  const firing = new Set(
    [...tests.matchAll(/alertname: (\w+)[^\n]*\n\s+eval_time: \w+\n\s+exp_alerts:(?! *\[\])/g)].map(([, name]) => name),
  );
  const still = new Set(
    [...tests.matchAll(/\{ alertname: (\w+), eval_time: \w+, exp_alerts: \[\] \}/g)].map(([, name]) => name),
  );
  for (const name of NAMES) t.ok(firing.has(name), `${name} fires in rules_test.yml`);
  for (const name of NAMES) t.ok(still.has(name), `${name} does not fire in rules_test.yml`);
  for (const name of new Set([...firing, ...still])) t.ok(NAMES.includes(name!), `${name} is in rules.yml`);
});

t.test('the rules use only series and labels of the exporter', async t => {
  const rules = shipped('rules.yml');
  const told = new Set([
    ...Object.values(FAMILIES).flatMap(families => families.map(({ name }) => `beoboard_${name}`)),
    ...boardFamilies([]).map(({ name }) => name),
  ]);
  const read = new Set(rules.match(/\bbeoboard_\w+/g));
  t.ok(read.size > 15, [...read].join(' '));
  for (const name of read) t.ok(told.has(name), name);
  const words = { state: STATES, reason: enums.reason, problem: PROBLEMS } as Record<string, readonly string[]>;
  for (const [, label, values = ''] of rules.matchAll(/\b(state|reason|problem)!?=~?"([^"]+)"/g))
    for (const value of values.split('|')) t.ok(words[label!]?.includes(value), `${label} ${value}`);
});

t.test('no alert is reported as resolved while its readings are missing', async t => {
  const slow = seconds(/^ {4}interval: (\w+)$/m.exec(shipped('rules.yml'))?.[1]);
  const { keep } = alert('BeoboardMonitorDown');
  for (const { name, for: patience } of ALERTS)
    t.ok(patience + slow <= keep, `${name} fires again before the monitor is no longer told as down`);
  for (const { name, keep } of ALERTS) t.ok(keep >= 120, `${name} outlasts a receiver that is restarted`);
  t.ok(keep > alert('BeoboardMonitorDown').for);
  t.ok(alert('BeoboardManySilent').keep > alert('BeoboardNodeSilent').keep, 'who came back is not told after a rack');
  t.ok(NAMES.indexOf('BeoboardManySilent') < NAMES.indexOf('BeoboardNodeSilent'), 'a rack is known before its nodes');
  t.equal(alert('BeoboardManySilent').for, 0);

  const [prometheus, alertmanager] = [shipped('prometheus.yml'), shipped('alertmanager.yml')];
  const of = (text: string, key: string) => seconds(new RegExp(`^ *${key}: (\\w+)$`, 'm').exec(text)?.[1]);
  const look = of(prometheus, 'scrape_interval') + of(prometheus, 'evaluation_interval');
  t.ok(look > 0 && look <= of(alertmanager, 'group_wait'), 'what fell at one moment is in one message');
  t.ok(alert('BeoboardNodeSilent').for >= of(prometheus, 'evaluation_interval') * 2);
  replaced(prometheus, 'honor_labels: true', '');
  replaced(alertmanager, 'group_by: [alertname, cluster]', '');
  replaced(
    shipped('rules.yml'),
    `absent(up{job="beoboard", cluster="${/^ {10}cluster: (\w+)$/m.exec(prometheus)?.[1]}"})`,
    '',
  );
});
