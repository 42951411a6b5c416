// Whether packaging/prometheus/rules_test.yml would find a fault: each condition and each `for` of the rules is removed
// or changed in turn, and then it has to fail.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { folder } from '../kit/places.js';
import { noPrometheus, replaced, shipped } from './alerting.js';

t.setTimeout(3_600_000);

/** Faults in the rules that their test has to find. */
const FAULTS: [what: string, is: string, by: string][] = [
  ['who is uncertain is silent', 'state="silent"} == 1)', 'state=~"silent|uncertain"} == 1)'],
  ['who left is silent', 'state="silent"} == 1)', 'state=~"silent|left"} == 1)'],
  ['who is unknown is silent', 'state="silent"} == 1)', 'state=~"silent|unknown"} == 1)'],
  [
    'nodes of a dark link',
    'max by (cluster, node) (beoboard_node_dark == 1)',
    'max by (cluster, node) (beoboard_node_dark == 2)',
  ],
  ['no patience when a link is lit', 'max_over_time(beoboard:node_dark[2m])', 'beoboard:node_dark'],
  [
    'who was told before the link went dark',
    'alertname="BeoboardNodeSilent", alertstate',
    'alertname="None", alertstate',
  ],
  ['who is behind a shard that fails', 'on (cluster) up{job="beoboard"} == 0', 'on (cluster) up{job="beoboard"} == 2'],
  ['a stalled board', '(max by (cluster) (beoboard_board_stalled) == 1) + 2', '(vector(1) == 0)'],
  ['a board without nodes', '(sum by (cluster) (beoboard_nodes) == 0) + 6', '(vector(1) == 0)'],
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
  [
    'unhealthy nodes that fall silent are well',
    'alertname="BeoboardNodeUnhealthy", alertstate',
    'alertname="None", alertstate',
  ],
  ['held nodes are unhealthy', 'unless on (cluster, node) beoboard_node_problem{problem="held"} == 1', ''],
  [
    'unhealthy for a moment',
    "for: 1m\n        keep_firing_for: 2m\n        labels:\n          severity: warning\n        annotations:\n          summary: 'Node {{ $labels.node }} of {{ $labels.cluster }} is unhealthy",
    "labels:\n          severity: warning\n        annotations:\n          summary: 'Node {{ $labels.node }} of {{ $labels.cluster }} is unhealthy",
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
  ['what a silent node missed', 'unless on (cluster, node) max_over_time(beoboard:node_silent_seconds[10m])', ''],
  ['what a dark link missed', 'unless on (cluster, node) max_over_time(beoboard:node_dark[10m])', ''],
  [
    'what the master dropped',
    'unless on (cluster) increase(beoboard_receiver_dropped_total{kind="overflow"}[10m]) > 0',
    '',
  ],
];

t.test('rules_test.yml finds each fault of the rules', { skip: noPrometheus }, async t => {
  const dir = folder(t);
  writeFileSync(join(dir, 'rules_test.yml'), shipped('rules_test.yml'));
  const tried = (rules: string) => {
    writeFileSync(join(dir, 'rules.yml'), rules);
    const run = (...argv: string[]) => spawnSync('promtool', argv, { cwd: dir, encoding: 'utf8' });
    t.equal(run('check', 'rules', 'rules.yml').status, 0, 'they are rules');
    return run('test', 'rules', 'rules_test.yml');
  };
  t.equal(tried(shipped('rules.yml')).status, 0);
  for (const [what, is, by] of FAULTS) {
    const { status, stderr } = tried(replaced(shipped('rules.yml'), is, by));
    t.ok(status !== 0 && stderr.includes('FAILED'), what);
  }
});
