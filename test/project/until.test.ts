// How the tests' own waits end: at once when what they wait for can no longer come, and never because a machine is busy.
//
// @rest

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { endWith, follow } from '../kit/children.js';
import { awaited, type Machine, until, untilOn } from '../kit/until.js';

const STEP_MS = 10;

/** Time passes only while the wait sleeps, and as fast as it can. */
class MadeMachine implements Machine {
  #ms = 0;
  readonly #calls = new Set<{ everyMs: number; next: number; call: () => void }>();

  /**
   * @param share how much of the time something waits for a CPU
   * @param isCounted whether the kernel tells
   * @param lateMs by how much its timers are late
   */
  constructor(
    readonly share: (ms: number) => number,
    readonly isCounted = true,
    readonly lateMs = 0,
  ) {}

  #starvedMs = 0;

  now = () => this.#ms;
  starved = () => (this.isCounted ? this.#starvedMs : undefined);

  every = (everyMs: number, call: () => void) => {
    const entry = { everyMs, next: this.#ms + everyMs, call };
    this.#calls.add(entry);
    return () => this.#calls.delete(entry);
  };

  sleep = async (ms: number) => {
    for (const end = this.#ms + ms; this.#ms < end; ) {
      this.#starvedMs += STEP_MS * this.share(this.#ms);
      this.#ms += STEP_MS;
      for (const entry of this.#calls)
        if (this.#ms >= entry.next + this.lateMs) {
          entry.next = this.#ms + entry.everyMs;
          entry.call();
        }
    }
  };
}

const never = () => false as const;
/** When a wait for what never comes is given up, s. */
async function givenUp(machine: MadeMachine, terms = {}): Promise<number> {
  const error = await untilOn(machine, 'it comes', never, 10, terms).catch(error => error);
  t.match(error, { message: /^waited in vain until it comes: for \d+ s neither this test nor what it started waited/ });
  return Math.round(machine.now() / 1000);
}

t.test('a wait ends after 15 s in which nobody waited for a CPU', async t => {
  t.equal(await givenUp(new MadeMachine(() => 0)), 16);
  t.equal(await givenUp(new MadeMachine(ms => (ms < 600_000 ? 1 : 0))), 615, 'after ten minutes in which somebody did');
  t.equal(await givenUp(new MadeMachine(() => 0.5)), 31, 'who waits half of the time');
  t.equal(await givenUp(new MadeMachine(() => 0), { withinMs: 40_000 }), 41, 'who said that it takes longer');
  t.equal(await givenUp(new MadeMachine(() => 0, false)), 16, 'a kernel that does not tell, and timers on time');
  const late = new MadeMachine(() => 0, false, 60);
  t.ok(await untilOn(late, 'it comes', () => late.now() > 600_000, 10, {}), 'timers that are late do not count');
});

t.test('what comes is returned', async t => {
  const machine = new MadeMachine(() => 0);
  t.equal(await untilOn(machine, 'it comes', () => (machine.now() > 14_000 ? 'found' : undefined), 10, {}), 'found');
  t.equal(await until('it is zero', () => 0), 0);
  t.equal(await awaited('it comes', Promise.resolve(false)), false);
});

t.test('a look that sees the contrary, and one that has no end', async t => {
  await t.rejects(
    until('it is ready', () => {
      throw new Error('it says that it cannot');
    }),
    { message: 'it says that it cannot' },
  );
  const machine = new MadeMachine(() => 0);
  const waiting = untilOn(machine, 'it answers', () => new Promise<false>(() => undefined), 10, {});
  const error = waiting.catch(error => error);
  await machine.sleep(60_000);
  t.match(await error, { message: /^waited in vain until it answers: for 15 s neither .*; the look has no end by/ });
});

/** A shell script, to be told when to go on. */
const script = (text: string) => spawn('sh', ['-c', `read _; ${text}`], { stdio: ['pipe', 'pipe', 'pipe'] });

t.test('a daemon that fails ends the wait with its last words', async t => {
  const child = script('echo "beoboard x: ready: now" >&2; read _; echo the last words >&2; exit 3');
  const said = follow(child, t);
  child.stdin.write('\n');
  await until('it is ready', () => said.stderr !== '');
  const waiting = until('it does well', never);
  child.stdin.end('\n');
  await t.rejects(waiting, {
    message: /^waited in vain until it does well: sh .* ended with 3, and said: .* the last words;/,
  });
  await t.rejects(
    until('it does well', never, 10, { of: child }),
    { message: /ended with 3, and said: .* the last words; 1 looks, at last false by \(\) => false/ },
    'also of one that has ended before, if it is named',
  );
});

t.test('a program that was named ends the wait by any end', async t => {
  const child = script('exit 0');
  endWith(t, child);
  const waiting = until('it does more', never, 10, { of: child });
  child.stdin.end('\n');
  await t.rejects(waiting, { message: /^waited in vain until it does more: sh .* ended with 0;/ });
});

t.test('what a program left at its end is seen', async t => {
  const child = script('echo done; exit 1');
  const said = follow(child, t);
  const waiting = until('it says so', () => said.stdout === 'done\n', 10, { of: child });
  child.stdin.end('\n');
  t.ok(await waiting);
  await said.exit;
  t.ok(await until('it has said so', () => said.stdout === 'done\n', 10, { of: child }));
});

t.test('other ends do not end a wait', async t => {
  const [good, killed, last] = [script('exit 0'), script('exit 0'), script('exit 0')];
  for (const child of [good, killed, last]) endWith(t, child);
  const ends = Promise.all([good, killed, last].map(child => once(child, 'close')));
  const waiting = until('the last one has ended', () => last.exitCode === 0 && 'ended');
  const command = script('exit 1');
  follow(command);
  command.stdin.end('\n');
  good.stdin.end('\n');
  killed.kill('SIGKILL');
  await Promise.all([once(good, 'close'), once(killed, 'close'), once(command, 'close')]);
  last.stdin.end('\n');
  t.equal(await waiting, 'ended', 'a good one, one that the test wanted, one of a program that was not to last');
  await ends;
});
