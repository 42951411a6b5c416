// Runs a benchmark in its own network namespace, in which `inOwnNetwork` of processes.mjs starts it; prints its rows.
//   inside.mjs FILE NAME quick | long

const [, , file, name, length] = process.argv;
const { bench } = await import(file);
const say = text => console.error(`bench: ${name}: ${text}`);
console.log(JSON.stringify(await bench({ quick: length === 'quick', say })));
