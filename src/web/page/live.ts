// The stream from the server: opened again and again whatever happens to it, closed while nobody looks at the page. Reads no frame's content.

import { type Frame, FrameReader } from './framereader.js';

/** How long a page that nobody sees keeps its stream, ms. */
const HIDDEN_MS = 5000;
/** From one try to the next, at first and at most, ms. */
const TRY_LEAST_MS = 500;
const TRY_MOST_MS = 8000;
/** A stream on which nothing came for so long is none, ms: the server sends a pulse every tick. */
export const LOST_MS = 15_000;

export interface Listener {
  /** A new stream begins: what was known by the old one is not continued. */
  opened(): void;
  /** Throws where it does not fit what came before: then a new stream is opened. */
  frame(frame: Frame): void;
  /** All frames that came at once are told. */
  settled(): void;
  /** There is no stream; `why`: in a few words, for people. It is opened again. */
  lost(why: string): void;
  /** The server refuses what is asked for, in its words; it is not asked for again. */
  refused(why: string): void;
}

export class Live {
  readonly #listener: Listener;
  #url = '';
  #stop = new AbortController();
  #pause = TRY_LEAST_MS;
  #hiding: number | undefined;
  #isShown = true;

  /** A browser has six connections to a server for all of its pages: who is shown has the streams of those that nobody sees. */
  readonly #others = new BroadcastChannel('beoboard');

  constructor(listener: Listener) {
    this.#listener = listener;
    this.#others.addEventListener('message', () => {
      if (document.visibilityState === 'hidden') this.#leave();
    });
    document.addEventListener('visibilitychange', () => this.#look());
    this.#look();
  }

  /** Opens the stream of another question; at once. */
  ask(url: string): void {
    this.#url = url;
    this.#pause = TRY_LEAST_MS;
    this.#restart();
  }

  #look(): void {
    clearTimeout(this.#hiding);
    this.#hiding = undefined;
    if (document.visibilityState === 'hidden') this.#hiding = setTimeout(() => this.#leave(), HIDDEN_MS);
    else {
      this.#others.postMessage('shown');
      if (this.#isShown) return;
      this.#isShown = true;
      this.#pause = TRY_LEAST_MS;
      this.#restart();
    }
  }

  #leave(): void {
    this.#isShown = false;
    this.#stop.abort();
  }

  #restart(): void {
    this.#stop.abort();
    if (!this.#isShown || this.#url === '') return;
    this.#stop = new AbortController();
    void this.#run(this.#stop);
  }

  async #run(stop: AbortController): Promise<void> {
    while (!stop.signal.aborted) {
      const why = await this.#follow(stop.signal);
      if (stop.signal.aborted || why === undefined) return;
      this.#listener.lost(why);
      await new Promise(resolve => setTimeout(resolve, this.#pause));
      this.#pause = Math.min(TRY_MOST_MS, this.#pause * 2);
    }
  }

  /** Reads one stream to its end; why it ended, undefined where another try would be of no use. */
  async #follow(signal: AbortSignal): Promise<string | undefined> {
    const quiet = new AbortController();
    let guard: number | undefined;
    const heard = () => {
      clearTimeout(guard);
      guard = setTimeout(() => quiet.abort(), LOST_MS);
    };
    heard();
    try {
      const response = await fetch(this.#url, { signal: AbortSignal.any([signal, quiet.signal]), cache: 'no-store' });
      if (response.status === 400) {
        this.#listener.refused((await response.text()).trim());
        return undefined;
      }
      if (!response.ok || response.body === null) return `the server answers with ${response.status}`;
      const frames = new FrameReader();
      const body = response.body.getReader();
      this.#listener.opened();
      for (;;) {
        const { done, value } = await body.read();
        if (signal.aborted) return undefined;
        if (done) return 'the server closed the stream';
        heard();
        for (const frame of frames.push(value)) this.#listener.frame(frame);
        this.#pause = TRY_LEAST_MS;
        this.#listener.settled();
      }
    } catch (error) {
      if (quiet.signal.aborted) return `no data for ${LOST_MS / 1000} s`;
      return error instanceof TypeError ? 'the server does not answer' : String((error as Error).message);
    } finally {
      clearTimeout(guard);
      // A stream that is left because of what came must not go on behind.
      quiet.abort();
    }
  }
}
