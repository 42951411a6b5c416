// Which GPU is which, and which is lost: what NVML's stand-in, the PCI bus, AMD's files and the table of the GPU helper
// say together, step by step. No GPU takes part.
//
// @seconds 19
// @waits
// @rest

import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { until } from '../kit/until.js';
import {
  AMD_FINE,
  type Amd,
  amd,
  amdPlace,
  answer,
  BUS,
  bus,
  FINE,
  FIRST,
  GOOD,
  HELPER,
  hurried,
  MUTE,
  PLACED,
  place,
  READINGS,
  run,
  SECOND,
  start,
  TWO,
} from './gpustand.js';

t.setTimeout(600_000);

/** A GPU without readings: there, lost, given away. */
const [BLANK, LOST, AWAY] = ['- - - - - 1\n', '- - - - - 17\n', '- - - - - 0\n'];
const [ONE, SLOT_2, SLOT_3] = ['0000:01:00.0', '0000:02:00.0', '0000:03:00.0'];
const NO_PLACES = 'DeviceGetPciInfo * 3';

/** GPUs by the numbers in their UUIDs, each in a slot. */
const gpus = (...slots: [uuid: number, slot: number][]) => [
  ...GOOD,
  `DeviceGetCount * 0 ${slots.length}`,
  ...slots.flatMap(([uuid, slot], i) => [`DeviceGetUUID ${i} 0 ${uuid}`, `DeviceGetPciInfo ${i} 0 ${slot}`]),
];
const all = (status: number, whose = '*') => [...READINGS, 'Programs'].map(name => `${name} ${whose} ${status}`);
const small = amd({ mem_info_vram_total: `${2 ** 29}\n`, mem_info_vram_used: '0\n' });
const SMALL = '50 61 300 0 512 3 4 0\n';

interface Step {
  lines?: string[];
  bus?: Record<string, string | Amd>;
  /** The helper is ended and started again, after a boot, or with these options, or with another state. */
  boot?: true;
  options?: string[];
  state?: (text: string) => string;
  /** SIGHUP. */
  anew?: true;
  file: string;
  said?: RegExp;
}
const STORIES: [what: string, steps: Step[], never?: RegExp][] = [
  [
    'moved while no driver had it',
    [
      { lines: gpus([10, 1]), bus: { [ONE]: 'nvidia' }, file: FINE },
      {
        boot: true,
        lines: [...GOOD, 'Init * 9'],
        bus: { [SLOT_2]: '' },
        file: LOST,
        said: /GPU-10\): no driver has it/,
      },
      { lines: gpus([10, 2]), bus: { [SLOT_2]: 'nvidia' }, file: FINE, said: /^GPU 0 \(GPU-10\) is back/m },
    ],
  ],
  [
    'seen on the bus alone, then by its UUID',
    [
      { lines: [...GOOD, 'Init * 9'], bus: { [ONE]: '' }, file: LOST, said: /^GPU 0 \(0000:01:00.0\): no driver/m },
      { lines: gpus([10, 1]), bus: { [ONE]: 'nvidia' }, file: FINE, said: /^GPU 0 \(GPU-10\) is back/m },
    ],
  ],
  [
    'seen on the bus alone, then by the UUID of a known one',
    [
      { lines: gpus([10, 1]), bus: { [ONE]: 'nvidia', [SLOT_2]: '' }, file: FINE + LOST },
      { anew: true, lines: gpus([10, 2]), bus: { [SLOT_2]: 'nvidia' }, file: FINE, said: /is back, as one that was/ },
    ],
  ],
  [
    'the same without places',
    [
      { lines: [...gpus([10, 1]), NO_PLACES], bus: { [ONE]: 'nvidia', [SLOT_2]: '' }, file: FINE + LOST },
      { bus: { [SLOT_2]: 'nvidia' }, file: FINE, said: /is back, as one that was/ },
    ],
  ],
  [
    'a new kernel, first without its driver, and no places',
    [
      { lines: [...gpus([10, 1]), NO_PLACES], bus: { [ONE]: 'nvidia' }, file: FINE },
      { boot: true, lines: [...GOOD, 'Init * 9'], bus: { [ONE]: '' }, file: LOST },
      { boot: true, lines: [...gpus([10, 1]), NO_PLACES], bus: { [ONE]: 'nvidia' }, file: FINE },
    ],
  ],
  [
    'given away and back',
    [
      { lines: PLACED, bus: BUS, file: FINE + FINE },
      { boot: true, lines: gpus([10, 1]), bus: { ...BUS, [SLOT_2]: 'vfio-pci' }, file: FINE + AWAY },
      { lines: PLACED, bus: BUS, file: FINE + FINE },
    ],
    /does not count/,
  ],
  [
    'nouveau has one that has worked',
    [
      { lines: PLACED, bus: BUS, file: FINE + FINE },
      {
        boot: true,
        lines: gpus([10, 1]),
        bus: { ...BUS, [SLOT_2]: 'nouveau' },
        file: FINE + LOST,
        said: /^GPU 1 \(GPU-11\): the driver nouveau has it; its readings/m,
      },
      { bus: { ...BUS, [SLOT_2]: 'nvgrace_gpu_vfio_pci' }, file: FINE + AWAY },
      { lines: PLACED, bus: BUS, file: FINE + FINE },
    ],
  ],
  [
    'nouveau has one that was never seen to work',
    [
      { lines: gpus([10, 1]), bus: { [ONE]: 'nvidia', [SLOT_2]: 'nouveau' }, file: FINE },
      { bus: { [ONE]: 'nvidia', [SLOT_2]: '' }, file: FINE + LOST },
      { bus: { [ONE]: 'nvidia', [SLOT_2]: 'nouveau' }, file: FINE + AWAY },
    ],
  ],
  [
    '--expect: nouveau has all',
    [{ options: ['--expect', '1'], lines: [...GOOD, 'Init * 9'], bus: { [ONE]: 'nouveau' }, file: LOST }],
  ],
  [
    "another driver than the vendor's has one of AMD",
    [
      { bus: { [FIRST]: amd() }, file: AMD_FINE },
      { bus: { [FIRST]: amd({}, 'radeon') }, file: LOST, said: /^GPU 0 .*: the driver radeon has it; its readings/m },
      { bus: { [FIRST]: amd({}, 'pci-stub') }, file: AWAY },
      { bus: { [FIRST]: amd() }, file: AMD_FINE },
    ],
  ],
  // The UUID comes by itself, after SIGHUP, or after a boot.
  ...([{}, { anew: true }, { boot: true }] as Partial<Step>[]).flatMap((again): [string, Step[]][] => [
    ...(['DeviceGetUUID 1 999', 'DeviceGetUUID 0 999', 'DeviceGetUUID * 999'] as const).map(
      (fails): [string, Step[]] => [
        `all are at other places, and for a while ${fails}: ${JSON.stringify(again)}`,
        [
          { lines: PLACED, bus: BUS, file: FINE + FINE },
          {
            boot: true,
            lines: [...gpus([10, 2], [11, 3]), fails],
            bus: { [SLOT_2]: 'nvidia', [SLOT_3]: 'nvidia' },
            file: fails.includes('1') ? FINE + LOST + FINE : LOST + FINE + FINE,
          },
          { ...again, lines: gpus([10, 2], [11, 3]), file: FINE + FINE },
          { boot: true, file: FINE + FINE },
        ],
      ],
    ),
    [
      `all are at other places, and for a while nothing says which one the first is: ${JSON.stringify(again)}`,
      [
        { lines: PLACED, bus: BUS, file: FINE + FINE },
        {
          boot: true,
          lines: [...gpus([10, 2], [11, 3]), 'DeviceGetUUID 0 999', 'DeviceGetPciInfo 0 999'],
          bus: { [SLOT_2]: 'nvidia', [SLOT_3]: 'nvidia' },
          file: LOST + FINE + FINE,
        },
        { ...again, lines: gpus([10, 2], [11, 3]), file: FINE + FINE },
      ],
    ],
    [
      `no UUID at the first look: ${JSON.stringify(again)}`,
      [
        { lines: [...PLACED, 'DeviceGetUUID 1 999'], bus: BUS, file: FINE + FINE },
        { ...again, lines: PLACED, file: FINE + FINE },
        {
          boot: true,
          lines: gpus([10, 2], [11, 3]),
          bus: { [SLOT_2]: 'nvidia', [SLOT_3]: 'nvidia' },
          file: FINE + FINE,
        },
      ],
    ],
  ]),
  [
    'no UUID at the first look, and then it is lost',
    [
      { lines: [...PLACED, 'DeviceGetUUID 1 999'], bus: BUS, file: FINE + FINE },
      { lines: [...PLACED, 'DeviceGetUUID 1 15'], file: FINE + LOST, said: /^GPU 1: GPU is lost \(15\)/m },
      { anew: true, lines: PLACED, file: FINE + FINE },
    ],
  ],
  [
    'no UUIDs at all, and one is not counted',
    [
      { lines: [...PLACED, 'DeviceGetUUID * 3', NO_PLACES], bus: BUS, file: FINE + FINE },
      {
        boot: true,
        lines: [...gpus([10, 1]), 'DeviceGetUUID * 3', NO_PLACES],
        bus: { [ONE]: 'nvidia' },
        file: FINE + LOST,
      },
    ],
  ],
  // What the one call says is not lost by what the other says.
  ...[1, 9, 18].flatMap(code =>
    [
      [BLANK, 'DeviceGetUtilizationRates 0 15', `DeviceGetUtilizationRates 1 ${code}`],
      [FINE, 'DeviceGetUUID 0 15', `DeviceGetPciInfo 0 ${code}`],
      [FINE, 'DeviceGetPciInfo 0 16', `DeviceGetUUID 0 ${code}`],
      [BLANK, 'DeviceGetHandleByIndex 0 15', `DeviceGetHandleByIndex 1 ${code}`],
    ].map(([second = '', ...both]): [string, Step[]] => [
      `one is lost when the driver goes: ${both}`,
      [
        { lines: PLACED, bus: BUS, file: FINE + FINE },
        { anew: true, lines: [...PLACED, ...both], file: LOST + second, said: /^GPU 0 \(GPU-10\): .* \(1[56]\);/m },
        { lines: [...PLACED, 'Init * 9'], file: LOST + BLANK },
        { boot: true, file: LOST + BLANK },
        { anew: true, lines: PLACED, file: FINE + FINE },
      ],
    ]),
  ),
  [
    'plugged while it runs',
    [
      { lines: gpus([10, 1]), bus: { [ONE]: 'nvidia' }, file: FINE },
      { lines: PLACED, bus: BUS, file: FINE + FINE },
    ],
    /does not count/,
  ],
  [
    'a handle of nobody is not that of one that is gone from the bus',
    [
      { lines: gpus([10, 1], [11, 2], [12, 3]), bus: { ...BUS, [SLOT_3]: 'nvidia' }, file: FINE.repeat(3) },
      {
        boot: true,
        lines: [...gpus([11, 2], [12, 3]), 'DeviceGetUUID 1 999', 'DeviceGetPciInfo 1 999'],
        bus: { [SLOT_2]: 'nvidia', [SLOT_3]: 'nvidia' },
        file: LOST + FINE + FINE,
        said: /^GPU 0 \(GPU-10\): it is gone from the PCI bus/m,
      },
    ],
  ],
  ...([999, 4, 15] as const).map((code): [string, Step[]] => [
    `one is gone, and one gives no handle: ${code}`,
    [
      { lines: PLACED, bus: BUS, file: FINE + FINE },
      {
        boot: true,
        lines: [...gpus([11, 2]), `DeviceGetHandleByIndex 0 ${code}`],
        bus: { [SLOT_2]: 'nvidia' },
        file: LOST + (code === 4 ? BLANK : LOST),
        said: /^GPU 0 \(GPU-10\): it is gone from the PCI bus/m,
      },
    ],
  ]),
  [
    'a card more, and all are at other places',
    [
      { lines: PLACED, bus: BUS, file: FINE + FINE },
      {
        boot: true,
        lines: [...gpus([12, 1], [10, 2], [11, 3]), 'DeviceGetTemperature 0 0 99'],
        bus: { ...BUS, [SLOT_3]: 'nvidia' },
        file: FINE + FINE + FINE.replace('61', '99'),
      },
    ],
    /replaced/,
  ],
  [
    'two change places',
    [
      { lines: [...PLACED, 'DeviceGetTemperature 1 0 99'], bus: BUS, file: FINE + FINE.replace('61', '99') },
      {
        anew: true,
        lines: [...gpus([11, 1], [10, 2]), 'DeviceGetTemperature 0 0 99'],
        file: FINE + FINE.replace('61', '99'),
      },
    ],
    /replaced/,
  ],
  [
    'another card in its slot, which does not answer',
    [
      { lines: PLACED, bus: BUS, file: FINE + FINE },
      {
        boot: true,
        lines: [...gpus([10, 1], [12, 2]), ...all(999, '1')],
        file: FINE + LOST,
        said: /GPU-11\) was replaced by GPU-12/,
      },
    ],
  ],
  [
    'lost, and then without any reading',
    [
      { lines: PLACED, bus: BUS, file: FINE + FINE },
      { lines: [...PLACED, 'DeviceGetTemperature 1 15'], file: FINE + LOST },
      { anew: true, lines: [...PLACED, ...all(21, '1')], file: FINE + LOST, said: /GPU-11\): it gives no reading/ },
      { boot: true, file: FINE + LOST },
      {
        anew: true,
        lines: [...PLACED, ...all(21, '1'), 'DeviceGetPowerUsage 1 0 5000'],
        file: `${FINE}- - 5 - - 1 0 -\n`,
      },
    ],
  ],
  [
    'lost, and then only its programs are known',
    [
      { lines: PLACED, bus: BUS, file: FINE + FINE },
      { lines: [...PLACED, 'DeviceGetTemperature 1 15'], file: FINE + LOST },
      { anew: true, lines: [...PLACED, ...READINGS.map(name => `${name} 1 999`)], file: FINE + LOST },
      { anew: true, lines: [...PLACED, ...READINGS.map(name => `${name} 1 3`)], file: FINE + LOST },
      { anew: true, lines: PLACED, file: FINE + FINE },
    ],
  ],
  [
    'lost, of a library that has no readings',
    [
      { lines: [...gpus([10, 1]), ...all(3)], bus: { [ONE]: 'nvidia' }, file: BLANK },
      { anew: true, lines: [...gpus([10, 1]), ...all(3), 'DeviceGetHandleByIndex * 15'], file: LOST },
      { boot: true, file: LOST },
      { anew: true, lines: [...gpus([10, 1]), ...all(3)], file: BLANK },
    ],
  ],
  [
    'one of AMD that sleeps after a fault',
    [
      { bus: { [FIRST]: amd() }, file: AMD_FINE },
      { bus: { [FIRST]: amd(MUTE) }, file: LOST },
      { bus: { [FIRST]: amd({ ...MUTE, 'power/runtime_status': 'suspended\n' }) }, file: LOST },
      { bus: { [FIRST]: amd({ ...MUTE, 'power/runtime_status': 'active\n' }) }, file: LOST },
      { boot: true, bus: { [FIRST]: amd({ ...MUTE, 'power/runtime_status': 'suspended\n' }) }, file: LOST },
      { bus: { [FIRST]: amd() }, file: AMD_FINE },
      { bus: { [FIRST]: amd({ ...MUTE, 'power/runtime_status': 'suspended\n' }) }, file: '- - - 1024 65536 1 - -\n' },
    ],
  ],
  [
    'a card of NVIDIA beside those of AMD',
    [
      { bus: { [FIRST]: amd() }, lines: [...GOOD, 'Init * 9'], file: AMD_FINE },
      { bus: { [FIRST]: amd(), [ONE]: 'nvidia' }, lines: gpus([10, 1]), file: AMD_FINE + FINE },
      { boot: true, bus: { [FIRST]: amd(), [ONE]: 'vfio-pci' }, lines: [...GOOD, 'Init * 9'], file: AMD_FINE + AWAY },
      { bus: { [FIRST]: amd(), [ONE]: 'nvidia' }, lines: gpus([10, 1]), file: AMD_FINE + FINE },
      { boot: true, bus: { [ONE]: 'nvidia' }, file: LOST + FINE, said: /^GPU 0 .*it is gone from the PCI bus/m },
    ],
  ],
  [
    'a card of AMD beside those of NVIDIA',
    [
      { bus: { [ONE]: 'nvidia' }, lines: gpus([10, 1]), file: FINE },
      { boot: true, bus: { [FIRST]: amd(), [ONE]: 'nvidia' }, file: FINE },
      { boot: true, bus: { [FIRST]: amd() }, lines: [...GOOD, 'Init * 9'], file: LOST },
    ],
  ],
  ...[gpus([10, 1], [11, 2]), gpus([11, 2], [10, 1])].map((two, i): [string, Step[]] => [
    `two are bound, one is counted, no places${i === 0 ? '' : ', other numbers'}`,
    [
      {
        lines: [...gpus([10, 1]), 'DeviceGetPciInfo * 999'],
        bus: BUS,
        file: FINE + LOST,
        said: /^GPU 1: the driver does/m,
      },
      { anew: true, lines: [...two, 'DeviceGetPciInfo * 999'], file: FINE + FINE },
    ],
  ]),
  [
    '--expect: one that was given away is there',
    [{ options: ['--expect', '2'], lines: gpus([10, 1]), bus: { ...BUS, [SLOT_2]: 'vfio-pci' }, file: FINE }],
    /does not count/,
  ],
  [
    '--expect: the graphics of a processor do not count',
    [{ options: ['--expect', '1'], bus: { [FIRST]: small }, file: SMALL + LOST }],
  ],
  [
    '--expect: a card of AMD does, also while it does not answer',
    [
      { options: ['--expect', '1'], bus: { [FIRST]: amd() }, file: AMD_FINE },
      { options: ['--expect', '1'], bus: { [FIRST]: amd(MUTE) }, file: LOST },
    ],
  ],
  ...(
    [
      [/ 0 0 2\n/, ' x 0 2\n'],
      [/ 0 0 2\n/, '\n'],
      [/ 0 0 2\n/, ' 0 0 9999\n'],
      [/ 0 0 2\n/, ' 0 0 0\n'],
      [/ 0 0 2\n/, ' 99999999999999 1 2\n'],
      [/ 0 0 2\n/, ' -9223372036854775808 1 2\n'],
      [/^gpus 1/, 'gp\u0007s 1'],
      [/^gpus 1 \S+/, 'gpus 1 -'],
    ] as [RegExp, string][]
  ).map(([from, to]): [string, Step[]] => [
    `a damaged head: ${JSON.stringify(to)}`,
    [
      { lines: PLACED, bus: BUS, file: FINE + FINE },
      { state: text => text.replace(from, to), lines: gpus([10, 1]), bus: { [ONE]: 'nvidia' }, file: FINE + LOST },
    ],
  ]),
  [
    'a state of zeros',
    [
      { lines: PLACED, bus: BUS, file: FINE + FINE },
      { state: text => '\0'.repeat(text.length), file: FINE + FINE, said: /^the table of GPUs was damaged; a/m },
      { boot: true, lines: gpus([10, 1]), bus: { [ONE]: 'nvidia' }, file: FINE + LOST },
    ],
  ],
  [
    'a damaged line more',
    [
      { lines: PLACED, bus: BUS, file: FINE + FINE },
      { state: text => text.replace('end', 'GPU-1\nend'), file: FINE + FINE },
    ],
  ],
  ...(['XX-10', 'GPU-10 0000:01:00.0', 'GPU-10 - well', 'GPU-10 - w\u0000ll 0', ''] as const).map(
    (line): [string, Step[]] => [
      `a damaged line: ${JSON.stringify(line)}`,
      [
        { lines: PLACED, bus: BUS, file: FINE + FINE },
        { state: text => text.replace(/^GPU-10 .*$/m, line), file: FINE + FINE },
      ],
    ],
  ),
];

t.test('step by step', async t => {
  for (const [what, steps, never] of STORIES) {
    const at = steps.some(({ lines }) => lines) ? place(t, GOOD) : amdPlace(t);
    let helper: ReturnType<typeof hurried> | undefined;
    for (const [i, step] of steps.entries()) {
      const begins = helper === undefined || step.boot || step.options !== undefined || step.state !== undefined;
      if (begins) await helper?.end();
      const state = `${at.file}.seen`;
      if (begins && existsSync(state)) {
        const text = readFileSync(state, 'utf8').replace(/^gpus 1 \S+/, step.boot ? 'gpus 1 another-boot' : '$&');
        writeFileSync(state, step.state?.(text) ?? text);
      }
      const change = () => {
        if (step.bus) bus(at, step.bus);
        if (step.lines) answer(at.script, step.lines);
      };
      if (begins || helper === undefined) {
        change();
        helper = hurried(t, at, step.options);
      } else {
        const { child } = helper;
        await helper.between(() => {
          change();
          if (step.anew) child.kill('SIGHUP');
        });
      }
      await helper.rounds(8);
      const shown = () =>
        at
          .text()
          .replace(/^gpu.*\n/, '')
          .replaceAll(/^(- - - - - \d+) .*$/gm, '$1');
      await until(`${what}, ${i}`, () => existsSync(at.file) && shown() === step.file);
      // It stays so.
      await helper.rounds(14);
      t.equal(shown(), step.file, `${what}, ${i}`);
      const said = helper.said;
      if (step.said) await until(`it says ${step.said}`, () => step.said?.test(said().join('\n')));
      if (never) t.notMatch(said().join('\n'), never);
    }
    await helper?.end();
  }
});

t.test('a file that is old when the helper starts is written before the first round ends', async t => {
  for (const hangs of ['Init *', 'DeviceGetUUID 1', 'DeviceGetTemperature 0']) {
    const at = place(t, TWO);
    const first = start(t, at);
    await until('there is a file and a state', () => existsSync(at.file) && existsSync(`${at.file}.seen`));
    await first.end();
    const then = Date.now() / 1000 - 9;
    utimesSync(at.file, then, then);
    const before = statSync(at.file).ino;
    answer(at.script, [...TWO, `${hangs} hang`]);
    const helper = start(t, at);
    await until('it is another one', () => statSync(at.file).ino !== before);
    t.match(at.text(), /^gpu 1 nvidia 2\n- - - - - 1 .*\n- - - - - 1 .*\n$/, hangs);
    answer(at.script, TWO);
    await until('it goes on', () => at.text() === `gpu 1 nvidia 2\n${FINE}${FINE}`);
    await helper.end();
  }
});

t.test('the first call of all hangs: those on the bus, or expected, do not answer', async t => {
  const calls = ['Init *', 'DeviceGetCount *', 'DeviceGetHandleByIndex 0'];
  const machines: [devices: Record<string, string | Amd>, options: string[]][] = [
    [BUS, []],
    [{}, ['--expect', '2']],
    [{ ...BUS, [SLOT_3]: 'vfio-pci' }, ['--expect', '3']],
    [{ [FIRST]: amd(), ...BUS }, []],
  ];
  const cases = calls.flatMap(call => machines.map(machine => [call, ...machine] as const));
  for (const [call, devices, options] of [...cases, ['DeviceGetHandleByIndex 0', {}, []] as const]) {
    const at = place(t, [...PLACED, `${call} hang`]);
    bus(at, devices);
    const helper = hurried(t, at, [...options], { HURRY_TICKS: '1' });
    await helper.shows(`${call} hangs`, '- - - - - 17 - -\n'.repeat(2));
    await until('it says so', () => helper.said().filter(line => line.includes(': a call has hung')).length === 2);
    answer(at.script, PLACED);
    await helper.shows('it goes on', FINE + FINE);
    t.equal(await helper.end(), 0);
  }
});

t.test('a card of NVIDIA that is new beside one of AMD, and the library hangs', async t => {
  const at = place(t, [...GOOD, 'Init * 9']);
  bus(at, { [FIRST]: amd() });
  let helper = hurried(t, at, [], {}, 'amd');
  await helper.shows('the one of AMD', AMD_FINE);
  await helper.end();
  answer(at.script, [...gpus([10, 1]), 'Init * hang']);
  bus(at, { [FIRST]: amd(), [ONE]: 'nvidia' });
  helper = hurried(t, at, [], { HURRY_TICKS: '1' }, 'amd');
  await helper.shows('it hangs', '- - - - - 1 - -\n- - - - - 17 - -\n');
  answer(at.script, gpus([10, 1]));
  await helper.shows('it goes on', AMD_FINE + FINE);
  t.equal(await helper.end(), 0);
});

t.test('a file from after a clock was set back is written, too', async t => {
  const at = place(t, TWO);
  const first = start(t, at);
  await until('there is a file and a state', () => existsSync(at.file) && existsSync(`${at.file}.seen`));
  await first.end();
  const then = Date.now() / 1000 + 3600;
  utimesSync(at.file, then, then);
  answer(at.script, [...TWO, 'Init * hang']);
  const helper = hurried(t, at, [], { HURRY_TICKS: '1' });
  await helper.shows('it hangs', '- - - - - 17 - -\n'.repeat(2));
  answer(at.script, TWO);
  await helper.shows('it goes on', FINE + FINE);
  t.equal(await helper.end(), 0);
});

t.test('a library that hangs when it is opened for a lost GPU: nothing is said of the others', async t => {
  const at = place(t, TWO);
  const helper = hurried(t, at, [], { HURRY_TICKS: '1' });
  await helper.shows('both', FINE + FINE);
  answer(at.script, [...TWO, 'DeviceGetTemperature 1 15']);
  await helper.shows('one is lost', `${FINE}- - - - - 17 0 0\n`);
  for (let n = 0; n < 2; n++) {
    answer(at.script, [...TWO, 'DeviceGetTemperature 1 15', 'Init * hang']);
    helper.child.kill('SIGHUP');
    await helper.shows('it hangs', '- - - - - 1 0 0\n- - - - - 17 0 0\n');
    answer(at.script, [...TWO, 'DeviceGetTemperature 1 15']);
    await helper.shows('it goes on', `${FINE}- - - - - 17 0 0\n`);
  }
  t.equal(await helper.end(), 0);
  t.notMatch(helper.said().join('\n'), /GPU 0/);
  t.equal(helper.said().filter(line => line.startsWith('GPU 1')).length, 1);
});

t.test("--release with AMD's", async t => {
  const at = amdPlace(t);
  bus(at, { [FIRST]: amd(), [SECOND]: amd() });
  const helper = start(t, at, ['--interval', '100ms']);
  await until('there is a file', () => existsSync(at.file));
  t.equal(run(HELPER, [...at.args, '--release', '1h'], at.env).code, 0);
  t.match(at.text(), /^gpu 1 amd 2\n/);
  t.equal(await helper.end(), 0);
  t.match(helper.said().at(-1), /^AMD's GPUs are not read, as asked with --release$/);
});
