// Turns a snapshot of the board into the document that Ganglia's gmond 3.7.2 would give, piece by piece. Pure: no clock,
// no I/O. It refuses to escape, and to call a node down that it has no evidence about.

import type { Report } from '../layout/codec.js';
import { ageNs, type Evidence, judge } from '../shm/liveness.js';
import { rates } from '../shm/rates.js';
import type { Node, Snapshot } from '../shm/reader.js';
import { METRICS, type Metric, wallSeconds } from './metrics.js';
import { decimal, safe, UNSPECIFIED } from './safe.js';

export interface RenderOptions {
  /** The cluster's name; by default the board's. */
  cluster?: string | undefined;
  owner?: string | undefined;
  latlong?: string | undefined;
  url?: string | undefined;
  /**
   * Seconds since 1970, the time of every point that gmetad draws. A server must give a later one for each document:
   * of two with the same, gmetad refuses the second.
   */
  localtime: number;
}

/** gmetad calls a host down when its TN has reached four times its TMAX. */
const TMAX = 20;
const DOWN = 4 * TMAX;
/** The highest TN of a host that is up: what is short of DOWN also when a poll and a page come late. */
const UP_MOST = 60;

const TYPE = '(string | int8 | uint8 | int16 | uint16 | int32 | uint32 | float | double | timestamp)';
const SLOPE = '(zero | positive | negative | both | unspecified)';

/** Ganglia's document type. The parts that only gmetad writes (GRID, HOSTS, METRICS) belong to it too. */
const PROLOGUE = `<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<!DOCTYPE GANGLIA_XML [
<!ELEMENT GANGLIA_XML (GRID | CLUSTER | HOST)*>
<!ATTLIST GANGLIA_XML VERSION CDATA #REQUIRED SOURCE CDATA #REQUIRED>
<!ELEMENT GRID (CLUSTER | GRID | HOSTS | METRICS)*>
<!ATTLIST GRID NAME CDATA #REQUIRED AUTHORITY CDATA #REQUIRED LOCALTIME CDATA #IMPLIED>
<!ELEMENT CLUSTER (HOST | HOSTS | METRICS)*>
<!ATTLIST CLUSTER NAME CDATA #REQUIRED LOCALTIME CDATA #REQUIRED
  OWNER CDATA #IMPLIED LATLONG CDATA #IMPLIED URL CDATA #IMPLIED>
<!ELEMENT HOST (METRIC)*>
<!ATTLIST HOST NAME CDATA #REQUIRED IP CDATA #REQUIRED REPORTED CDATA #REQUIRED
  TN CDATA #IMPLIED TMAX CDATA #IMPLIED DMAX CDATA #IMPLIED
  LOCATION CDATA #IMPLIED TAGS CDATA #IMPLIED GMOND_STARTED CDATA #IMPLIED>
<!ELEMENT METRIC (EXTRA_DATA*)>
<!ATTLIST METRIC NAME CDATA #REQUIRED VAL CDATA #REQUIRED
  TYPE ${TYPE} #REQUIRED
  UNITS CDATA #IMPLIED TN CDATA #IMPLIED TMAX CDATA #IMPLIED DMAX CDATA #IMPLIED
  SLOPE ${SLOPE} #IMPLIED SOURCE (gmond) 'gmond'>
<!ELEMENT EXTRA_DATA (EXTRA_ELEMENT*)>
<!ELEMENT EXTRA_ELEMENT EMPTY>
<!ATTLIST EXTRA_ELEMENT NAME CDATA #REQUIRED VAL CDATA #REQUIRED>
<!ELEMENT HOSTS EMPTY>
<!ATTLIST HOSTS UP CDATA #REQUIRED DOWN CDATA #REQUIRED SOURCE (gmond | gmetad) #REQUIRED>
<!ELEMENT METRICS (EXTRA_DATA*)>
<!ATTLIST METRICS NAME CDATA #REQUIRED SUM CDATA #REQUIRED NUM CDATA #REQUIRED
  TYPE ${TYPE} #REQUIRED
  UNITS CDATA #IMPLIED SLOPE ${SLOPE} #IMPLIED SOURCE (gmond) 'gmond'>
]>
<GANGLIA_XML VERSION="3.7.2" SOURCE="gmond">
`;

/** Attributes in Ganglia's order. The values have been made safe, so that nothing is left to escape. */
function attributes(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');
}

/**
 * A METRIC, cut where its value and its TN go. The other texts are the same on every host: gmetad 3.7.2 aborts when it
 * has seen more than 32 different extras of one metric.
 */
const TEMPLATES = METRICS.map((metric: Metric) => {
  const { name, type, units, tmax, slope, group, title, description } = metric;
  const extras = Object.entries({ GROUP: group, DESC: description, TITLE: title })
    .map(([extra, text]) => `<EXTRA_ELEMENT${attributes({ NAME: extra, VAL: text })}/>\n`)
    .join('');
  return {
    metric,
    head: `<METRIC NAME="${name}" VAL="`,
    middle: `"${attributes({ TYPE: type, UNITS: units })} TN="`,
    tail: `"${attributes({ TMAX: tmax, DMAX: 0, SLOPE: slope })}>\n<EXTRA_DATA>\n${extras}</EXTRA_DATA>\n</METRIC>\n`,
  };
});

/** The METRICs of a report that is so many seconds old. What was not measured is left out: it is not 0. */
function metrics(report: Report, previous: Report | undefined, age: number): string {
  const moved = rates(previous, report);
  let out = '';
  for (const { metric, head, middle, tail } of TEMPLATES) {
    const value = metric.value(report, moved);
    const text = typeof value === 'number' ? decimal(value, metric.digits) : safe(value ?? '', 'value');
    if (text) out += head + text + middle + age + tail;
  }
  return out;
}

const seconds = (ns: bigint) => Number(ns / 1_000_000_000n);

/**
 * What is known, and when. While the board is stalled or retired there is no evidence about any node, and every way of
 * saying so in Ganglia's language is wrong somewhere (tried with gmetad 3.7.2):
 *
 *   TN goes on          all hosts go down: the monitor's failure is blamed on the nodes
 *   hosts are left out  they count neither as up nor as down, and the sums of the cluster are recorded as 0
 *   METRICs left out    hosts stay up, but the sums of the cluster are recorded as 0, for good
 *   LOCALTIME stands    gmetad refuses every point, with one line in syslog for each metric of each host and poll
 *   no document         the source is dead: gaps, as it should be, but after 80 s all hosts are shown as down
 *
 * So a host stays as it was at the last heartbeat, with its last readings, and its METRICs' TN say how old these
 * really are; a comment in the document says it too. That harms least for the minutes of a restart. It would be a lie
 * for ever, so it is the caller's part to say it aloud: `xml` by its exit code, a server in its log and, when the stall
 * lasts, by closing its port: a dead source is Ganglia's word for a monitor that has failed.
 */
function evidenceOf({ evidence, stalled, retired }: Snapshot): Evidence {
  return stalled || retired ? { ...evidence, nowNs: evidence.heartbeatNs, retired: false } : evidence;
}

/** TN by what gmetad makes of it: under DOWN the host is up. Uncertain is up: only evidence brings a host down. */
function hostTn(snapshot: Snapshot, node: Node): number {
  const evidence = evidenceOf(snapshot);
  const { last } = node;
  if (last === undefined) return DOWN + Math.floor(snapshot.listenedMs / 1000);
  const age = seconds(ageNs(evidence.nowNs, last.stampNs));
  const state = judge(evidence, last);
  return state === 'silent' || state === 'left' ? DOWN + age : Math.min(age, UP_MOST);
}

function host(snapshot: Snapshot, node: Node, localtime: number): string {
  const tn = hostTn(snapshot, node);
  const { report, previous, ageMs = 0 } = node;
  const open = attributes({
    NAME: safe(node.name, 'name'),
    IP: node.address || UNSPECIFIED,
    TAGS: '',
    // Not the real time of the report: ganglia-web compares it with LOCALTIME where TN is 0.
    REPORTED: localtime - tn,
    TN: tn,
    TMAX,
    // Hosts that pass a DMAX are deleted, and gmetad 3.7.2 dies of that.
    DMAX: 0,
    LOCATION: UNSPECIFIED,
    GMOND_STARTED: (report && wallSeconds(report, report.start_boot_ns)) ?? 0,
  });
  return `<HOST${open}>\n${report === undefined ? '' : metrics(report, previous, Math.floor(ageMs / 1000))}</HOST>\n`;
}

/**
 * The document, a piece for each host. It must be sent to its end: gmetad takes half a document for a whole one. Use it
 * up before the reader's next snapshot, which takes this one's place.
 */
export function* render(snapshot: Snapshot, options: RenderOptions): Generator<string> {
  const localtime = Math.floor(options.localtime);
  const cluster = attributes({
    NAME: safe(options.cluster ?? snapshot.header.cluster_name, 'name'),
    LOCALTIME: localtime,
    OWNER: safe(options.owner || UNSPECIFIED, 'value'),
    LATLONG: safe(options.latlong || UNSPECIFIED, 'value'),
    URL: safe(options.url || UNSPECIFIED, 'value'),
  });
  const failed = snapshot.stalled || snapshot.retired;
  const notice = failed ? '<!-- The monitor has failed: hosts are shown as they last were. -->\n' : '';
  yield `${PROLOGUE}${notice}<CLUSTER${cluster}>\n`;
  for (const node of snapshot.nodes()) yield host(snapshot, node, localtime);
  yield '</CLUSTER>\n</GANGLIA_XML>\n';
}
