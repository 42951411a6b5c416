// Loaded before a test by scripts/test.mjs: at the end of the process, the CPU time of it and of all it has waited for,
// as a comment of TAP.

const { readFileSync, writeSync } = require('node:fs');

/** Ticks of /proc/PID/stat in a second. */
const HZ = 100;

/** User and system time of this process and of the children that it has waited for, and of theirs, s. */
function cpu() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The second field is a name in parentheses; these are the 14th to the 17th.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return fields.reduce((sum, ticks) => sum + Number(ticks), 0) / HZ;
}

module.exports = { cpu };

// Not in processes that a test forks: these inherit the arguments of node.
if (process.argv[1]?.endsWith('.test.js')) process.on('exit', () => writeSync(1, `# cost: ${cpu().toFixed(2)} s\n`));
