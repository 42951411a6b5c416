// The interface of the addon: types and documentation; the code is in c/.

export * from './board.js';
export * from './receiving.js';
export * from './relaying.js';
export * from './system.js';
