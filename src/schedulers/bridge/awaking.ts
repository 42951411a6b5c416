// The pause between two ticks of the bridge, which requests of the gate shorten.

import { type FSWatcher, watch } from 'node:fs';
import type { Log } from '../../service/log.js';
import { pause } from '../../service/pause.js';
import { oneLine } from '../../text/text.js';

/** Ticks are at least so far apart, ms, however many requests there are. */
const REST_MS = 1000;

/** The sleep between ticks, which a request of the gate ends. */
export class Awaking {
  readonly #stop: AbortSignal;
  #watcher: FSWatcher | undefined;
  #isRequested = false;
  #awake = new AbortController();

  /** `folder`: of the requests; undefined: there are none. */
  constructor(folder: string | undefined, stop: AbortSignal, log: Pick<Log, 'warn'>) {
    this.#stop = stop;
    stop.addEventListener('abort', () => this.#awake.abort());
    if (folder === undefined) return;
    const failed = ({ code }: NodeJS.ErrnoException) =>
      log.warn(`cannot watch ${oneLine(folder)}: ${code}; requests are taken with the next tick`);
    try {
      this.#watcher = watch(folder, () => {
        this.#isRequested = true;
        this.#awake.abort();
      });
    } catch (error) {
      // This fails, for example, if other programs of the user have taken all inotify watches.
      failed(error as NodeJS.ErrnoException);
    }
    this.#watcher?.on('error', failed);
  }

  /** Returns whether a request has ended it early. */
  async sleep(ms: number): Promise<boolean> {
    const rest = Math.min(REST_MS, ms);
    await pause(rest, this.#stop);
    this.#awake = new AbortController();
    if (!this.#isRequested && !this.#stop.aborted) await pause(ms - rest, this.#awake.signal);
    const isEarly = this.#isRequested;
    this.#isRequested = false;
    return isEarly;
  }

  close(): void {
    this.#watcher?.close();
  }
}
