// A master that is a node, too: what its own sender reports proves nothing of its links. Ten scenes of many; all are in
// mastersender.long.test.ts. In namespaces of their own, with real datagrams.
//
// @seconds 14
// @shared 10
// @waits
// @rest
// @days 3

import t from 'tap';
import { lacks } from '../kit/lacking.js';
import { noNamespaces } from '../kit/netns.js';
import { check, type Fault, type Others, type Sender } from './mastersender.js';

t.setTimeout(600_000);
t.jobs = 5;
const skip = noNamespaces() || lacks('python3 prometheus', 'python3', 'promtool');

const SCENES: [fault: Fault, sender: Sender, others: Others][] = [
  ['switch dies', 'none', 'one master'],
  ['switch dies', 'by name', 'mirror'],
  ['switch dies', 'multicast', 'two masters'],
  ['switch dies', 'guest', 'one master'],
  ['carrier lost', 'by name', 'one master'],
  ['carrier lost', 'container', 'mirror'],
  ['one cable', 'by name', 'two masters'],
  ['one cable', 'guest', 'mirror'],
  ['receiver stopped', 'multicast', 'one master'],
  ['fragments flood', 'localhost', 'one master'],
];

for (const [fault, sender, others] of SCENES)
  t.test(`${fault}; sender: ${sender}; ${others}`, { skip, buffered: true }, t => check(t, fault, sender, others));
