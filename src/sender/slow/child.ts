// The process in which slow sources are read; see serve.

import { refuseDebugger } from '../../service/process.js';
import { sources } from './index.js';
import { readArguments, serve } from './serve.js';
import { machineWorld, type SlowPlaces } from './slowworld.js';

refuseDebugger();
const { world: places, orders } = readArguments<Partial<SlowPlaces>>();
const world = machineWorld(places);
serve(sources, source => source.read(world), orders);
