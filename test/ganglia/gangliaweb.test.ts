// Debian's ganglia-web shows our data: through a real gmetad, and by asking us in gmetad's place. Its pages are checked
// in a browser, its graphs by their data. Runs in its own network, because gmetad listens on all addresses.
//
// @seconds 25
// @rest
// @days 3

import t, { type Test } from 'tap';
import { CHROMIUM } from '../kit/browser.js';
import { EXPECTED } from '../kit/ganglia.js';
import { chain, GMETAD, missing, RRDTOOL } from '../kit/gmetad.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { until } from '../kit/until.js';
import { GangliaWeb, mended, PACKAGE, PHP, picturesOf, type Shown, sizeOfPng } from './gangliaweb.js';

const skip = missing({
  [GMETAD]: 'gmetad',
  [RRDTOOL]: 'rrdtool',
  [PACKAGE]: 'ganglia-webfrontend',
  [PHP]: 'php-cli php-xml',
  [CHROMIUM]: 'chromium',
});

const value = (metric: string) => Number(EXPECTED[metric]);
const bytes = (metric: string) => 1024 * value(metric);

/** Memory that is not in use. */
const IDLE = ['mem_free', 'mem_cached', 'mem_buffers', 'mem_sreclaimable'];

/** The curves of each report, for a graph of so many hosts together. */
const REPORTS: Record<string, (hosts: number) => Record<string, number>> = {
  load_report: n => ({ '1-min': n * value('load_one'), CPUs: n * value('cpu_num'), Procs: n * value('proc_run') }),
  mem_report: n => ({
    Use: n * (bytes('mem_total') - IDLE.reduce((sum, metric) => sum + bytes(metric), 0)),
    Slab: n * bytes('mem_sreclaimable'),
    Share: n * bytes('mem_shared'),
    Cache: n * bytes('mem_cached'),
    Buffer: n * bytes('mem_buffers'),
    Free: n * bytes('mem_free'),
    Total: n * bytes('mem_total'),
    Swap: n * (bytes('swap_total') - bytes('swap_free')),
  }),
  // A mean over all CPUs, for any number of hosts.
  cpu_report: () => ({
    User: value('cpu_user'),
    Nice: value('cpu_nice'),
    System: value('cpu_system'),
    Wait: value('cpu_wio'),
    Steal: value('cpu_steal'),
    Idle: value('cpu_idle'),
  }),
  network_report: n => ({ In: n * value('bytes_in'), Out: n * value('bytes_out') }),
  packet_report: n => ({ In: n * value('pkts_in'), Out: n * value('pkts_out') }),
};

/** A graph's curves and the newest value of each. */
async function curvesOf(web: GangliaWeb, graph: string): Promise<Record<string, number>> {
  const { body } = await web.fetch(`graph.php?${graph}&json=1`);
  const curves = JSON.parse(body.toString()) as { metric_name: string; datapoints: [number | 'NaN', number][] }[];
  return Object.fromEntries(
    curves.map(({ metric_name, datapoints }) => {
      const drawn = datapoints.map(([drawn]) => drawn).filter(drawn => drawn !== 'NaN');
      return [metric_name.replace(/\\g$/, '').trim(), drawn.at(-1) ?? Number.NaN];
    }),
  );
}

/** Checks the report graphs of a page: that they are pictures, and that they show what was reported. */
async function reports(t: Test, web: GangliaWeb, of: string, hosts: number): Promise<void> {
  for (const [report, drawn] of Object.entries(REPORTS)) {
    const graph = `g=${report}&r=hour&z=large${of}`;
    const { status, type, body } = await web.fetch(`graph.php?${graph}`);
    t.same([status, type], [200, 'image/png'], `${report}${of} is a picture`);
    const [width = 0, height = 0] = sizeOfPng(body) ?? [];
    t.ok(width > 400 && height > 100, `of ${width} by ${height}`);
    let curves: Record<string, number> = {};
    const wanted = Object.entries(drawn(hosts));
    const isDrawn = ([name, value]: [string, number]) => Math.abs((curves[name] ?? Number.NaN) - value) <= 1e-6 * value;
    // After a receiver that did not get its turn, a silent node counts again for some seconds.
    await until(
      'the newest points are those of nodes that report',
      async () => {
        curves = await curvesOf(web, graph);
        return wanted.every(isDrawn);
      },
      1000,
    ).catch(() => undefined);
    for (const [name, value] of wanted)
      t.ok(isDrawn([name, value]), `${report}${of}: ${name} is ${value}: ${curves[name]}`);
  }
}

/** Pictures that have been looked at, but for values and times: both ways draw them of the same files. */
const seen = new Set<string>();

/** Checks a page: it contains these texts, no errors, and every picture is valid. */
async function check(
  t: Test,
  web: GangliaWeb,
  page: string,
  { dom, text, picture }: Shown,
  said: readonly RegExp[],
  graphs: number,
) {
  for (const words of said) t.match(text, words, `${page || 'the grid'} says ${words}`);
  t.notMatch(
    text,
    /Fatal error|Warning ?:|Notice ?:|Deprecated ?:|There was an error|No matching metrics/,
    'and no error',
  );
  const pictures = [...new Set(picturesOf(dom))];
  for (const src of pictures) {
    const what = src.replace(/([?&](v|st)=)[^&]*/g, '$1');
    if (seen.has(what)) continue;
    seen.add(what);
    const { status, type, body } = await web.fetch(src);
    t.ok(status === 200 && type.startsWith('image/') && body.length > 0, `a picture: ${src}`);
    if (type === 'image/png') t.ok(sizeOfPng(body), 'and a whole one');
  }
  const drawn = pictures.filter(src => /(graph|stacked)\.php/.test(src)).length;
  t.ok(drawn >= graphs, `${drawn} graphs, ${graphs} at least`);
  if (picture === undefined) return;
  t.same(sizeOfPng(picture), [1400, 1200], 'the browser has drawn it');
  t.ok(picture.length > 50_000, 'and it is not empty');
}

async function inside(): Promise<void> {
  const { gmetad, server } = await chain(t, 'alpha', ['n1', 'n2', 'n3', 'n4'], ['n4']);
  const pages = mended(t);
  const drawn = (path: string) => gmetad.points(path).filter(sum => sum === 384).length;
  await until('there is something to draw', () => drawn('alpha/__SummaryInfo__/cpu_num') > 1, 500);
  // 3.7.5 divides by this mean, which fails under PHP 8 if it is NaN.
  await until('and a mean', () => !Number.isNaN(gmetad.mean('alpha/__SummaryInfo__/cpu_num')), 500);
  await until('gmetad has added up the grid', async () => (await gmetad.gridHeads()) === '3 up, 1 down', 100);
  for (const [what, port, queryPort, isSeen] of [
    ['by way of gmetad', 18_080, gmetad.queryPort, false],
    // The same pages in a browser, too, as their scripts are the same.
    ['asking us in place of gmetad', 18_081, server.queryPort, true],
  ] as const)
    t.test(what, { buffered: true }, async t => {
      const web = await GangliaWeb.start(t, { pages, port, queryPort, rrds: gmetad.rrds });
      const shows = async (page: string, said: readonly RegExp[], graphs: number) =>
        check(t, web, page, isSeen ? await web.show(t, page) : await web.serve(page), said, graphs);
      const heads = [/Hosts up: 3\b/, /Hosts down: 1\b/, /CPUs Total: \d/];
      await shows(
        '?c=alpha',
        [/alpha Cluster Report/, ...heads, /n4 load_one: down Last heartbeat \d+s ago n1 n2 n3/],
        8,
      );
      const facts = [/Operating System Release 6\.1\.0-25-amd64/, /CPU Count 128 CPUs/, /Memory Total 527360000 KB/];
      const groups = [/cpu metrics \(7\)/, /memory metrics \(\d+\)/, /load_one - One Minute Load Average/];
      await shows('?c=alpha&h=n1', [/This host is up and running/, ...facts, ...groups], 25);
      await shows('?c=alpha&h=n4', [/This host is down/], 0);
      await shows('?p=2&c=alpha&h=n1', [/n1 Node View/i, /12\.34/], 0);
      await reports(t, web, '&c=alpha&h=n1', 1);
      await reports(t, web, '&c=alpha', 3);
      // gmetad records the grid every 15 s, and the first point of an RRD is empty. The page divides by the mean.
      await until('the grid has a point', () => drawn('__SummaryInfo__/cpu_num') > 0, 500);
      await until('and a mean', () => !Number.isNaN(gmetad.mean('__SummaryInfo__/cpu_num')), 500);
      await shows('', [/testgrid Grid Report/, /testgrid Grid \(1 sources\)/, ...heads], 6);
      await reports(t, web, '', 3);
      t.same(web.complaints(), []);
    });
}

t.jobs = 2;
t.setTimeout(600_000);

if (skip) t.pass('skipped', { skip });
else if (INSIDE) await inside();
else inOwnNetwork(t, 'ip link set lo up', import.meta.url);
