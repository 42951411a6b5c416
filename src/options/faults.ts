// What can be wrong with a simulated node: values of `load --odd`, for the table of options and the simulation.

export const FAULTS = ['clock', 'gpu_power', 'link', 'swapping', 'gpu_gone', 'neighbour'] as const;
