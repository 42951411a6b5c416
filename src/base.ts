// What the program and its verbs share in one process: errors that are shown in one line, and what happens to stdout.
// They load it from one file, because a second copy of these modules would have classes and variables of its own.

export * from './service/process.js';
export * from './text/ascii.js';
export * from './text/failure.js';
export * from './text/inputerror.js';
export * from './text/text.js';
