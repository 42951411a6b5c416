// The table of faults. Each fault is inflicted and removed; after that everything must recover by itself. Meanwhile the
// promises are checked all the time, see scene.ts.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { goOn, MS, now, pass, S, stop } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { FAIR, type Weather } from './path.js';
import { makeSummed } from './report.js';
import { Broken, LINE, OTHER, type Scene, SENDER_NAME, type Watcher } from './scene.js';

/** A random generator with a seed: chance() is from 0 to 1. */
type Chance = () => number;

export interface Fault {
  name: string;
  /** What must hold besides the usual promises, in words for the report. */
  promise?: string;
  /** Inflicts the fault, and removes it again. */
  inflict(scene: Scene, chance: Chance): Promise<void>;
}

const between = (chance: Chance, least: number, most: number) => least + chance() * (most - least);
const oneOf = <T>(chance: Chance, of: readonly T[]) => of[Math.floor(chance() * of.length)] as T;

// ---- the path ----

/** A fault of the path: this weather for some time. */
function weather(name: string, promise: string, make: (chance: Chance) => Partial<Weather>): Fault {
  return {
    name,
    promise,
    async inflict(scene, chance) {
      scene.mayLose();
      scene.path.turn({ ...FAIR, ...make(chance) }, Math.floor(chance() * 2 ** 32));
      await scene.lasts(chance, 0.8, 2);
      scene.path.turn(FAIR, 0);
    },
  };
}

const EXACT = 'every node counts what truly became of its reports, exactly';

const path: Fault[] = [
  weather('loss on the path', EXACT, chance => ({ loss: between(chance, 0.1, 0.6) })),
  weather('duplication', EXACT, chance => ({ duplicate: between(chance, 0.2, 1) })),
  weather('reordering', EXACT, chance => ({ swap: between(chance, 0.1, 0.5) })),
  weather('delay', EXACT, chance => ({ delayMs: between(chance, 100, 500) })),
  weather('truncation of datagrams', EXACT, chance => ({ cut: between(chance, 0.1, 0.5) })),
  weather('junk between the reports', EXACT, chance => ({ junk: between(chance, 0.2, 1) })),
  weather('loss, duplication, reordering, delay, truncation and junk at once', EXACT, chance => ({
    loss: 0.1,
    duplicate: 0.2,
    swap: 0.2,
    cut: 0.1,
    junk: 0.3,
    delayMs: between(chance, 100, 400),
  })),
  {
    name: 'some nodes are not heard at all',
    promise: 'they are silent, and no other is',
    async inflict(scene, chance) {
      const all = scene.nodes.map(({ name }) => name);
      const only = new Set(all.filter(() => chance() < 0.3).concat(oneOf(chance, all)));
      scene.mayLose();
      scene.path.turn({ ...FAIR, loss: 1, only }, 0);
      const looks = () =>
        scene.watchers.every(({ last }) => [...only].every(name => last?.look?.nodes.get(name)?.state === 'silent'));
      await until('they are silent', () => {
        scene.check();
        return looks();
      });
      scene.path.turn(FAIR, 0);
    },
  },
  {
    name: 'a burst beyond the socket buffer',
    promise: 'what was not received is counted as dropped',
    async inflict(scene, chance) {
      scene.mayLose();
      const stopped = await stop(scene.receiver.child);
      scene.path.overfill();
      const each = between(chance, 50, 150);
      for (let i = 0; i < each; i++) for (const node of scene.nodes) node.send();
      await scene.lasts(chance, 0.1, 1.5);
      goOn(stopped);
      await scene.beats(200);
      scene.path.hear();
    },
  },
  {
    name: "the receiver's interface removed, and made again",
    promise: 'its group is joined again; nobody is called silent meanwhile',
    async inflict(scene, chance) {
      scene.mayLose();
      scene.path.deafen(now() - 100 * MS);
      scene.removeLine();
      await scene.lasts(chance, 0.2, 3);
      scene.makeLine();
      await scene.isHeard();
    },
  },
  ...Object.entries(LINE).map(
    ([side, end]): Fault => ({
      name: `the ${side}'s interface down and up`,
      async inflict(scene, chance) {
        scene.mayLose();
        scene.path.deafen(now() - 100 * MS);
        scene.line(end, 'down');
        await scene.lasts(chance, 0.2, 2.5);
        scene.line(end, 'up');
        await scene.isHeard();
      },
    }),
  ),
];

// ---- links ----

/** Waits until all readers show that each node was heard by this line. */
async function areHeardBy(scene: Scene, line: Parameters<Scene['linkNumber']>[0]): Promise<void> {
  await until('all nodes are heard by that line', () => {
    scene.check();
    const number = scene.linkNumber(line);
    return number !== undefined && [...scene.path.truths.keys()].every(name => scene.linkOf(name) === number);
  });
}

const links: Fault[] = [
  {
    name: 'the line is down for longer than it takes to be silent',
    promise: 'nobody is called silent',
    async inflict(scene, chance) {
      scene.mayLose();
      scene.blamesNobody();
      scene.path.deafen(now() - 100 * MS);
      scene.line(oneOf(chance, Object.values(LINE)), 'down');
      // Always longer than both limits, even if faults are shortened.
      await pass(now() + between(chance, 2.6, 4) * S);
      scene.check();
      for (const end of Object.values(LINE)) scene.line(end, 'up');
      await scene.isHeard();
    },
  },
  {
    name: 'the line goes down and up, again and again',
    promise: 'nobody is called silent',
    async inflict(scene, chance) {
      scene.mayLose();
      scene.blamesNobody();
      scene.path.deafen(now() - 100 * MS);
      for (let i = 0; i < 12; i++) {
        const end = oneOf(chance, Object.values(LINE));
        scene.line(end, 'down');
        await pass(now() + chance() * 0.2 * S);
        scene.line(end, 'up');
        await pass(now() + chance() * 0.2 * S);
        scene.check();
      }
      await scene.isHeard();
    },
  },
  {
    name: 'all nodes go over to another line, and theirs goes down',
    promise: 'they are live all the time, and nothing is lost',
    async inflict(scene, chance) {
      scene.blamesNobody();
      scene.path.turn({ ...FAIR, away: 1 }, 0);
      await areHeardBy(scene, OTHER);
      scene.line(oneOf(chance, Object.values(LINE)), 'down');
      await scene.lasts(chance, 0.2, 4);
      for (const end of Object.values(LINE)) scene.line(end, 'up');
      await scene.beats(100);
      scene.path.turn(FAIR, 0);
      await areHeardBy(scene, LINE);
    },
  },
  {
    name: 'reports come now by one line, now by another, which goes down',
    promise: 'they are live all the time, and nothing is lost',
    async inflict(scene, chance) {
      scene.blamesNobody();
      scene.path.turn({ ...FAIR, away: 0.5 }, Math.floor(chance() * 2 ** 32));
      await scene.lasts(chance, 0.5, 2);
      scene.path.turn(FAIR, 0);
      // Now the last report of some nodes came by the line that goes down next.
      await scene.beats(50);
      scene.line(oneOf(chance, Object.values(OTHER)), 'down');
      await scene.lasts(chance, 0.2, 3);
      for (const end of Object.values(OTHER)) scene.line(end, 'up');
    },
  },
  {
    name: 'somebody reports in the name of a node by another line, which goes down',
    promise: 'he is refused, and the node stays live, and of its own line',
    async inflict(scene, chance) {
      scene.blamesNobody();
      const node = oneOf(chance, scene.nodes);
      const isOwn = () => {
        scene.check();
        const number = scene.linkNumber(LINE);
        return number !== undefined && scene.linkOf(node.name) === number;
      };
      await until('the node is of its own line', isOwn);
      for (let seq = 0; seq < 10; seq++) {
        // Right after the node's own report, which a busy machine may take from its socket later than the other: while the
        // node is live, the other sender is a rival.
        node.send();
        await until('its own report is heard', () => scene.hasLast(node));
        scene.path.stray(
          node.name,
          makeSummed({ hostname: node.name, seq, interval_ms: 200, boot_id: 99n, t_boot_ns: BigInt(seq + 1) }),
        );
        await pass(now() + 0.05 * S);
        if (!isOwn()) throw new Broken(`${node.name} is of the line by which somebody else reports in its name`);
      }
      scene.line(OTHER.receiver, 'down');
      await scene.lasts(chance, 0.2, 3);
      scene.line(OTHER.receiver, 'up');
    },
  },
  {
    name: 'datagrams with wrong checksums, while some nodes are not heard',
    promise: 'these are silent, and no other is; what was wrong is counted apart from what had no room',
    async inflict(scene, chance) {
      const all = scene.nodes.map(({ name }) => name);
      const only = new Set(all.filter(() => chance() < 0.3).concat(oneOf(chance, all)));
      scene.mayLose();
      const before = scene.drops;
      const end = await scene.badChecksums(Math.round(between(chance, 500, 20_000)));
      scene.path.turn({ ...FAIR, loss: 1, only }, 0);
      await until('they are silent', () => {
        scene.check();
        return scene.watchers.every(({ last }) =>
          all.every(name => (last?.look?.nodes.get(name)?.state === 'silent') === only.has(name)),
        );
      });
      scene.path.turn(FAIR, 0);
      const sent = await end();
      await scene.beats(300);
      const { room, unfit } = scene.drops;
      if (room !== before.room) throw new Broken(`${room - before.room} datagrams were dropped for want of room`);
      if (unfit === before.unfit || unfit - before.unfit > sent)
        throw new Broken(`of ${sent} datagrams with wrong checksums ${unfit - before.unfit} were counted`);
    },
  },
];

// ---- processes ----

/** Stops a process for some time. */
async function standStill(
  scene: Scene,
  child: Parameters<typeof stop>[0],
  chance: Chance,
  least: number,
  most: number,
): Promise<void> {
  const stopped = await stop(child);
  await scene.lasts(chance, least, most);
  goOn(stopped);
}

const reader = (scene: Scene, chance: Chance): Watcher => oneOf(chance, scene.watchers);

const processes: Fault[] = [
  {
    name: 'kill -9 of the receiver, and a new start',
    promise: 'what nobody heard is unheard, not lost',
    async inflict(scene) {
      await scene.endReceiver('SIGKILL');
      await scene.reviveReceiver();
    },
  },
  {
    name: 'kill -9 of the receiver, and a new start later',
    promise: 'no reader blames a node meanwhile, or once it is back',
    async inflict(scene, chance) {
      scene.blamesNobody();
      await scene.endReceiver('SIGKILL');
      // Longer than both limits: a receiver that believed it had listened meanwhile would call all nodes silent.
      await pass(now() + between(chance, 2.4, 4) * S);
      scene.check();
      await scene.reviveReceiver();
    },
  },
  {
    name: 'the receiver was shut down cleanly and started again',
    promise: 'what nobody heard is unheard, not lost',
    async inflict(scene, chance) {
      await scene.endReceiver('SIGTERM');
      await scene.lasts(chance, 0, 1);
      await scene.reviveReceiver();
    },
  },
  {
    name: 'the receiver stands still for up to a second',
    promise: 'nothing is lost',
    inflict: (scene, chance) => standStill(scene, scene.receiver.child, chance, 0.1, 0.9),
  },
  {
    name: 'the receiver stands still for seconds',
    promise: 'nothing is lost, and no node is blamed',
    inflict: (scene, chance) => standStill(scene, scene.receiver.child, chance, 1.2, 4),
  },
  {
    name: 'kill -9 of a reader',
    async inflict(scene, chance) {
      await reader(scene, chance).kill();
    },
  },
  {
    name: 'a reader stands still',
    promise: 'what it shows then is true then',
    inflict: (scene, chance) => standStill(scene, reader(scene, chance).child, chance, 0.2, 4),
  },
  {
    name: 'kill -9 of a sender, and a new start',
    async inflict(scene, chance) {
      scene.sender.child.kill('SIGKILL');
      await scene.sender.exit;
      await scene.lasts(chance, 0, 1);
      await scene.startSender();
    },
  },
  {
    name: 'a sender was shut down cleanly and started again',
    promise: 'it has left meanwhile',
    async inflict(scene) {
      scene.sender.child.kill('SIGTERM');
      await scene.sender.exit;
      await scene.isSeen(SENDER_NAME, 'left');
      await scene.startSender();
    },
  },
  { name: 'a sender stands still', inflict: (scene, chance) => standStill(scene, scene.sender.child, chance, 0.2, 2) },
];

// ---- the board's file ----

/** Long enough for the receiver to check the path of its board, which it does once a second. */
const A_LOOK_MS = 1500;

const board: Fault[] = [
  {
    name: 'the board is deleted',
    promise: 'who reads it goes on reading',
    async inflict(scene) {
      rmSync(scene.board);
    },
  },
  {
    name: 'the board is deleted, and the receiver killed',
    async inflict(scene) {
      scene.mayMiss();
      rmSync(scene.board);
      await scene.endReceiver('SIGKILL');
      scene.forgetBoard();
      await scene.reviveReceiver();
    },
  },
  {
    name: 'its directory is deleted, with everything in it',
    promise: 'who reads it goes on reading',
    async inflict(scene) {
      rmSync(dirname(scene.board), { recursive: true });
    },
  },
  {
    name: 'its directory is moved away',
    async inflict(scene) {
      renameSync(dirname(scene.board), `${dirname(scene.board)}.away`);
      await until('it is there again', () => existsSync(scene.board));
      rmSync(`${dirname(scene.board)}.away`, { recursive: true });
    },
  },
  ...Object.entries({ 'to nothing': 0, 'within its records': 0.1, 'behind them': 0.7 }).map(
    ([where, share]): Fault => ({
      name: `the board is cut ${where}`,
      promise: 'the receiver, or a reader that looks at that moment, may end by SIGBUS, and is started again',
      async inflict(scene) {
        scene.mayMiss();
        truncateSync(scene.board, Math.floor(share * statSync(scene.board).size));
        await scene.outlive();
      },
    }),
  ),
  ...[0o000, 0o600, 0o666].map(
    (mode): Fault => ({
      name: `chmod ${mode.toString(8).padStart(3, '0')} of the board`,
      promise: 'who reads it goes on reading, and who comes anew can again',
      async inflict(scene, chance) {
        chmodSync(scene.board, mode);
        await reader(scene, chance).kill();
      },
    }),
  ),
  {
    name: 'a directory lies in place of the board',
    promise: 'who reads it goes on reading',
    async inflict(scene) {
      rmSync(scene.board);
      mkdirSync(join(scene.board, 'in it'), { recursive: true });
      await scene.beats(A_LOOK_MS);
      rmSync(scene.board, { recursive: true });
    },
  },
  {
    name: 'a directory lies in place of the board, and the receiver is killed',
    promise: 'none starts until it is gone',
    async inflict(scene) {
      scene.mayMiss();
      rmSync(scene.board);
      mkdirSync(scene.board);
      await scene.endReceiver('SIGKILL');
      scene.forgetBoard();
      await scene.cannotStart(/board: is a directory, not a board; remove it/);
      rmSync(scene.board, { recursive: true });
      await scene.reviveReceiver();
    },
  },
  {
    name: 'a FIFO lies in place of the board',
    promise: 'who reads it goes on reading, and nobody waits at the FIFO',
    async inflict(scene) {
      rmSync(scene.board);
      execFileSync('mkfifo', [scene.board]);
    },
  },
  {
    name: 'a FIFO lies in place of the board, and the receiver is killed',
    promise: 'none starts until it is gone',
    async inflict(scene) {
      scene.mayMiss();
      await scene.endReceiver('SIGKILL');
      rmSync(scene.board);
      execFileSync('mkfifo', [scene.board]);
      scene.forgetBoard();
      await scene.cannotStart(/board: is not a board; choose another/);
      rmSync(scene.board);
      await scene.reviveReceiver();
    },
  },
  {
    name: 'a link lies in place of the board',
    async inflict(scene) {
      rmSync(scene.board);
      symlinkSync('/etc/passwd', scene.board);
    },
  },
  {
    name: 'the lock is deleted',
    promise: 'no second receiver can take the board for long',
    async inflict(scene) {
      rmSync(`${scene.board}.lock`);
      await until('there is a lock again', () => existsSync(`${scene.board}.lock`));
      await scene.cannotStart(/another receiver/);
    },
  },
  {
    name: 'the lock is deleted, and another receiver comes at once',
    promise: 'it is refused',
    async inflict(scene) {
      rmSync(`${scene.board}.lock`);
      await scene.cannotStart(/another receiver/);
      await until('there is a lock again', () => existsSync(`${scene.board}.lock`));
    },
  },
  {
    name: 'the receiver is killed, and the lock is deleted',
    promise: 'the next one goes on with a copy of the board',
    async inflict(scene) {
      scene.mayMiss();
      await scene.endReceiver('SIGKILL');
      rmSync(`${scene.board}.lock`);
      await scene.reviveReceiver();
    },
  },
  {
    name: 'the control socket is deleted',
    promise: 'nodes can be forgotten again',
    async inflict(scene, chance) {
      const socket = `${scene.board}.ctl`;
      const isThere = () => existsSync(socket);
      // The fault before may have been that its folder was deleted: the board comes back first.
      await until('there is a socket', isThere);
      rmSync(socket);
      await until('there is a socket again', isThere);
      await scene.forgetNode(oneOf(chance, scene.nodes).name);
    },
  },
  {
    name: 'a node is forgotten, and reports again',
    async inflict(scene, chance) {
      await scene.forgetNode(oneOf(chance, scene.nodes).name);
    },
  },
];

// ---- memory, descriptors, clocks ----

/** Fills the file system of the board to its last byte; the returned function empties it again. */
function fill(scene: Scene): () => void {
  const path = join(scene.shm, 'filling');
  for (let size = 1 << 20; size >= 1; )
    try {
      writeFileSync(path, new Uint8Array(size), { flag: 'a' });
    } catch {
      size >>= 1;
    }
  return () => rmSync(path);
}

/**
 * Makes a process unable to open descriptors; the returned function restores the limit. `as` runs a program as its
 * user.
 */
function useUp(pid: number, as: readonly string[] = []): () => void {
  const limit = (soft: string) => {
    const [program = '', ...args] = [...as, 'prlimit', '--pid', String(pid), `--nofile=${soft}:`];
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const [, before = '1024'] = /^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? [];
  // stdin, stdout and stderr are open, so no number below 3 is free.
  limit('3');
  return () => limit(before);
}

const SECOND_NS = 1_000_000_000n;
const STEPS = [-3600n * SECOND_NS, -SECOND_NS, -SECOND_NS / 10n, SECOND_NS / 10n, SECOND_NS, 3600n * SECOND_NS];

const surroundings: Fault[] = [
  {
    name: 'a full /dev/shm',
    promise: 'the board has its room already',
    async inflict(scene, chance) {
      const empty = fill(scene);
      await scene.lasts(chance, 0.5, 1.5);
      empty();
    },
  },
  {
    name: 'a full /dev/shm, and the board is deleted',
    promise: 'who reads it goes on reading',
    async inflict(scene) {
      const empty = fill(scene);
      rmSync(scene.board);
      // The memory of a deleted board stays in use as long as a process has it open.
      await scene.beats(A_LOOK_MS);
      empty();
    },
  },
  {
    name: 'a full /dev/shm, and kill -9 of the receiver',
    promise: 'the next one takes over the board that is there',
    async inflict(scene) {
      const empty = fill(scene);
      await scene.endReceiver('SIGKILL');
      await scene.reviveReceiver();
      await scene.beats(200);
      empty();
    },
  },
  {
    name: 'the receiver is out of descriptors, and the board is deleted',
    promise: 'who reads it goes on reading',
    async inflict(scene) {
      const giveBack = useUp(scene.receiver.child.pid as number);
      rmSync(scene.board);
      await scene.beats(A_LOOK_MS);
      if (existsSync(scene.board)) throw new Error('the receiver had a descriptor left');
      giveBack();
    },
  },
  {
    name: 'a reader is out of descriptors, and the board is another',
    promise: 'it finds the new one when it has some again',
    async inflict(scene, chance) {
      scene.mayMiss();
      const watcher = reader(scene, chance);
      const giveBack = useUp(watcher.child.pid as number, watcher.as);
      rmSync(scene.board);
      await until('there is another board', () => existsSync(scene.board));
      await watcher.next();
      giveBack();
    },
  },
  {
    name: "the master's wall clock steps",
    promise: 'no report is younger than it is, and none older than the drain before it',
    async inflict(scene, chance) {
      for (let i = 0; i < 3; i++) {
        await scene.step(oneOf(chance, STEPS));
        await scene.lasts(chance, 0, 0.3);
      }
      // Stamps are exact again from the next drain on.
      await scene.beats(0);
    },
  },
];

export const FAULTS: readonly Fault[] = [...path, ...links, ...processes, ...board, ...surroundings];
