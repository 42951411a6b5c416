// Versions beside each other for weeks: senders of 0.1.0, 0.2.0 and this version, in both languages, each with receivers
// of all three, with keys and without; and relays and mirrors of 0.2.0 and this one. Old ones are built from the history
// of the repository, with the packages of their time, for which npm needs its registry. Of boards and of the library:
// test/library/oldversions.long.test.ts.

import { fork, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { follow, must } from '../kit/children.js';
import { compiled } from '../kit/compiling.js';
import { isInHistory, unpackCommit } from '../kit/history.js';
import { isServing, noServers, serve } from '../kit/natsservers.js';
import { freePorts } from '../kit/network.js';
import { boardPath, folder, ROOT, type Teardown } from '../kit/places.js';
import { PROGRAM, runningOf } from '../kit/program.js';
import { until } from '../kit/until.js';

t.setTimeout(3_600_000);

interface Version {
  readonly name: string;
  readonly version: string;
  readonly program: string;
  readonly sender: string;
}

const OLD = [
  ['0.1.0', 'aecc8166'],
  ['0.2.0', '14b11df8'],
] as const;
const lost = OLD.find(([, commit]) => !isInHistory(commit));

/** Builds a version; or takes it from BEOBOARD_OLD/COMMIT, where it was built before. */
function build(name: string, commit: string): Version {
  const kept = process.env.BEOBOARD_OLD;
  const root = kept === undefined ? folder(t) : join(kept, commit);
  if (!existsSync(join(root, 'dist', 'bin', 'beoboard.cjs'))) {
    unpackCommit(commit, root);
    must(process.execPath, ['scripts/build.mjs'], { cwd: root });
  }
  const out = join(folder(t), 'sender');
  must('make', ['-s', '-C', 'c/sender', `OUT=${out}`], { cwd: root });
  return {
    name,
    version: name,
    program: join(root, 'dist', 'bin', 'beoboard.cjs'),
    sender: join(out, 'beoboard-send'),
  };
}

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const ours: Version = {
  name: 'this version',
  version,
  program: PROGRAM,
  sender: compiled(t, 'sender', 'beoboard-send'),
};

/** Starts a verb of a version; resolves when it is ready. */
async function start(t: Teardown, { program }: Version, ...argv: string[]) {
  const child = fork(program, argv, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const running = runningOf(t, child, argv);
  const { listening } = await running.ready;
  return {
    port: Number(listening?.[0]?.split(':').at(-1)),
    end() {
      child.kill();
      return running.exit;
    },
  };
}

interface Status {
  readonly nodes: readonly {
    readonly name: string;
    readonly state: string;
    readonly report: Record<string, unknown>;
  }[];
}

/** What a version's `status` says of a board; undefined while it says nothing. */
function status({ program }: Version, board: string): Status | undefined {
  const { stdout } = spawnSync(process.execPath, [program, 'status', '--json', '--board', board], { encoding: 'utf8' });
  return stdout === '' ? undefined : (JSON.parse(stdout) as Status);
}

const stateOf = (found: Status | undefined) => found?.nodes[0]?.state;

if (lost !== undefined) t.pass('old versions', { skip: `the history is not here: ${lost[1]}` });
else {
  const at = folder(t);
  const key = join(at, 'cluster.key');
  must(process.execPath, [PROGRAM, 'keygen', key]);
  const old = OLD.map(([name, commit]) => build(name, commit));
  const all = [...old, ours];

  for (const receiver of all)
    for (const sender of all)
      for (const keys of [[], ['--key-file', key]])
        for (const language of ['TypeScript', 'C'] as const) {
          const what = `${sender.name} in ${language} reports to ${receiver.name}${keys.length > 0 ? ' with a key' : ''}`;
          t.test(what, async t => {
            const board = boardPath(t);
            const receiving = await start(t, receiver, 'receive', '--board', board, '--listen', '127.0.0.1:0', ...keys);
            const argv = ['--to', `127.0.0.1:${receiving.port}`, '--name', 'n1', '--interval', '200ms', ...keys];
            const [program, ...args] =
              language === 'C' ? [sender.sender, ...argv] : [process.execPath, sender.program, 'send', ...argv];
            const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
            const said = follow(child, t);
            const live = await until('it is live, with several reports', () => {
              if (child.exitCode !== null) throw new Error(said.stderr);
              const found = status(receiver, board);
              return stateOf(found) === 'live' && Number(found?.nodes[0]?.report.seq) >= 3 && found;
            });
            t.equal(live.nodes.length, 1);
            const { report } = live.nodes[0] as Status['nodes'][0];
            t.ok(Number(report.cpus_online) > 0 && Number(report.mem_total_mib) > 0, 'its facts');
            const [major = 0, minor = 0, patch = 0] = sender.version.split('.').map(Number);
            t.equal(report.agent_version, (major << 16) | (minor << 8) | patch, 'and its version');
            const here = status(ours, board);
            t.equal(stateOf(here), 'live', "this version's status says the same");
            child.kill();
            t.equal(await said.exit, 0, said.stderr);
            await until('it has said goodbye', () => stateOf(status(receiver, board)) === 'left');
            t.equal(await receiving.end(), 0);
          });
        }

  const skip = noServers();
  const [, before] = old as [Version, Version];
  for (const [relay, mirror] of [
    [before, ours],
    [ours, before],
  ] as const)
    t.test(`a mirror of ${mirror.name} beside a master of ${relay.name}`, { skip }, async t => {
      const [port = 0] = await freePorts(1);
      await isServing(serve(t, at, `one-${port}`, port, `listen: "127.0.0.1:${port}"\n`));
      const relayKey = join(at, `relay-${port}.key`);
      must(process.execPath, [relay.program, 'keygen', '--relay', relayKey]);
      const [source, copy] = [boardPath(t), boardPath(t)];
      const receiving = await start(
        t,
        relay,
        'receive',
        '--board',
        source,
        '--listen',
        '127.0.0.1:0',
        '--cluster',
        'alpha',
      );
      const nats = ['--nats', `nats://127.0.0.1:${port}`, '--site', 'home'];
      await start(t, mirror, 'mirror', '--board', copy, ...nats, '--cluster', 'alpha', '--trust', `m1=${relayKey}.pub`);
      await start(t, relay, 'relay', '--board', source, ...nats, '--master', 'm1', '--key-file', relayKey);
      const argv = ['--to', `127.0.0.1:${receiving.port}`, '--size', '20', '--cluster', 'alpha', '--interval', '300ms'];
      const loading = fork(relay.program, ['load', ...argv], { stdio: 'ignore' });
      t.teardown(() => loading.kill());
      const live = (version: Version, board: string) =>
        status(version, board)?.nodes.filter(({ state }) => state === 'live').length;
      await until('the mirror is whole', () => live(mirror, copy) === 20);
      t.equal(live(ours, copy), 20, "this version's status says the same");
      const [a, b] = [source, copy].map(board =>
        status(ours, board)?.nodes.map(({ name, report }) => [name, report.cpus_online]),
      );
      t.same(b, a, 'and shows what its master shows');
    });
}
