// Text in a width: what a terminal shows of letters of all kinds, where lines end, and how tables fit.
//
// @seconds 1

import t from 'tap';
import { cutTo, inLines, padded, separated, tableLines, widthOf, wrapped } from '../../src/text/layout.js';

t.test('what a text takes of a line', async t => {
  for (const [text, columns] of [
    ['', 0],
    ['node001', 7],
    ['ä é', 3],
    ['e\u0301', 1],
    ['… × °C', 6],
    ['▁▂▃█', 4],
    ['日本', 4],
    ['한국어', 6],
    ['\u1112\u1161\u11ab', 2],
    ['か\u3099', 2],
    ['\u1112\ud7b0\ud7cb', 2],
    ['🈯🈂', 4],
    ['ＡＢ', 4],
    ['ｱｲ', 2],
    ['ไทย', 3],
    ['😀', 2],
    ['❤', 1],
    ['❤\ufe0f', 2],
    ['🇩🇪', 2],
    ['𠀀', 2],
    ['\x1b[31mab\x1b[39m', 2],
    ['\x1b[31m日\x1b[39m', 2],
  ] as const)
    t.equal(widthOf(text), columns, JSON.stringify(text));
});

t.test('cut and padded to columns', async t => {
  t.equal(cutTo('node日本語', 20), 'node日本語');
  t.equal(cutTo('日本語日本語', 12), '日本語日本語');
  t.equal(cutTo('日本語日本語', 8), '日…本語');
  t.equal(cutTo(`${'e\u0301'.repeat(9)}`, 4), 'e\u0301…e\u0301e\u0301', 'a letter with its mark');
  t.equal(padded('日本', 6), '日本  ');
  t.equal(padded('日本', 3), '日本');
  for (let most = 3; most < 24; most++)
    for (const text of ['日本語のノード名前です', 'aé日e\u0301😀b日本\\u{1b}xy', 'node017.rack03.example'])
      t.ok(widthOf(cutTo(text, most)) <= most, `${text} in ${most}`);
});

t.test('lines', async t => {
  t.same(wrapped('one two three', 7), ['one two', 'three']);
  t.same(wrapped('one two three', 7, '  '), ['one two', '  three']);
  t.same(wrapped('日本 日本', 8), ['日本', '日本']);
  t.same(wrapped('down: a1,a2,a3 now', 8), ['down:', 'a1,a2,a3', 'now']);
  t.same(wrapped('down: n[1,3,5,7] now', 8), ['down:', 'n[1,3,5,', '7] now'], 'a list is broken at its commas');
  t.same(wrapped('longerthanthat x', 4), ['long', 'erth', 'anth', 'at x'], 'a word anywhere');
  t.same(wrapped('ab 日本語の名前', 6, '  '), ['ab', '  日本', '  語の', '  名前'], 'between its letters');
  t.same(wrapped('\\u{1b}\\u{1b}', 9), ['\\u{1b}', '\\u{1b}'], 'and never within one');
  t.same(inLines(separated(['a1', 'b2', 'c3'], ','), 6), ['a1,b2,', 'c3']);
  t.same(inLines([], 6), []);
});

interface Row {
  readonly id: string;
  readonly who: string;
  readonly load?: number;
}
const ROWS: readonly Row[] = [
  { id: '7', who: '日本', load: 1 },
  { id: '1234', who: 'anna' },
];
const COLUMNS = [
  { title: 'ID', text: ({ id }: Row) => id },
  { title: 'WHO', isLeft: true, text: ({ who }: Row) => who, shrinks: 6 },
  { title: 'LOAD', text: ({ load }: Row) => load?.toFixed(2), leaves: 1 },
  { title: 'GPU', text: () => undefined, leaves: 2 },
];

t.test('tables', async t => {
  t.same(tableLines(COLUMNS, ROWS), ['  ID  WHO   LOAD  GPU', '   7  日本  1.00    -', '1234  anna     -    -']);
  t.same(tableLines(COLUMNS, ROWS, 16), ['  ID  WHO   LOAD', '   7  日本  1.00', '1234  anna     -'], 'what is known');
  t.same(tableLines(COLUMNS, ROWS, 15), ['  ID  WHO', '   7  日本', '1234  anna'], 'as far as there is room');
  const long = [...ROWS, { id: '8', who: 'x'.repeat(40) }];
  t.same(
    tableLines(COLUMNS, long, 20),
    ['  ID  WHO       LOAD', '   7  日本      1.00', '1234  anna         -', '   8  xx…xxxxx     -'],
    'one long name is cut, and moves no column',
  );
  const wide = tableLines(
    [
      { title: 'N', text: () => 'x'.repeat(30) },
      { title: 'M', text: () => 'y' },
    ],
    [0],
    12,
  );
  t.same(wide, ['        N  M', 'xx…xxxxxx  y'], 'also one that is aligned right, where nothing else gives');
  for (let width = 16; width < 60; width++)
    for (const line of tableLines(COLUMNS, long, width)) t.ok(widthOf(line) <= width, `${width}: ${line}`);
});
