// The stream from the server: reopened whenever it ends, closed while nobody sees the page. Does not read the contents
// of frames.

import { EVERY_MOST } from '../wire.js';
import { FrameReader, type StreamFrame } from './framereader.js';
import { request } from './requests.js';

/** How long an invisible page keeps its stream, ms. */
const HIDDEN_MS = 5000;
/** The time from one attempt to the next, at first and at most, ms. */
const TRY_LEAST_MS = 500;
const TRY_MOST_MS = 8000;
/** A stream without data for so long counts as broken, ms: the server sends a pulse at each interval. */
const LOST_MS = 15_000 + 1000 * EVERY_MOST;

interface Listener {
  /** A new stream begins, which does not continue the old one. */
  opened(): void;
  /** Throws if it does not fit the frames before: then a new stream is opened. */
  frame(frame: StreamFrame): void;
  /** All frames that arrived together were passed on. */
  settled(): void;
  /** There is no stream; `why`: in a few words, for people. It will be opened again. */
  lost(why: string): void;
  /** The server refuses the request, with this message; it is not asked again. */
  refused(why: string): void;
}

export class Live {
  #url = '';
  #stop = new AbortController();
  #pause = TRY_LEAST_MS;
  #hiding: number | undefined;
  #isShown = true;

  /** A browser has six connections to a server for all pages: a visible page closes the streams of invisible ones. */
  readonly #others = new BroadcastChannel('beoboard');

  constructor(private readonly listener: Listener) {
    this.#others.addEventListener('message', () => {
      if (document.visibilityState === 'hidden') this.#leave();
    });
    document.addEventListener('visibilitychange', () => this.#look());
    this.#look();
  }

  /** Opens a stream for another request, at once. */
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
      this.listener.lost(why);
      await new Promise(resolve => setTimeout(resolve, this.#pause));
      this.#pause = Math.min(TRY_MOST_MS, this.#pause * 2);
    }
  }

  /** Reads one stream to its end; returns why it ended, undefined if another attempt would be useless. */
  async #follow(signal: AbortSignal): Promise<string | undefined> {
    const quiet = new AbortController();
    let guard: number | undefined;
    const heard = () => {
      clearTimeout(guard);
      guard = setTimeout(() => quiet.abort(), LOST_MS);
    };
    heard();
    try {
      const response = await request(this.#url, AbortSignal.any([signal, quiet.signal]));
      if (!response.ok || response.body === null) {
        // A proxy has pages of its own.
        const isSentence = response.headers.get('content-type')?.startsWith('text/plain');
        const why = isSentence ? (await response.text()).trim() : `status ${response.status}`;
        const isRefused = [400, 414, 431].includes(response.status) || why.includes('takes too long to evaluate');
        if (!isRefused) return why;
        this.listener.refused(why);
        return undefined;
      }
      const frames = new FrameReader();
      const body = response.body.getReader();
      this.listener.opened();
      for (;;) {
        const { done, value } = await body.read();
        if (signal.aborted) return undefined;
        if (done) return 'the server closed the stream';
        heard();
        for (const frame of frames.push(value)) this.listener.frame(frame);
        this.#pause = TRY_LEAST_MS;
        this.listener.settled();
      }
    } catch (error) {
      if (quiet.signal.aborted) return `no data for ${LOST_MS / 1000} s`;
      return error instanceof TypeError ? 'the server does not answer' : String((error as Error).message);
    } finally {
      clearTimeout(guard);
      // A stream that is given up because of its contents must not continue in the background.
      quiet.abort();
    }
  }
}
