// Both senders with thousands of corrupt trees, others each time: see test/sender/csenderproperty.test.ts. Not part of
// `npm test`.
//   npm run test:long -- csenderproperty      SEED=n repeats a run, RUNS=n for each machine makes it shorter or longer

process.env.SEED ??= String(Date.now() % 1_000_000);
process.env.RUNS ??= '500';
await import('./csenderproperty.test.js');
