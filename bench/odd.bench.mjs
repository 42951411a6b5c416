// Whether the judge of jobs marks nodes of jobs in which nothing is wrong, and finds what is wrong. A run adds a part to
// odd.jsonl (--quick: one minute, else thirty) and tells the sum of all parts of the present sources, however often it
// was run.

import { isFoundSoon, measure, sums, upper95 } from './odd.mjs';

export async function bench({ quick, say }) {
  measure({ minutes: quick ? 1 : 30, say });
  return sums().flatMap(({ kind, size, hours, marks, faults }) => {
    const of = `${kind}, ${size} nodes`;
    const per = count => [(1000 * count) / hours];
    const told =
      hours === 0
        ? []
        : [
            { figure: `${of}: job-hours`, unit: 'h', samples: [hours] },
            { figure: `${of}: false marks per 1,000 job-hours`, unit: '', samples: per(marks), bound: 1 },
            { figure: `${of}: the same, upper 95 % bound`, unit: '', samples: per(upper95(marks)) },
          ];
    const found = Object.entries(faults).map(([fault, { found, times }]) => ({
      ...{ figure: `${of}: ${fault} found in time`, unit: '%', samples: [(100 * found) / times] },
      ...(isFoundSoon(kind, fault.split(' ')[0]) && { atLeast: 95 }),
    }));
    return [...told, ...found];
  });
}
