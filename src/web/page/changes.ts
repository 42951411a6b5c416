// What changed: a line for each event of the journal, or that the server has seen, the newest first. The same again is
// one line. Filtered by what is chosen on the page, and by a minute of the river. While somebody is in it what comes waits.

import type { KeptEvent } from '../../presentation/shapes.js';
import { NameRanges } from '../../text/hostlists.js';
import { repeatsOf, repeatsText } from '../../text/repeats.js';
import type { EventsFrom } from '../wire.js';
import { button, byId, isHeld, make, oncePerFrame, watchSight, write } from './dom.js';
import { clock, count, inZone, minute, plural, present } from './formats.js';
import { answerTo } from './requests.js';

/** How far back it goes. */
const ASKED = '1h';
const ASKED_MS = 3_600_000;
/** So many events are kept, and so many lines are shown. */
const KEPT = 2000;
const SHOWN = 200;
const MINUTE_MS = 60_000;
/** What changed so long before and behind a moment may be its reason. */
const BEFORE_MS = 2 * MINUTE_MS;
const BEHIND_MS = MINUTE_MS;

export class ChangeList {
  readonly #list = byId('changed');
  #events: KeptEvent[] = [];
  /** Since when all events are here; undefined: not known yet. */
  #sinceMs: number | undefined;
  /** Where they come from, and whether that is their begin. */
  #from: EventsFrom | undefined;
  #isFromBegin = false;
  #chosen: ReadonlySet<string> | undefined;
  #minute: number | undefined;
  #marked: number | undefined;
  /** The moment about which all is shown, of whatever nodes, ms since 1970. */
  #about: number | undefined;
  #isInSight = false;
  /** The last event that may be shown. */
  #last = 0;
  #written = '';
  readonly #request = oncePerFrame(() => this.#show());

  /**
   * `select`: called with the nodes of a line that is clicked. `mark`: called with the minute, since 1970, to mark on the
   * river: the one that is chosen there, or that of the line.
   */
  constructor(
    private readonly select: (nodes: string) => void,
    private readonly mark: (minute: number | undefined) => void,
  ) {
    const frame = byId('changedframe');
    watchSight(frame, isInSight => {
      this.#isInSight = isInSight;
      this.#request();
    });
    for (const event of ['pointerleave', 'focusout']) frame.addEventListener(event, this.#request);
  }

  /** The stream has begun: what was before it is asked for; `since`: the last look of this server before. */
  async greet(since?: number): Promise<void> {
    const isMore = since !== undefined && this.#from !== undefined;
    if (!isMore) this.#events = [];
    const kept = this.#events.filter(({ seq }) => isMore && seq <= since);
    const path = `api/v1/events?since=${isMore ? since : ASKED}`;
    const said = await answerTo<EventsFrom & { more: number; events: KeptEvent[] }>(path);
    // If there is no answer, all is asked for again when the server is back.
    this.#from = typeof said === 'object' ? said : undefined;
    if (typeof said !== 'object') return;
    const { from, more, events } = said;
    if (!isMore || more > 0) {
      const [beganMs, askedMs] = [Date.parse(from), present.now() - ASKED_MS];
      this.#isFromBegin = beganMs >= askedMs && more === 0;
      this.#sinceMs = more > 0 ? Date.parse(events[0]?.time ?? from) : Math.max(beganMs, askedMs);
    }
    // What the stream has brought meanwhile comes behind them; the server may have begun anew, and counts anew.
    const last = events.at(-1)?.seq ?? since ?? 0;
    this.#events = [...(more > 0 ? [] : kept), ...events, ...this.#events.filter(({ seq }) => seq > last)];
    this.#request();
  }

  /** The server may have them from elsewhere now. */
  come(now: EventsFrom): void {
    const before = this.#from;
    if (before !== undefined && (now.journal !== before.journal || now.from !== before.from)) void this.greet();
  }

  /** What has happened since. */
  take(events: readonly KeptEvent[]): void {
    const last = this.#events.at(-1)?.seq ?? 0;
    this.#events.push(...events.filter(({ seq }) => seq > last));
    const left = this.#events.splice(0, this.#events.length - KEPT).at(-1);
    if (left !== undefined) [this.#sinceMs, this.#isFromBegin] = [Date.parse(left.time), false];
    this.#request();
  }

  /** Only events of these nodes, and of none; undefined: all. */
  choose(chosen: ReadonlySet<string> | undefined): void {
    this.#chosen = chosen;
    // That of a line goes with what it has selected.
    if (chosen === undefined && this.#about === undefined && this.#marked !== this.#minute) this.#markAt(this.#minute);
    this.#request();
  }

  /** Only events of the minute of that second, or all of them again. */
  toggleMinute(second: number | undefined): void {
    const asked = second === undefined ? undefined : Math.floor((second * 1000) / MINUTE_MS);
    this.#minute = asked === this.#minute ? undefined : asked;
    this.#about = undefined;
    this.#markAt(this.#minute);
    this.#list.parentElement?.scrollTo(0, 0);
    this.#request();
  }

  /** All that changed about a moment; `hasMinute` until the next minute is chosen, or none. */
  showAbout(ms: number): void {
    this.toggleMinute(undefined);
    this.#about = ms;
    this.#markAt(Math.floor(ms / MINUTE_MS));
    byId('changedframe').focus();
  }

  #markAt(minute: number | undefined): void {
    this.#marked = minute;
    this.mark(minute);
  }

  get hasMinute(): boolean {
    return (this.#minute ?? this.#about) !== undefined;
  }

  #isShown({ time, nodes }: KeptEvent): boolean {
    const about = this.#about;
    if (about !== undefined) return Date.parse(time) >= about - BEFORE_MS && Date.parse(time) <= about + BEHIND_MS;
    if (this.#minute !== undefined && Math.floor(Date.parse(time) / MINUTE_MS) !== this.#minute) return false;
    const chosen = this.#chosen;
    return chosen === undefined || nodes === undefined || NameRanges.of(nodes)?.meets(chosen) === true;
  }

  #show(): void {
    if (!this.#isInSight) return;
    const [chosen, known] = [this.#events.filter(event => this.#isShown(event)), this.#events.at(-1)?.seq ?? 0];
    // A server that has begun anew counts anew.
    if (known < this.#last || this.#list.children.length === 0 || !isHeld('changedframe')) this.#last = known;
    const lines = repeatsOf(chosen.filter(({ seq }) => seq <= this.#last));
    const waiting = chosen.filter(({ seq }) => seq > this.#last).length;
    write(byId('changednew'), waiting === 0 ? '' : `${count(waiting)} new`);
    const at = (time: string) => clock(Date.parse(time));
    const { journal = false, why = '' } = this.#from ?? {};
    const began = this.#isFromBegin && !journal ? ', when this server began' : '';
    const source = journal ? 'From the journal,' : `Without a journal (${why}):`;
    const from = this.#sinceMs === undefined ? '' : `${source} since ${clock(this.#sinceMs)}${began}`;
    const about = this.#about === undefined ? '' : `; of all nodes, about ${clock(this.#about)}`;
    const only =
      this.#minute === undefined ? about : `; only ${minute(this.#minute * MINUTE_MS)}, as marked on the river`;
    const more = lines.length > SHOWN ? `; the last ${SHOWN} of ${plural(lines.length, 'line')}` : '';
    write(byId('changedsince'), `${from}${only}${more}${lines.length === 0 && from !== '' ? ': nothing' : ''}`);
    const rows = lines.slice(0, SHOWN).map(line => {
      const { nodes = '', time } = line.last;
      return { nodes, time, text: `${at(time)}  ${inZone(repeatsText(line, at), Date.parse(time))}` };
    });
    const written = JSON.stringify(rows);
    if (written === this.#written) return;
    this.#written = written;
    const focused = [...this.#list.children].findIndex(row => row.contains(document.activeElement));
    const rowOf = ({ nodes, time, text }: (typeof rows)[number]) => {
      const choose = () => {
        this.#markAt(Math.floor(Date.parse(time) / MINUTE_MS));
        if (nodes !== '') this.select(nodes);
      };
      return make('li', {}, button(text, choose));
    };
    // New elements, which have not moved from anywhere.
    this.#list.replaceChildren(...rows.map(rowOf));
    if (focused >= 0) (this.#list.querySelectorAll('button')[focused] ?? byId('changedframe')).focus();
  }
}
