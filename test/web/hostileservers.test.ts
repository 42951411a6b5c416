// Texts of others, of whatever characters, in what the built servers, the journal and logs tell: it is UTF-8, parses and
// has its schema; the texts come back equal, or as the one replacement of that output; what is shown in a browser or a
// terminal has no character that it would obey.
//
// @seconds 25
// @waits
// @rest
// @days 3

import { createSocket } from 'node:dgram';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { parseJobsLine, parseLine } from '../../src/journalfile/format.js';
import { bits } from '../../src/layout/layout.gen.js';
import { openWriter } from '../../src/shm/writer.js';
import { NO_BROWSER } from '../kit/browser.js';
import { clean, parse as parseXml } from '../kit/ganglia.js';
import { keepAlive } from '../kit/heart.js';
import { HOSTILE, hostileScheduler, keptOf, nodes, osReleaseOf, UNSEEN, withoutEnds } from '../kit/hostiletexts.js';
import { boardPath, folder } from '../kit/places.js';
import { type Running, start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { objections } from '../kit/schemacheck.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import { todayOf } from '../kit/whole.js';
import { parse as parseMetrics } from '../prometheus/expositionparser.js';
import { holds, look } from './browsing.js';
import { ask } from './webclient.js';

const run = verbRun(t);

/** As terminals, XML and the page have it. */
const shown = (text: string) =>
  text.replace(new RegExp(UNSEEN, 'gu'), character => `\\u{${character.codePointAt(0)?.toString(16)}}`);
/** Without the bytes of a character that was cut. */
const withoutHalves = (text: string) => text.replace(/\ufffd+$/, '');
/** As XML has it: gmetad gets printable ASCII without markup. */
const inXml = (text: string) => [...text].map(one => (/(?![&<>"'])[ -~]/.test(one) ? one : '_')).join('');
const utf8 = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

const valid = Object.values<number>(bits.valid).reduce((all, bit) => all | (1n << BigInt(bit)), 0n);
const board = boardPath(t);
const slurmDir = folder(t);
const AT = ['--board', board];
const JOBS = [...AT, '--slurm-dir', slurmDir];
const started: Running[] = [];
/** Starts a daemon, whose log is looked at in the end. */
async function serve(...argv: string[]): Promise<string> {
  const running = start(t, argv);
  started.push(running);
  return (await running.ready).listening?.[0] ?? '';
}

let isReporting = true;
t.before(async () => {
  const receiver = await startReceiver(t, board, ['--uncertain-after', '2s', '--silent-after', '4s']);
  started.push(receiver);
  const socket = createSocket('udp4');
  let seq = 0;
  const report = () => {
    seq++;
    for (const [i, hostname] of [...nodes, 'm1'].entries()) {
      if (!isReporting && hostname !== 'm1') continue;
      const os_release = osReleaseOf(HOSTILE[i] ?? '');
      const times = { seq, t_boot_ns: 100_000_000_000n + BigInt(seq) * 200_000_000n, interval_ms: 200 };
      const flags = 1 << bits.flags.root_readonly;
      socket.send(makeReport({ valid, flags, hostname, os_release, boot_id: BigInt(i + 1), ...times }), receiver.port);
    }
  };
  const timer = setInterval(report, 200);
  t.teardown(() => {
    clearInterval(timer);
    socket.close();
  });
  await hostileScheduler(t, board, slurmDir, 10);
});

/** Texts that are acknowledgements' reasons, if they can be words of a command line. */
const SAID = HOSTILE.filter(text => !text.includes('\0') && text.length < 1000 && !/[\ud800-\udfff]/u.test(text));

t.test('the API', async t => {
  const url = `http://${await serve('web', '--listen', '127.0.0.1:0', '--show-jobs', ...JOBS)}/api/v1/`;
  type Paths = Record<string, { get: { responses: Record<string, { content: Record<string, { schema: object }> }> } }>;
  const document = (await ask(`${url}openapi.json`)).json() as { paths: Paths };
  const jobs = async () => (await ask(`${url}jobs`)).json() as { jobs?: { id: string; user: string; name: string }[] };
  await until('jobs are told', async () => (await jobs()).jobs?.length === HOSTILE.length + 10);
  const byId = new Map((await jobs()).jobs?.map(job => [job.id, job] as const));
  for (const [i, text] of HOSTILE.entries())
    t.match(byId.get(`x"${i}\\,`), { user: keptOf(text), name: keptOf(text), partition: keptOf(text) }, `text ${i}`);
  for (const [path, ...words] of [
    ...['nodes', 'events', 'jobs', 'users', 'odd', 'readings', 'openapi.json', 'river'].map(path => [path]),
    ['nodes?fields=os_release,name'],
    ...HOSTILE.map((_, i) => [`jobs/${encodeURIComponent(`x"${i}\\,`)}`, '/jobs/{id}']),
    ...HOSTILE.map(text => [`jobs/${encodeURIComponent(Buffer.from(text).toString().slice(0, 90))}`, '/jobs/{id}']),
    ...nodes.map(name => [`nodes/${name}`, '/nodes/{name}']),
    ...['nodes', 'events', 'stream'].flatMap(path =>
      HOSTILE.map(text => [`${path}?where=${encodeURIComponent(Buffer.from(text).toString().slice(0, 300))}`]),
    ),
  ] as string[][]) {
    const { status, headers, body } = await ask(`${url}${path}`, { accept: 'application/json' });
    const type = String(headers['content-type']).replace(/;.*/, '');
    if (type === 'application/octet-stream') continue;
    const text = utf8(body);
    t.notMatch(withoutEnds(text), UNSEEN, `${path}: nothing that a terminal would obey`);
    const known = words[0] ?? `/${path?.replace(/\?.*/, '')}`;
    const schema = document.paths[known]?.get.responses[status]?.content[type]?.schema;
    const value = type === 'application/json' ? JSON.parse(text) : text;
    if (schema === undefined) t.ok(status < 500, `${path}: ${status} ${type}`);
    else t.same(objections(document, schema as Record<string, unknown>, value), [], `${path}`);
  }
});

t.test('metrics, XML and what Supermon asks', async t => {
  const metrics = await serve('prometheus', '--listen', '127.0.0.1:0', '--node-metrics', ...JOBS);
  for (const path of ['metrics', 'node-metrics', 'metrics?collect[]=system']) {
    const { body } = await ask(`http://${metrics}/${path}`);
    utf8(body);
    const info = parseMetrics(body, 'text').get('beoboard_node_info');
    t.equal(info !== undefined, path.includes('system'));
    const releases = new Map(info?.series.map(({ labels }) => [labels.node, withoutHalves(labels.os_release ?? '')]));
    for (const [i, text] of info === undefined ? [] : HOSTILE.entries())
      t.equal(releases.get(nodes[i] as string), withoutHalves(osReleaseOf(text)), `text ${i} of a node`);
  }
  for (const path of ['', 'sd']) t.notMatch(withoutEnds(utf8((await ask(`http://${metrics}/${path}`)).body)), UNSEEN);
  const xml = await serve('ganglia', '--listen', '127.0.0.1:0', ...AT);
  const document = utf8(await buffer(connect(Number(xml.split(':').at(-1)), '127.0.0.1')));
  t.equal(clean(document), undefined);
  const { hosts } = parseXml(document);
  t.equal(Object.keys(hosts).length, HOSTILE.length + 1);
  for (const [i, text] of HOSTILE.entries()) {
    const release = hosts[nodes[i] as string]?.metrics.os_release?.VAL ?? '';
    t.equal(release.replace(/_*$/, ''), inXml(osReleaseOf(text)).replace(/_*$/, ''), `text ${i} of a node in XML`);
  }
  const supermon = await serve('supermon', '--listen', '127.0.0.1:0', ...AT);
  const asked = connect(Number(supermon.split(':').at(-1)), '127.0.0.1');
  asked.end('#\nS\n');
  t.notMatch(withoutEnds(utf8(await buffer(asked))), UNSEEN);
});

/** Waits until the page has a text, and returns all that it shows and says of itself. */
async function textOf(t: Test, page: Awaited<ReturnType<typeof look>>['page'], what: string): Promise<string> {
  await holds(page, `document.body.innerText.includes(${JSON.stringify(what)})`);
  const text =
    await page.evaluate<string>(`[document.title, document.body.innerText, ...[...document.querySelectorAll('*')]
    .flatMap(one => [...one.attributes].map(({ value }) => value))].join(' ')`);
  t.notMatch(withoutEnds(text), UNSEEN, `${what}: nothing that turns or hides what stands beside it`);
  return text;
}

t.test('the page in a browser', { skip: NO_BROWSER ?? false }, async t => {
  const url = `http://${await serve('web', '--listen', '127.0.0.1:0', '--show-jobs', ...JOBS)}/`;
  const { page, complaints } = await look(t, url);
  await holds(page, `document.querySelectorAll('#jobs tbody tr').length > 1`);
  await textOf(t, page, shown('user\u202Etxt.exe\u2066'));
  for (const i of HOSTILE.keys())
    for (const asked of [nodes[i] as string, `x"${i}\\,`]) {
      await page.keyboard.press('/');
      await page.fill('#asked', asked);
      await page.keyboard.press('Enter');
      await textOf(t, page, i < 12 ? shown(HOSTILE[i] as string).slice(0, 12) : asked);
      await page.keyboard.press('Escape');
    }
  t.equal(await page.evaluate("document.querySelectorAll('b[a]').length"), 0, 'no text is markup');
  t.same(complaints, []);
});

t.test('the journal, its events and its jobs', async t => {
  const [path, running] = [folder(t), folder(t)];
  const at = ['--journal-dir', path, '--journal-run', running];
  await serve('journal', ...JOBS, ...at);
  const lines = (kind: string) =>
    readdirSync(path)
      .filter(name => name.startsWith(kind))
      .flatMap(name =>
        utf8(readFileSync(join(path, name)))
          .split('\n')
          .slice(0, -1),
      );
  for (const [i, reason] of todayOf([...SAID.entries()], 3)) {
    const { code, stderr } = await run(['ack', 'root_readonly', '--until', '+1h', '--reason', reason, ...JOBS]);
    t.notMatch(withoutEnds(stderr), UNSEEN);
    if (code === 2) t.match(stderr, /^beoboard ack: /, `${i}: it is refused in a sentence`);
    else
      await until(`reason ${i} is written`, () => lines('events').some(line => parseLine(line)?.why === shown(reason)));
  }
  isReporting = false;
  await until('all silences are written', () => {
    const silent = lines('events')
      .flatMap(line => parseLine(line) ?? [])
      .filter(({ event }) => event === 'silent');
    return silent.reduce((sum, { count = 0 }) => sum + count, 0) >= HOSTILE.length;
  });
  const all = [...lines('events'), ...lines('jobs')];
  for (const line of all) t.notMatch(line, UNSEEN);
  t.ok(lines('events').every(line => parseLine(line) !== undefined));
  // On a busy machine one may have fallen silent twice by then, and another not yet.
  const jobOf = (i: number) =>
    lines('jobs')
      .flatMap(line => parseJobsLine(line)?.jobs ?? [])
      .find(({ id }) => id === `x"${i}\\,`);
  for (const [i, text] of HOSTILE.entries()) {
    const job = await until(`job ${i} is written`, () => jobOf(i));
    t.match(job, { user: keptOf(text), name: keptOf(text) }, `text ${i}`);
  }
  for (const locale of ['C.UTF-8', 'POSIX'])
    for (const more of [[], ['--json'], ['--last-end'], ['--last-end', '--json']]) {
      const { code, stdout, stderr } = await run(['events', '--journal-dir', path, '--since', '1h ago', ...more], {
        LC_ALL: locale,
      });
      t.equal(code, 0, stderr);
      t.notMatch(withoutEnds(stdout), locale === 'POSIX' ? /[^ -~]/ : UNSEEN, `events ${more.join(' ')} ${locale}`);
      if (more.includes('--json'))
        t.match(
          stdout
            .split('\n')
            .slice(0, -1)
            .flatMap(line => JSON.parse(line).jobs ?? []).length >= HOSTILE.length,
          true,
        );
    }
});

t.test('the name of a cluster', async t => {
  const key = join(folder(t), 'key');
  t.equal((await run(['keygen', '--relay', key])).code, 0);
  for (const [i, text] of todayOf([...HOSTILE.entries()], 2)) {
    const path = boardPath(t);
    const settings = { uncertainAfter: 60_000, silentAfter: 120_000, nodes: ['n1'] };
    const writer = openWriter({ path, cluster: text, capacity: 8, ...settings });
    t.teardown(() => writer.close());
    keepAlive(t, path);
    // Up to a NUL, and as many bytes as a name has.
    const name = Buffer.from(text.split('\0')[0] ?? '')
      .subarray(0, 63)
      .toString();
    const said = (...argv: string[]) => run([...argv, '--board', path]);
    t.equal(JSON.parse((await said('status', '--json')).stdout).board.cluster, name, `${i}: JSON`);
    t.notMatch(withoutEnds((await said('status')).stdout), UNSEEN, `${i}: a terminal`);
    const up = parseMetrics(Buffer.from((await said('metrics')).stdout), 'text').get('beoboard_board_up');
    t.equal(up?.series[0]?.labels.cluster, name, `${i}: metrics`);
    const asName = [...name].map(one => (/[\w.-]/.test(one) ? one : '_')).join('');
    const document = (await said('xml')).stdout;
    t.equal(parseXml(document).cluster.NAME, asName.replace(/^[^a-z0-9]+/i, '') || 'unspecified', `${i}: XML`);
    const relay = ['relay', '--nats', 'nats://127.0.0.1:1', '--site', 'home', '--master', 'm1', '--key-file', key];
    // Any other is no part of a subject.
    if (/^[a-z0-9_-]+$/.test(name)) continue;
    const { code, stdout, stderr } = await said(...relay);
    t.match([code, stderr], [1, /^beoboard relay: .* is not a name for a subject; .*\n$/], `${i}: a subject`);
    t.notMatch(withoutEnds(stdout + stderr), UNSEEN);
  }
});

t.test('logs', async t => {
  for (const { output } of started) {
    const { stdout, stderr } = output();
    t.notMatch(withoutEnds(stdout + stderr), UNSEEN);
    t.notMatch(stdout + stderr, '\ufffd');
  }
});
