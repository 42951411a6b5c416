// The alerts from end to end with the shipped files, intervals of 5 s and the default limits: how soon there is a
// message about a killed node, and that nothing is reported as resolved while the monitor is down. The figures of
// docs/prometheus.md. It takes a quarter of an hour.

import t from 'tap';
import { Alerting, Cluster, exporterOf, noPrometheus } from './alerting.js';

t.setTimeout(3_600_000);
t.jobs = 2;

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
const MINUTE = 60_000;
const now = () => performance.now();
const seconds = (ms: number) => (ms / 1000).toFixed(1);

// ---- how soon ----

const KILLED = 10;

t.test(
  'a message about a killed node within 45 s; a rack is one message, whatever its share',
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
    // The nodes are killed at different moments of Prometheus' interval of five seconds.
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
    await sleep(2 * MINUTE);
    t.equal(alerting.told('rack').length, 2, 'and one when it is back');
    const back = alerting.told('tenth').slice(1);
    t.match(back.at(-1), /^tenth: resolved BeoboardNodeSilent n/);
    t.ok(back.length <= 2, `or two, where Alertmanager tells while the last are still coming back: ${back.join('; ')}`);
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
    // As in an upgrade: the receiver is back before an alert is due.
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
