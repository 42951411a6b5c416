// The alerts from end to end: real receivers, a real exporter, Prometheus and Alertmanager with the files that we ship, five times as
// fast, and who gets the messages. How long it takes with the shipped intervals, and what is resolved, is for test/long.

import t from 'tap';
import { Alerting, Cluster, exporterOf, noPrometheus } from './alerting.js';

t.setTimeout(300_000);

t.test('who is told of what, and how often', { skip: noPrometheus }, async t => {
  // Longer than five times as fast: a busy machine may let nobody report for so long.
  const limits = ['--uncertain-after', '2s', '--silent-after', '5s'];
  const often = ['--interval', '200ms'];
  const [one, rack, dark, stop, term] = (await Promise.all(
    ['one', 'rack', 'dark', 'stop', 'term'].map(name => Cluster.start(t, name, limits)),
  )) as [Cluster, Cluster, Cluster, Cluster, Cluster];
  one.nodes('n[01-20]', ...often);
  const victim = one.nodes('n21', ...often);
  const leaver = one.node('leaver', ...often);
  rack.nodes('n[49-100]', ...often);
  const those = rack.nodes('n[01-48]', ...often);
  const all = dark.nodes('n[01-12]', ...often);
  stop.nodes('n[01-10]', ...often);
  const dead = stop.nodes('dead', ...often);
  term.nodes('n[01-10]', ...often);

  const exporter = await exporterOf(t, [one, rack, dark, stop, term]);
  const alerting = await Alerting.start(t, { targets: { one: exporter.address }, times: 5 });
  await alerting.holds('beoboard_node_state{state="live"} == 1', 22 + 100 + 12 + 11 + 10);
  t.same(alerting.messages, [], 'all is well');

  for (const { child } of [victim, those, all, dead]) child.kill('SIGKILL');
  leaver.child.kill('SIGTERM');
  t.equal(await leaver.exit, 0);
  term.receiver.child.kill('SIGTERM');
  t.equal(await term.receiver.exit, 0);

  await alerting.says('stop: firing BeoboardNodeSilent dead');
  stop.receiver.child.kill('SIGSTOP');

  const [told] = (await alerting.says('one: firing BeoboardNodeSilent n21')).alerts;
  t.equal(told?.annotations.summary, 'Node n21 of one is silent');
  t.match(told?.annotations.description, /^n21 was last heard \d+(\.\d+)?s ago, while the receiver listened/);
  await alerting.holds('beoboard_node_state{node="leaver", state="left"} == 1');

  const [many] = (await alerting.says('rack: firing BeoboardManySilent')).alerts;
  t.equal(many?.annotations.summary, '48 nodes of rack are silent');
  await alerting.holds('ALERTS{cluster="rack", alertname="BeoboardNodeSilent", alertstate="firing"}', 48);
  await alerting.looked('BeoboardNodeSilent', 'rack');

  await alerting.says('dark: firing BeoboardLinkDark lo');
  await alerting.holds('beoboard_node_state{cluster="dark", state="silent"} == 1', 12);

  await alerting.says('term: firing BeoboardMonitorDown');
  await term.again();
  await alerting.holds('beoboard_node_state{cluster="term", state="live"} == 1', 10);

  const [down] = (await alerting.says('stop: firing BeoboardMonitorDown')).alerts;
  t.match(down?.annotations.description, /^The receiver \(beoboard receive\) stands still.* No node is to blame\./);
  stop.receiver.child.kill('SIGCONT');
  await alerting.holds('beoboard_node_state{cluster="stop", state="live"} == 1', 10);
  await alerting.holds('beoboard_node_state{cluster="stop", node="dead", state="silent"} == 1');

  // What fires, and is not told yet, would be.
  const firing = await alerting.query('count by (cluster, alertname) (ALERTS{alertstate="firing"})');
  t.same(Object.fromEntries(firing), {
    'alertname=BeoboardNodeSilent cluster=one': 1,
    'alertname=BeoboardManySilent cluster=rack': 1,
    'alertname=BeoboardNodeSilent cluster=rack': 48,
    'alertname=BeoboardLinkDark cluster=dark': 1,
    'alertname=BeoboardMonitorDown cluster=stop': 1,
    'alertname=BeoboardNodeSilent cluster=stop': 1,
    'alertname=BeoboardMonitorDown cluster=term': 1,
  });
  t.same(alerting.told('one'), ['one: firing BeoboardNodeSilent n21'], 'who left is no alert');
  t.same(alerting.told('rack'), ['rack: firing BeoboardManySilent'], 'a rack is one message');
  t.same(alerting.told('dark'), ['dark: firing BeoboardLinkDark lo'], 'a dark link is one message, and blames nobody');
  const silent = 'stop: firing BeoboardNodeSilent dead';
  t.same(alerting.told('stop'), [silent, 'stop: firing BeoboardMonitorDown'], 'a stopped receiver blames nobody');
  t.same(alerting.told('term'), ['term: firing BeoboardMonitorDown'], 'nor does one that was ended, and its restart');
});
