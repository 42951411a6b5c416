// The alerts from end to end with the files as they are shipped, intervals of 5 s and the usual limits: how soon a killed node is told,
// and that what nobody saw meanwhile is not told as over. The figures of docs/alerts.md. It takes a quarter of an hour.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Alerting, Cluster, exporterOf, noPrometheus, replaced, shipped } from '../alerting.js';
import { folder } from '../lib.js';

t.setTimeout(3_600_000);
t.jobs = 2;

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
const MINUTE = 60_000;
const now = () => performance.now();
const seconds = (ms: number) => (ms / 1000).toFixed(1);

// ---- how soon ----

const KILLED = 10;

t.test(
  'a killed node is told within 45 s; a rack is one message, whatever its share',
  { skip: noPrometheus, buffered: true },
  async t => {
    const names = Array.from({ length: KILLED }, (_, i) => `c${i + 1}`);
    const clusters = await Promise.all([...names, 'rack', 'tenth'].map(name => Cluster.start(t, name)));
    const [rack, tenth] = clusters.slice(KILLED) as [Cluster, Cluster];
    const victims = clusters.slice(0, KILLED).map(cluster => {
      cluster.nodes('n[01-07]');
      return cluster.nodes('n08');
    });
    rack.nodes('n[049-384]');
    tenth.nodes('n[049-960]');
    const racks = [rack, tenth].map(cluster => cluster.nodes('n[001-048]'));
    const exporter = await exporterOf(t, clusters);
    const alerting = await Alerting.start(t, { targets: { c1: exporter.address }, times: 1 });
    await alerting.holds('beoboard_node_state{state="live"} == 1', 8 * KILLED + 384 + 960);
    // Each at another moment of Prometheus' five seconds.
    const took = await Promise.all(
      victims.map(async ({ child }, i) => {
        await sleep((i * 5000) / KILLED);
        const at = now();
        child.kill('SIGKILL');
        return (await alerting.says(`c${i + 1}: firing BeoboardNodeSilent n08`)).at - at;
      }),
    );
    took.sort((a, b) => a - b);
    t.comment(`| a killed node is told, ${KILLED} of them | after ${took.map(seconds).join(', ')} s |`);
    t.ok((took.at(-1) as number) < 45_000, 'within 45 s');

    const at = now();
    for (const { child } of racks) child.kill('SIGKILL');
    const all = `firing BeoboardNodeSilent ${Array.from({ length: 48 }, (_, i) => `n${String(i + 1).padStart(3, '0')}`).join(' ')}`;
    const many = await alerting.says('rack: firing BeoboardManySilent');
    const few = await alerting.says(`tenth: ${all}`);
    t.comment(
      `| a rack of 48 of 384, of 960 nodes is told | after ${seconds(many.at - at)}, ${seconds(few.at - at)} s |`,
    );
    await sleep(2 * MINUTE);
    t.same(alerting.told('rack'), ['rack: firing BeoboardManySilent'], 'one message');
    t.same(alerting.told('tenth'), [`tenth: ${all}`], 'one message, with all their names');
    for (const name of names) t.same(alerting.told(name), [`${name}: firing BeoboardNodeSilent n08`]);
    for (const cluster of [rack, tenth]) cluster.nodes('n[001-048]');
    await alerting.says('rack: resolved BeoboardManySilent');
    await alerting.says(`tenth: ${all.replace('firing', 'resolved')}`);
    await sleep(2 * MINUTE);
    t.equal(alerting.told('rack').length, 2, 'and one when it is back');
    t.equal(alerting.told('tenth').length, 2);
  },
);

// ---- what nobody saw ----

t.test(
  'a monitor that was down for five minutes resolves nothing wrongly',
  { skip: noPrometheus, buffered: true },
  async t => {
    const names = ['stopped', 'ended', 'unasked', 'restarted'];
    const clusters = await Promise.all(names.map(name => Cluster.start(t, name)));
    const [stopped, ended, unasked, restarted] = clusters as [Cluster, Cluster, Cluster, Cluster];
    const exporters = await Promise.all(clusters.map(cluster => exporterOf(t, [cluster])));
    for (const cluster of clusters) cluster.nodes('n[01-20]');
    const dead = clusters.map(cluster => cluster.nodes('dead'));
    const left = clusters.map(cluster => cluster.node('left'));
    const targets = Object.fromEntries(clusters.map(({ name }, i) => [name, exporters[i]!.address]));
    const alerting = await Alerting.start(t, { targets, times: 1 });
    await alerting.holds('beoboard_node_state{state="live"} == 1', 4 * 22);
    for (const { child } of dead) child.kill('SIGKILL');
    for (const { child } of left) child.kill('SIGTERM');
    for (const name of names) await alerting.says(`${name}: firing BeoboardNodeSilent dead`);

    const began = now();
    stopped.receiver.child.kill('SIGSTOP');
    ended.receiver.child.kill('SIGTERM');
    const exporter = exporters[2]!;
    exporter.child.kill('SIGKILL');
    // An upgrade: over before anybody would have to be told.
    restarted.receiver.child.kill('SIGTERM');
    await restarted.receiver.exit;
    await sleep(5000);
    await restarted.again();
    for (const name of ['stopped', 'ended', 'unasked']) {
      const { at } = await alerting.says(`${name}: firing BeoboardMonitorDown`);
      t.comment(`| a monitor that is ${name} is told | after ${seconds(at - began)} s |`);
    }
    await sleep(began + 5 * MINUTE - now());
    const back = now();
    stopped.receiver.child.kill('SIGCONT');
    await ended.again();
    await exporterOf(t, [unasked], exporter.address);
    for (const name of ['stopped', 'ended', 'unasked']) {
      const { at } = await alerting.says(`${name}: resolved BeoboardMonitorDown`);
      t.comment(`| that it is back | after ${seconds(at - back)} s |`);
    }
    await sleep(3 * MINUTE);
    for (const name of ['stopped', 'ended', 'unasked'])
      t.same(
        alerting.told(name),
        [
          `${name}: firing BeoboardNodeSilent dead`,
          `${name}: firing BeoboardMonitorDown`,
          `${name}: resolved BeoboardMonitorDown`,
        ],
        'the dead node was told once, and nobody else',
      );
    t.same(alerting.told('restarted'), ['restarted: firing BeoboardNodeSilent dead'], 'a restart is no message at all');
    for (const cluster of clusters) cluster.nodes('dead');
    for (const name of names) await alerting.says(`${name}: resolved BeoboardNodeSilent dead`);
  },
);

// ---- whether rules_test.yml would find a fault ----

/** A rule with something left out, which its test has to find. */
const FAULTS: [what: string, is: string, by: string][] = [
  ['who is uncertain is silent', 'state="silent"} == 1)', 'state=~"silent|uncertain"} == 1)'],
  ['who left is silent', 'state="silent"} == 1)', 'state=~"silent|left"} == 1)'],
  ['who is unknown is silent', 'state="silent"} == 1)', 'state=~"silent|unknown"} == 1)'],
  ['nodes of a dark link', 'max_over_time(beoboard_node_dark[2m]) == 1', 'max_over_time(beoboard_node_dark[2m]) == 2'],
  ['no patience when a link is lit', 'max_over_time(beoboard_node_dark[2m]) == 1', 'beoboard_node_dark == 1'],
  [
    'who was told before the link went dark',
    'alertname="BeoboardNodeSilent", alertstate',
    'alertname="None", alertstate',
  ],
  ['who is behind a shard that fails', 'on (cluster) up{job="beoboard"} == 0', 'on (cluster) up{job="beoboard"} == 2'],
  ['a stalled board', '(max by (cluster) (beoboard_board_stalled) == 1) + 2', '(vector(1) == 0)'],
  ['no board', '(min by (cluster) (beoboard_board_up) == 0) + 2', '(vector(1) == 0)'],
  ['an exporter that is down', '(max by (cluster) (up{job="beoboard"}) == 0) + 1', '(vector(1) == 0)'],
  ['a target that never was', 'absent(up{job="beoboard", cluster="alpha"})', 'absent(up{job="beoboard"})'],
  ['a board that is gone', 'max by (cluster) (max_over_time(beoboard_board_up[1d]) * 0 + 4)', '(vector(1) == 0)'],
  ['a monitor that is down for a moment', 'for: 30s', 'for: 0s'],
  ['a monitor that is over at once', 'for: 30s\n        keep_firing_for: 2m', 'for: 30s'],
  ['an interface that is down is dark, too', 'unless on (cluster, link) beoboard_link_up == 0', ''],
  ['an interface without nodes', 'beoboard_link_nodes > 0 and', 'beoboard_link_nodes >= 0 and'],
  ['three are many', '(beoboard:node_silent_seconds) > 3', '(beoboard:node_silent_seconds) > 2'],
  ['a tenth is many', '> 0.1 *', '>= 0.1 *'],
  ['who left counts', '{state=~"live|uncertain|silent"}', ''],
  ['many are over before each', 'keep_firing_for: 3m', 'keep_firing_for: 1m'],
  [
    'silent at once',
    'for: 10s\n        keep_firing_for: 2m\n        labels:\n          severity: warning',
    'keep_firing_for: 2m\n        labels:\n          severity: warning',
  ],
  ['ill nodes that fall silent are well', 'alertname="BeoboardNodeIll", alertstate', 'alertname="None", alertstate'],
  ['held nodes are ill', 'unless on (cluster, node) beoboard_node_ailment{ailment="held"} == 1', ''],
  [
    'ill for a moment',
    "for: 1m\n        keep_firing_for: 2m\n        labels:\n          severity: warning\n        annotations:\n          summary: 'Node {{ $labels.node }} of {{ $labels.cluster }} is ill",
    "labels:\n          severity: warning\n        annotations:\n          summary: 'Node {{ $labels.node }} of {{ $labels.cluster }} is ill",
  ],
  [
    'another kind of drop',
    'increase(beoboard_receiver_dropped_total{kind="overflow"}[5m])',
    'increase(beoboard_receiver_dropped_total[5m])',
  ],
  [
    'drops while it stood still',
    'unless on (cluster) max_over_time(ALERTS{alertname="BeoboardMonitorDown", alertstate="firing"}[5m])',
    '',
  ],
  ['one restart', '[10m])) > 3', '[10m])) > 0'],
  ['a clock against the master', '- on (cluster) group_left beoboard:clock_skew_seconds:median', ''],
  [
    'one refusal is enough',
    'changes(beoboard_node_last_refusal_timestamp_seconds{reason="rival"}[45s])',
    'count_over_time(beoboard_node_last_refusal_timestamp_seconds{reason="rival"}[45s])',
  ],
  ['what came late is lost', '- max by (cluster, node) (increase(beoboard_node_reports_late_total[10m]))', ''],
  ['one report is loss', 'and on (cluster, node) beoboard:node_reports_lost:increase10m >= 10', ''],
  [
    'what a silent node missed',
    'unless on (cluster, node) max_over_time(beoboard_node_state{state="silent"}[10m]) == 1',
    '',
  ],
  [
    'what the master dropped',
    'unless on (cluster) increase(beoboard_receiver_dropped_total{kind="overflow"}[10m]) > 0',
    '',
  ],
];

t.test('rules_test.yml finds each fault of the rules', { skip: noPrometheus, buffered: true }, async t => {
  const dir = folder(t, tmpdir());
  writeFileSync(join(dir, 'rules_test.yml'), shipped('rules_test.yml'));
  const tried = (rules: string) => {
    writeFileSync(join(dir, 'rules.yml'), rules);
    const run = (...argv: string[]) => spawnSync('promtool', argv, { cwd: dir, encoding: 'utf8' });
    t.equal(run('check', 'rules', 'rules.yml').status, 0, 'they are rules');
    return run('test', 'rules', 'rules_test.yml');
  };
  t.equal(tried(shipped('rules.yml')).status, 0);
  for (const [what, is, by] of FAULTS) {
    const { status, stdout } = tried(replaced(shipped('rules.yml'), is, by));
    t.ok(status !== 0 && stdout.includes('FAILED'), what);
  }
});
