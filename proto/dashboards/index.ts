// The dashboards for Grafana, as shipped files.

import type { Dashboard } from '@grafana/schema';
import { clusterDashboard } from './clusterboard.js';
import { monitorDashboard } from './monitorboard.js';
import { nodeDashboard } from './nodeboard.js';
import { powerDashboard } from './powerboard.js';

const FILES: Readonly<Record<string, Dashboard>> = {
  cluster: clusterDashboard,
  node: nodeDashboard,
  'gpu-power': powerDashboard,
  monitor: monitorDashboard,
};

/** The text of each file of packaging/grafana: path → text. */
export function dashboards(): [path: string, text: string][] {
  return Object.entries(FILES).map(([name, dashboard]) => [
    `packaging/grafana/${name}.json`,
    `${JSON.stringify(dashboard, undefined, 2)}\n`,
  ]);
}
