// The alerts from end to end: real receivers, a real exporter, Prometheus and Alertmanager with our files, ten times as
// fast, and who gets the messages. alerts.long.test.ts tests the shipped intervals, and resolved alerts.
//
// @seconds 25
// @waits
// @rest
// @days 3

import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { until } from '../kit/until.js';
import { Alerting, Cluster, exporterOf, noPrometheus } from './alerting.js';

t.setTimeout(600_000);

t.test('which alerts are sent, and how often', { skip: noPrometheus }, async t => {
  // These limits are not a tenth of the defaults but longer, because on a busy machine all reports may be late.
  const limits = ['--uncertain-after', '2s', '--silent-after', '4s'];
  const often = ['--interval', '500ms'];
  const [one, rack, dark, stop, term] = (await Promise.all(
    ['one', 'rack', 'dark', 'stop', 'term'].map(name => Cluster.start(t, name, limits)),
  )) as [Cluster, Cluster, Cluster, Cluster, Cluster];
  const dead = stop.nodes('dead', ...often);
  stop.nodes('n[01-10]', ...often);
  one.nodes('n[01-20]', ...often);
  const victim = one.nodes('n21', ...often);
  const leaver = one.node('leaver', ...often);
  rack.nodes('n[49-100]', ...often);
  const those = rack.nodes('n[01-48]', ...often);
  const all = dark.nodes('n[01-12]', ...often);
  term.nodes('n[01-10]', ...often);
  // Node `dead` dies first, so that there is a message about it before its receiver is stopped.
  const reader = new BoardReader(stop.board);
  t.teardown(() => reader.close());
  await until('it has reported', () => reader.snapshot().names().includes('dead'));
  dead.child.kill('SIGKILL');

  const exporter = await exporterOf(t, [one, rack, dark, stop, term]);
  const alerting = await Alerting.start(t, { targets: { one: exporter.address }, times: 10 });
  await alerting.holds('beoboard_node_state{state="live"} == 1', 22 + 100 + 12 + 10 + 10);
  await alerting.settles('stop');

  for (const { child } of [victim, those, all]) child.kill('SIGKILL');
  leaver.child.kill('SIGTERM');
  t.equal(await leaver.exit, 0);
  term.receiver.child.kill('SIGTERM');
  t.equal(await term.receiver.exit, 0);

  await alerting.says('stop: firing BeoboardNodeSilent dead');
  stop.receiver.child.kill('SIGSTOP');

  const [first] = (await alerting.says('one: firing BeoboardNodeSilent n21')).alerts;
  t.equal(first?.annotations.summary, 'Node n21 of one is silent');
  t.match(first?.annotations.description, /^n21 was last heard \d+(\.\d+)?s ago, while the receiver listened/);
  await alerting.holds('beoboard_node_state{node="leaver", state="left"} == 1');

  const [many] = (await alerting.says('rack: firing BeoboardManySilent')).alerts;
  // The message counts the nodes that were silent when it was sent: they become silent one by one within an interval.
  const [, fallen] = /^(\d+) nodes of rack are silent$/.exec(many?.annotations.summary ?? '') ?? [];
  t.ok(Number(fallen) > 10 && Number(fallen) <= 48, `${fallen} of 48, more than a tenth of 100`);
  await alerting.holds('ALERTS{cluster="rack", alertname="BeoboardNodeSilent", alertstate="firing"}', 48);
  await alerting.looked('BeoboardNodeSilent', 'rack');

  await alerting.says('dark: firing BeoboardLinkDark lo');
  await alerting.holds('beoboard_node_state{cluster="dark", state="silent"} == 1', 12);

  await alerting.says('term: firing BeoboardMonitorDown');
  await term.again();
  await alerting.holds('beoboard_node_state{cluster="term", state="live"} == 1', 10);

  await alerting.says(
    'stop: firing BeoboardMonitorDown',
    /^The receiver \(beoboard receive\) hangs or has ended.* No node is to blame\./,
  );
  stop.receiver.child.kill('SIGCONT');
  await alerting.holds('beoboard_node_state{cluster="stop", state="live"} == 1', 10);
  await alerting.holds('beoboard_node_state{cluster="stop", node="dead", state="silent"} == 1');

  // Messages that a receiver is back may have been sent or not, so they are ignored. An alert that fires has been sent.
  const isBack = 'resolved BeoboardMonitorDown';
  const told = (cluster: string) => alerting.told(cluster).filter(sentence => !sentence.endsWith(isBack));
  const others = 'ALERTS{alertstate="firing", alertname!="BeoboardMonitorDown"}';
  const firing = {
    'alertname=BeoboardNodeSilent cluster=one': 1,
    'alertname=BeoboardManySilent cluster=rack': 1,
    'alertname=BeoboardNodeSilent cluster=rack': 48,
    'alertname=BeoboardLinkDark cluster=dark': 1,
    'alertname=BeoboardNodeSilent cluster=stop': 1,
  };
  // A receiver that a busy machine keeps waiting is down for a moment, and so tells of no node.
  await until(`these fire, and no others: ${Object.keys(firing).join(', ')}`, async () => {
    const found = Object.fromEntries(await alerting.query(`count by (cluster, alertname) (${others})`));
    return isDeepStrictEqual(found, firing);
  });
  const silent = 'firing BeoboardNodeSilent';
  t.same(told('one'), [`one: ${silent} n21`], 'who left is not an alert');
  t.same(told('rack'), ['rack: firing BeoboardManySilent'], 'a rack is one message');
  t.same(told('dark'), ['dark: firing BeoboardLinkDark lo'], 'a dark link is one message, and blames nobody');
  // A busy machine may lose a scrape, which is another reason to say so of the same cluster.
  const once = (cluster: string) => [...new Set(told(cluster))];
  t.same(
    once('stop'),
    [`stop: ${silent} dead`, 'stop: firing BeoboardMonitorDown'],
    'a stopped receiver blames nobody',
  );
  t.same(once('term'), ['term: firing BeoboardMonitorDown'], 'nor does one that was ended, nor its restart');
});
