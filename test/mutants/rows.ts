// Small wrong changes, and the test that must fall for each. `npm run mutants` makes them. No test of its own.

/** In this file this text, which stands there once, becomes that; then the test ROOM/NAME falls. */
interface Mutant {
  readonly file: string;
  readonly was: string;
  readonly becomes: string;
  readonly test: string;
}

type Row = readonly [was: string, becomes: string, test: string];

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  // src/acks
  'src/acks/acks.ts': [
    [
      'topicOf(ack.key) === topic && Date.parse(ack.until) > clocks.realMs',
      'topicOf(ack.key) === topic',
      'trouble/trouble',
    ],
    [
      'Date.parse(b.until) < Date.parse(a.until) ? b : a',
      'Date.parse(b.until) > Date.parse(a.until) ? b : a',
      'trouble/trouble',
    ],
    ['count === (ack.times ?? 0) + 1 &&', 'count === (ack.times ?? 0) &&', 'trouble/trouble'],
  ],
  'src/acks/ackfile.ts': [['before.acks.filter(({ until }) => Date.parse(until) > nowMs)', 'before.acks', 'cli/ack']],
  // src/changes
  'src/changes/changes.ts': [
    ['this.#receiver.startedNs !== startedNs', 'this.#receiver.startedNs === startedNs', 'cli/events'],
    ['event_last + 1 - last', 'event_last - last', 'cli/events'],
    ['count: passed - events.length', 'count: passed', 'cli/events'],
  ],
  'src/changes/lastwords.ts': [
    ["one >= STILL_MOST_MS ? 'over 71 min'", "one > STILL_MOST_MS ? 'over 71 min'", 'trouble/trouble'],
  ],
  // src/cli
  'src/cli/check.ts': [['fail: WAYS.indexOf(values.fail)', 'fail: 0', 'cli/check']],
  'src/cli/events.ts': [
    ['follower.notOnBoard().length === 0 ? 0 : 1', 'follower.notOnBoard().length === 0 ? 0 : 2', 'cli/events'],
  ],
  'src/cli/csv.ts': [["line.replaceAll('\"', '\"\"')", 'line', 'cli/hostiletexts']],
  'src/cli/ack.ts': [['one.key === key || one.key.startsWith(', 'one.key.startsWith(', 'cli/ack']],
  // src/demo
  'src/demo/main.ts': [
    [",gpu_gone'", "'", 'cli/demo'],
    ["process.on('exit', () => rmSync(path, { recursive: true, force: true }));", '', 'cli/demo'],
    ['(alone ? NEXT_ALONE : NEXT).map', 'NEXT.map', 'cli/demo'],
  ],
  // src/events
  'src/events/eventfeed.ts': [
    ['event.seq > since.seq', 'event.seq >= since.seq', 'web/api'],
    ["event !== 'state' && event !== 'begin'", "event !== 'state'", 'web/api'],
  ],
  'src/events/journalfeed.ts': [['if (line.repeated) return;', '', 'web/journalfeed']],
  'src/events/eventlog.ts': [['events.length - most];', 'events.length];', 'web/api']],
  // src/ganglia-xml
  'src/ganglia-xml/host.ts': [
    ["state === 'silent' || state === 'left' ? DOWN + age", "state === 'silent' ? DOWN + age", 'ganglia/document'],
    ['const UP_MOST = 60;', 'const UP_MOST = 90;', 'ganglia/document'],
  ],
  'src/ganglia-xml/documents.ts': [['if (lost.length > 0) parts', 'if (lost.length > 1) parts', 'ganglia/document']],
  // src/jobs
  'src/jobs/joblist.ts': [['busy / 100 / cpus', 'busy / cpus', 'cli/jobs']],
  'src/jobs/jobmembers.ts': [['if (middle.count < FEWEST) continue;', '', 'cli/jobs']],
  'src/jobs/userlist.ts': [['some(job => job.user !== user)', 'some(job => job.user === user)', 'cli/users']],
  // src/journal
  'src/journal/store.ts': [
    ['await this.cut(this.#end);', '', 'journal/store'],
    ['(day >= oldest && sum <= this.bounds.mostBytes)', 'sum <= this.bounds.mostBytes', 'journal/store'],
    ['jobs: 0o640', 'jobs: 0o644', 'journal/store'],
  ],
  'src/journal/grouping.ts': [['more: count - 1', 'more: count', 'journal/recorder']],
  'src/journal/hourcounts.ts': [['ms >= nowMs - HOUR_MS', 'ms >= nowMs - 2 * HOUR_MS', 'journal/hourcounts']],
  // src/journalfile
  'src/journalfile/listing.ts': [
    [
      'monotonicOf(end, end.from) > monotonicOf(begin, last) + LATER_MS',
      'monotonicOf(end, end.from) > monotonicOf(begin, last)',
      'journal/reading',
    ],
  ],
  'src/journalfile/format.ts': [["padStart(7, '0')", "padStart(6, '0')", 'journal/format']],
  'src/journalfile/lastends.ts': [['const CLOSE_MS = 4000;', 'const CLOSE_MS = 40_000;', 'journal/reading']],
  // src/layout
  'src/layout/codec.ts': [
    ['high < 0x200000 ?', 'high <= 0x200000 ?', 'contract/codec'],
    ['ignoreBOM: true', 'ignoreBOM: false', 'contract/codec'],
    ['1 << (bits.valid[set] & 31)', '1 << (bits.valid[set] & 15)', 'contract/codec'],
  ],
  // src/load
  'src/load/jobs.ts': [["fault === 'gpu_gone' ? GPUS - 1 : GPUS", 'GPUS', 'load/jobs']],
  'src/load/jobnodes.ts': [['cpus_used: placed === undefined ? 0 : CPUS', 'cpus_used: CPUS', 'load/load']],
  'src/load/main.ts': [['if (odd.length > jobs)', 'if (odd.length > jobs + 1)', 'load/load']],
  // src/native
  'src/native/addon.ts': [["code === 'MODULE_NOT_FOUND'\n", "code !== 'MODULE_NOT_FOUND'\n", 'packages/npmpackage']],
  'src/native/receiving.ts': [['2n ** 64n - 1n', '2n ** 32n - 1n', 'receiver/receive']],
  'src/native/board.ts': [["'i16', 'i32', 'u64'", "'i32', 'i16', 'u64'", 'readings/measurereader']],
  // src/net
  'src/net/clients.ts': [['this.stream === undefined ? FRESH_MS : STREAM_MS', 'FRESH_MS', 'common/turns']],
  'src/net/http.ts': [
    [
      "(client.isLast || this.isEnding) && { Connection: 'close' }",
      "client.isLast && { Connection: 'close' }",
      'common/httpconformance',
    ],
    ["name === '' || isIP(name) !== 0", 'isIP(name) !== 0', 'common/httpconformance'],
  ],
  'src/net/expressions.ts': [['this.#depth >= MOST_DEEP', 'this.#depth > MOST_DEEP', 'supermon/abuse']],
  // src/options
  'src/options/values.ts': [['if (share > ALL_NODES)', 'if (share >= ALL_NODES)', 'cli/check']],
  'src/options/keys.ts': [
    ["is === 'secret' && (mode & 0o077) !== 0", "is === 'secret' && (mode & 0o007) !== 0", 'keys/keys'],
    ['if (!(id < 65_536))', 'if (!(id <= 65_536))', 'keys/keys'],
  ],
  'src/options/config.ts': [['start = index + 2;', 'start = index + 1;', 'common/options']],
  // src/outliers
  'src/outliers/heat.ts': [['hot.length > members.length / 3', 'hot.length > members.length / 2', 'cli/odd']],
  'src/outliers/deviation.ts': [['const NORMAL = 1.4826;', 'const NORMAL = 1.2533;', 'outliers/deviation']],
  'src/outliers/cells.ts': [['const IN_A_ROW = 3;', 'const IN_A_ROW = 2;', 'outliers/judge']],
  // src/presentation
  'src/presentation/journallines.ts': [
    ["event: event === 'boot' ? 'reboot' : event,", 'event,', 'web/journalfeed'],
    ['count > 1 && line.count === count ? line.first : undefined', 'line.first', 'journal/reading'],
  ],
  'src/presentation/nodesheet.ts': [
    ["recently.length > 0 ? ' now' : ''", "recently.length > 1 ? ' now' : ''", 'common/faces'],
  ],
  // src/prometheus
  'src/prometheus/exposition.ts': [["'# EOF\\n'", "'# EOF'", 'prometheus/exposition']],
  'src/prometheus/plan.ts': [['text.replace(/[\\\\"', 'text.replace(/["', 'prometheus/exposition']],
  'src/prometheus/names.ts': [['(isSame && grown > 0 ? grown : 0)', '(isSame ? grown : 0)', 'prometheus/sums']],
  'src/prometheus/request.ts': [['open > 0 && open >= plain', 'open >= plain', 'prometheus/exporter']],
  // src/query
  'src/query/conditions.ts': [
    ['all ? some > 0 && some === count : some > 0', 'all ? some === count : some > 0', 'readings/where'],
    [
      'one !== undefined && other !== undefined && typeof one === typeof other',
      'typeof one === typeof other',
      'readings/where',
    ],
    ['other.unit.size / one.unit.size', 'one.unit.size / other.unit.size', 'readings/where'],
  ],
  'src/query/sorting.ts': [
    ["const isUpward = upward || field.name === 'state';", 'const isUpward = upward;', 'cli/status'],
  ],
  // src/readings
  'src/readings/measures.ts': [
    ['const CARRIER = 1 << bits.net_state.carrier;', 'const CARRIER = 2 << bits.net_state.carrier;', 'readings/where'],
  ],
  'src/readings/entries.ts': [['(word >>> bit) & 1', 'word & 1', 'readings/where']],
  'src/readings/units.ts': [['inLargest(base * 8, 1000,', 'inLargest(base, 1000,', 'cli/show']],
  // src/receiver
  'src/receiver/forget.ts': [
    ["after.get(name) === 'never'", "after.get(name) === 'silent'", 'receiver/nodelist'],
    ['return unknown.length > 0 ? 1 : 0;', 'return unknown.length > 1 ? 1 : 0;', 'receiver/nodelist'],
  ],
  'src/receiver/main.ts': [
    [
      'nodes !== undefined && nodes.length > capacity',
      'nodes !== undefined && nodes.length >= capacity',
      'receiver/nodelist',
    ],
  ],
  // src/relay
  'src/relay/masters.ts': [
    ['heartbeatAge > STALLED_NS || heartbeatAge < -SECOND_NS', 'heartbeatAge > STALLED_NS', 'relay/mirror'],
  ],
  'src/relay/follower.ts': [['if (head.sequence < this.#stretch - 1) return;', '', 'relay/mirror']],
  'src/relay/shares.ts': [["if (checked === '' && this.#claimed >= CLAIMED) return false;", '', 'relay/mirror']],
  // src/schedulerfile
  'src/schedulerfile/statefile.ts': [
    ['(Date.now() - monotonicMs())) <= SAME_BOOT_MS', '(Date.now() - monotonicMs())) > SAME_BOOT_MS', 'slurm/reader'],
  ],
  'src/schedulerfile/orderfile.ts': [
    ['before.since_ms === since_ms ? Math.min(before.n, count) : 0', 'Math.min(before.n, count)', 'slurm/bridgerules'],
  ],
  'src/schedulerfile/matching.ts': [
    [
      'if (!known.has(on) || nodeName.has(on) || boardName.has(name)) return;',
      'if (!known.has(on) || boardName.has(name)) return;',
      'slurm/reader',
    ],
  ],
  // src/schedulers
  'src/schedulers/file.ts': [['(stats.mode & 0o004n) !== 0n', '(stats.mode & 0o040n) !== 0n', 'schedulers/file']],
  'src/schedulers/oddnodes.ts': [['Number(count === 1)', 'Number(count > 0)', 'schedulers/oddnodes']],
  'src/schedulers/bridge/acts.ts': [
    ["if (act === 'drain' && this.tick.isOneTooMany(situation)) return undefined;", '', 'slurm/bridgerules'],
  ],
  // src/sender
  'src/sender/loop.ts': [
    ['this.#overran = Math.max(0, passed - 1);', 'this.#overran = Math.max(0, passed);', 'sender/hang'],
  ],
  'src/sender/kernelfile.ts': [['MOST_BYTES = 4 << 20', 'MOST_BYTES = 4 << 10', 'sender/collect']],
  'src/sender/main.ts': [
    [
      'options.pretend !== undefined && !options.once',
      'options.pretend !== undefined && options.once',
      'sender/fixtures',
    ],
  ],
  // src/service
  'src/service/service.ts': [['us > 0 && pid === String(process.pid)', 'us > 0', 'service/service']],
  'src/service/leftfile.ts': [['includes(stats.uid) && !isOpen(stats)', 'includes(stats.uid)', 'schedulers/leftfiles']],
  'src/service/log.ts': [["elapsed < 2 * MINUTE ? 'minute'", "elapsed < MINUTE ? 'minute'", 'common/options']],
  // src/shm
  'src/shm/rates.ts': [
    [
      '(view.getUint32(to, true) - view.getUint32(from, true)) >>> 0',
      'view.getUint32(to, true) - view.getUint32(from, true)',
      'board/rates',
    ],
  ],
  'src/shm/memory.ts': [['(seen > begin ? seen : begin) + quiet', 'seen + quiet', 'trouble/unmeasured']],
  'src/shm/sentences.ts': [["seconds > 0 ? 'ahead' : 'behind'", "seconds < 0 ? 'ahead' : 'behind'", 'cli/evidence']],
  // src/supermon
  'src/supermon/children.ts': [
    ['levels >= MOST_LEVELS', 'levels > MOST_LEVELS', 'supermon/union'],
    ['(this.#schema?.levels ?? 0) + 1', 'this.#schema?.levels ?? 0', 'supermon/union'],
  ],
  'src/supermon/server.ts': [
    ["this.begun !== '' && commandOf(this.begun).kind !== 'bad'", "this.begun !== ''", 'supermon/server'],
  ],
  // src/terminal
  'src/terminal/style.ts': [
    ["when === 'always' || (when === 'auto' && wanted)", "when === 'always' || wanted", 'cli/status'],
  ],
  'src/terminal/keystrokes.ts': [["rest === '\\x1b' ? ['escape'] : []", "['escape']", 'cli/watch']],
  'src/terminal/screen.ts': [["if (line === (before[row] ?? '')) continue;", '', 'cli/watch']],
  // src/text
  'src/text/hostlists.ts': [['if (longest > NAME_LENGTH)', 'if (longest >= NAME_LENGTH)', 'common/hostlists']],
  'src/text/durations.ts': [['two(seconds % 60)', 'Math.floor(seconds % 60)', 'cli/check']],
  'src/text/putjson.ts': [['Math.abs(value) < 1e12 ||', 'value < 1e12 ||', 'cli/putjson']],
  'src/text/addresses.ts': [['if (bits < 8)', 'if (bits <= 8)', 'ganglia/server']],
  // src/trouble
  'src/trouble/links.ts': [['begins.length >= FLAPPING_FROM', 'begins.length > FLAPPING_FROM', 'trouble/outages']],
  'src/trouble/finding.ts': [
    ['const rest = all.slice(EACH_MOST);', 'const rest = all.slice(EACH_MOST + 1);', 'trouble/oddities'],
  ],
  'src/trouble/disagreements.ts': [['board.listenedMs < 60_000', 'board.listenedMs < 6000', 'trouble/trouble']],
  // src/web
  'src/web/history.ts': [['states.fill(GAP | (GAP << 4)', 'states.fill(GAP | (GAP << 3)', 'web/wire']],
  'src/web/historyrows.ts': [['(bits & CELL.unhealthy) !== 0', '(bits & CELL.unhealthy) === 0', 'web/wire']],
  'src/web/api.ts': [
    [
      'named !== undefined && named.length > MOST_FIELDS',
      'named !== undefined && named.length >= MOST_FIELDS',
      'web/api',
    ],
  ],
  'src/web/layouts.ts': [['rest.size > 0 ? [...named, [null, rest]] : named', 'named', 'web/wire']],
  // src/zoom
  'src/zoom/recording.ts': [
    ["await open(this.file, 'wx')", "await open(this.file, 'w')", 'zoom/chart'],
    ["typeof ms !== 'number' || !Number.isFinite(ms)", "typeof ms !== 'number'", 'zoom/zoom'],
  ],
  'src/zoom/zoomchart.ts': [
    [
      'this.#sums.set(name, { sum: sum + value, count: count + 1 })',
      'this.#sums.set(name, { sum: sum + value, count })',
      'zoom/chart',
    ],
  ],
  // c/addon
  'c/addon/extract.c': [['(int16_t)bb_number_at', '(uint16_t)bb_number_at', 'readings/measurereader']],
  'c/addon/template.c': [['value < 0 && (whole | rest) != 0', 'value < 0', 'ganglia/document']],
  'c/addon/addon.cc': [['!(error == TOO_LARGE && cut)', 'error != TOO_LARGE', 'sender/collect']],
  // c/base
  'c/base/optionvalues.c': [['for (size_t i = part.len; i < 3; i++) thousandths *= 10;', '', 'cli/shortverbs']],
  'c/base/hostfold.c': [["p->digits > 1 && names[i][at] == '0'", "names[i][at] == '0'", 'common/hostlistsinc']],
  'c/base/hostlist.c': [['if (out->first > out->last)', 'if (out->first >= out->last)', 'common/hostlistsinc']],
  'c/base/quoting.c': [['if (small < 10) add_text(words, "0");', '', 'cli/shortverbs']],
  // c/board
  'c/board/seqlock.h': [
    [
      '  bb_store(head, sequence - 1);\n  bb_store(tail, sequence);\n',
      '  bb_store(head, sequence);\n  bb_store(tail, sequence - 1);\n',
      'board/tearing',
    ],
  ],
  'c/board/file.c': [
    [
      'else if ((st.st_mode & 022) != 0 && (st.st_mode & S_ISVTX) == 0)',
      'else if ((st.st_mode & 002) != 0 && (st.st_mode & S_ISVTX) == 0)',
      'board/lock',
    ],
  ],
  'c/board/linktable.c': [
    ['!is_in_pieces(entry) && c->nodes >= 2', '!is_in_pieces(entry) && c->nodes >= 1', 'receiver/links'],
  ],
  'c/board/rejected.c': [['if (reason == BB_REASON_LATE) bb_add(&r->late, 1);', '', 'receiver/receive']],
  // c/collect
  'c/collect/cpus.c': [['return MOST_GROUPS - 1;', 'return MOST_GROUPS - 2;', 'sender/foreignslow']],
  'c/collect/bootid.c': [["- 'a' + 10u", "- 'a' + 9u", 'sender/csenderproperty']],
  'c/collect/diskstats.c': [
    [
      'from - to <= UINT32_MAX ? to + (UINT64_C(1) << 32) - from',
      'from - to <= UINT32_MAX ? to',
      'sender/csenderproperty',
    ],
  ],
  // c/gate
  'c/gate/verdict.c': [['if (unheard <= limit) return false;', 'if (unheard < limit) return false;', 'slurm/gate']],
  'c/gate/requests.c': [['(st.st_mode & 022) == 0', '(st.st_mode & 020) == 0', 'slurm/gate']],
  'c/gate/skip.c': [['age > MOST_SKIP_AGE || age < -MOST_SKIP_AGE', 'age > MOST_SKIP_AGE', 'slurm/gate']],
  // c/gpu
  'c/gpu/gpufile_writer.c': [
    ['word + 1 < GPU_WORDS ? " " : "\\n"', 'word + 2 < GPU_WORDS ? " " : "\\n"', 'sender/gpu'],
  ],
  'c/gpu/gpus_nvml.c': [
    ['memory.total == 0 || memory.used > memory.total', 'memory.used > memory.total', 'sender/gpu'],
  ],
  'c/gpu/pcibus.c': [
    [
      'strncmp(text, "0x03", 4) != 0 && strncmp(text, "0x12", 4) != 0',
      'strncmp(text, "0x03", 4) != 0',
      'sender/gpufound',
    ],
  ],
  // c/judge
  'c/judge/rates.h': [['modulo < UINT32_C(1) << 31', 'modulo < UINT32_C(1) << 30', 'project/cbuild']],
  'c/judge/totals.c': [
    ['r->cpu_busy_pm * (double)r->cpus_online / 1000', 'r->cpu_busy_pm * (double)r->cpus_online / 100', 'board/totals'],
  ],
  'c/judge/overview.c': [
    ['interval_ms < longest_ms || longest_ms == 0', 'interval_ms < longest_ms', 'trouble/unmeasured'],
  ],
  // c/lib
  'c/lib/node.c': [
    ['if (length >= size) return -ENOSPC;', 'if (length > size) return -ENOSPC;', 'library/library'],
    ['(double)REPORT(load1_c) / 100', '(double)REPORT(load1_c) / 10', 'library/library'],
  ],
  'c/lib/live.c': [
    [
      '(e.flags & BB_BOARD_STATE_FILTERING) != 0 ? BEOBOARD_F_FILTERING : 0',
      '(e.flags & BB_BOARD_STATE_FILTERING) == 0 ? BEOBOARD_F_FILTERING : 0',
      'library/library',
    ],
  ],
  // c/mon
  'c/mon/samples.c': [
    ["character >= 0x20 && character < 0x7f ? (char)character : '?'", '(char)character', 'supermon/monabuse'],
    ['return number / 1000000000;', 'return number / 1000000;', 'supermon/mon'],
  ],
  'c/mon/monoptions.c': [['number < 1 || number > 100000', 'number > 100000', 'supermon/mon']],
  // c/receive
  'c/receive/interfaces.c': [
    [
      'seen->is.loopback = (info->ifi_flags & IFF_LOOPBACK) != 0;',
      'seen->is.loopback = (info->ifi_flags & IFF_LOOPBACK) == 0;',
      'receiver/links',
    ],
  ],
  'c/receive/kerneldrops.c': [['SPAN("Udp6InErrors ")', 'SPAN("Udp6InError ")', 'receiver/loss']],
  'c/receive/drops.c': [['if (first.drops > 0) bb_writer_unfit(writer, first.drops);', '', 'receiver/loss']],
  // c/relay
  'c/relay/sweep.c': [
    ['  out->flags = r.flags;\n', '', 'relay/wire'],
    ['entry->stamp_real_ns = slot.stamp_real_ns;', '', 'relay/wire'],
    ['a->dark_nodes != b->dark_nodes || ', '', 'relay/wire'],
  ],
  'c/relay/mirror.c': [['r->head != 0 && e->head > r->head + 2', 'r->head != 0 && e->head > r->head', 'relay/mirror']],
  // c/sender
  'c/sender/slow/filesystems.c': [['fs->inodes == 0 ? 1000 :', 'fs->inodes == 0 ? 0 :', 'sender/foreignslow']],
  'c/sender/slow/power.c': [
    [
      'if (watts < 1 || watts > 65534) return false;',
      'if (watts < 1 || watts > 65535) return false;',
      'sender/foreignslow',
    ],
  ],
  'c/sender/slow/clockrates.c': [['khz == 0 || khz / 1000 > MOST_MHZ', 'khz == 0', 'sender/foreignnumbers']],
  'c/sender/slow/hwmon.c': [
    ['milli < -40000', 'milli < -40001', 'sender/foreignslow'],
    [
      'begins(chip, SPAN("nvme")) || begins(chip, SPAN("drivetemp"))',
      'begins(chip, SPAN("nvme"))',
      'sender/foreignslow',
    ],
  ],
  'c/sender/slow/edac.c': [
    ['fingerprint_with(id, fingerprint(FINGERPRINT, name_at(&parts, i)))', 'id', 'sender/membersums'],
  ],
  // c/sensor
  'c/sensor/input.c': [
    ['input->column == SPAN("quit").len', 'input->column >= SPAN("quit").len - 1', 'schedulers/sensor'],
  ],
  'c/sensor/hosts.c': [
    ['text.len > HOST_LENGTH || span_is(text, SPAN("global"))', 'text.len > HOST_LENGTH', 'schedulers/sensor'],
  ],
  'c/sensor/round.c': [['if (state == BEOBOARD_LEFT) return HOST_LEFT;', '', 'schedulers/sensor']],
  // c/verbs
  'c/verbs/journalstate.c': [['i += 2;', 'i += 1;', 'cli/shortverbs']],
  'c/verbs/verdict.c': [['if (most > 0 && g->note != NULL) add_text(text, "; ");', '', 'cli/shortverbs']],
  'c/verbs/listnodes.c': [
    [
      'options.wish.healthy && options.wish.problems != 0',
      'options.wish.healthy && options.wish.problems == 0',
      'cli/shortverbs',
    ],
  ],
};

export const MUTANTS: readonly Mutant[] = Object.entries(ROWS).flatMap(([file, rows]) =>
  rows.map(([was, becomes, test]) => ({ file, was, becomes, test })),
);
