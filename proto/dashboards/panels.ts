// The building blocks of our dashboards: panels, rows and variables, in the format that Grafana 9 and later import.
// Knows Grafana and Prometheus, and nothing of a cluster. Checks nothing: TypeScript and test/prometheus/dashboards.test.ts
// find mistakes.

import {
  BarGaugeDisplayMode,
  BarGaugeNamePlacement,
  BarGaugeSizing,
  BarGaugeValueMode,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueJustifyMode,
  BigValueTextMode,
  type Dashboard,
  DashboardCursorSync,
  type DataQuery,
  type DataSourceRef,
  type DataTransformerConfig,
  FieldColorModeId,
  type FieldConfig,
  type FieldConfigSource,
  type GraphFieldConfig,
  LegendDisplayMode,
  LineInterpolation,
  MappingType,
  type Panel,
  PercentChangeColorMode,
  type RowPanel,
  SortOrder,
  StackingMode,
  type TableFieldOptions,
  type TableOptions,
  type Threshold,
  ThresholdsMode,
  TooltipDisplayMode,
  type ValueMapping,
  VariableHide,
  type VariableModel,
  VariableRefresh,
  VariableSort,
  VisibilityMode,
  VizOrientation,
} from '@grafana/schema';
import type { Options as BarOptions } from '@grafana/schema/dist/esm/raw/composable/bargauge/panelcfg/x/BarGaugePanelCfg_types.gen';
import type { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type {
  FieldConfig as TimelineFieldConfig,
  Options as TimelineOptions,
} from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen';
import type { Options as LineOptions } from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

/** Our colours: Grafana has a dark and a light variant of each name. */
export type Colour = 'green' | 'yellow' | 'orange' | 'red' | 'blue' | 'purple' | 'text';

/** Our units, by Grafana's names. */
type Unit =
  | 'short'
  | 'none'
  | 's'
  | 'bytes'
  | 'Bps'
  | 'pps'
  | 'iops'
  | 'reqps'
  | 'ops'
  | 'cps'
  | 'percentunit'
  | 'watt'
  | 'celsius'
  | 'dateTimeFromNow';

/** A Prometheus query. */
export interface Query {
  readonly expr: string;
  /** The legend of its series: a text with {{label}} in it. */
  readonly legend?: string;
}

/** The query as Grafana sends it to Prometheus. The schema's package has no type for it. */
interface Target extends DataQuery {
  datasource: DataSourceRef;
  expr: string;
  legendFormat: string;
  instant: boolean;
  range: boolean;
  format: 'time_series' | 'table';
}

/** What all panels have in common. */
export interface Common {
  readonly title: string;
  /** The meaning of the number, and what it does not mean. */
  readonly description: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** In columns; a dashboard has 24. */
  readonly width: number;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  /** From the first number on, the second colour, and so on; below it, the first. Without it there is no judgement. */
  readonly steps?: readonly [Colour, ...[from: number, colour: Colour][]];
  /** Words for numbers. */
  readonly words?: Readonly<Record<number, readonly [text: string, colour: Colour]>>;
  /** The text in place of "No data". */
  readonly none?: string;
  /** Series with fixed colours, by their names. */
  readonly colours?: Readonly<Record<string, Colour>>;
}

/** A panel without its place. */
export interface Placed {
  readonly width: number;
  readonly panel: Panel;
}

interface Row {
  readonly title: string;
  /** In Grafana's steps of 30 pixels. */
  readonly height: number;
  readonly panels: readonly Placed[];
  /** It sends no query until somebody opens it. */
  readonly collapsed?: boolean;
}

const SOURCE: DataSourceRef = { type: 'prometheus', uid: `\${datasource}` };
/** The tag of all our dashboards, by which they link to each other. */
const TAG = 'beoboard';

function targets(queries: readonly Query[], how: 'now' | 'over time' | 'table'): Target[] {
  return queries.map(({ expr, legend = '' }, i) => ({
    refId: String.fromCharCode(65 + i),
    datasource: SOURCE,
    expr,
    legendFormat: legend,
    instant: how !== 'over time',
    range: how === 'over time',
    format: how === 'table' ? 'table' : 'time_series',
  }));
}

function mappings(words: Common['words']): ValueMapping[] {
  if (words === undefined) return [];
  const options = Object.entries(words).map(
    ([value, [text, color]], index) => [value, { text, color, index }] as const,
  );
  return [{ type: MappingType.ValueToText, options: Object.fromEntries(options) }];
}

function thresholds(steps: Common['steps'] = ['text']): { mode: ThresholdsMode; steps: Threshold[] } {
  const [color, ...above] = steps;
  return {
    mode: ThresholdsMode.Absolute,
    steps: [{ color, value: null }, ...above.map(([value, color]) => ({ color, value }))],
  };
}

function fields<T extends object>(common: Common, mode: FieldColorModeId, custom: T): FieldConfigSource<T> {
  const { unit, decimals, min, max, steps, words, none, colours = {} } = common;
  const defaults: FieldConfig<T> = {
    unit,
    ...(decimals !== undefined && { decimals }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(none !== undefined && { noValue: none }),
    color: { mode },
    mappings: mappings(words),
    thresholds: thresholds(steps),
    custom: custom as T & Record<string, unknown>,
  };
  const overrides = Object.entries(colours).map(([name, fixedColor]) => ({
    matcher: { id: 'byName', options: name },
    properties: [{ id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor } }],
  }));
  return { defaults, overrides };
}

function place(
  type: string,
  common: Common,
  how: Parameters<typeof targets>[1],
  fieldConfig: FieldConfigSource<object>,
  options: object,
  transformations: DataTransformerConfig[] = [],
): Placed {
  const { width, title, description, queries } = common;
  return {
    width,
    panel: {
      type,
      title,
      description,
      datasource: SOURCE,
      targets: targets(queries, how).map(target => ({ ...target })),
      fieldConfig: fieldConfig as NonNullable<Panel['fieldConfig']>,
      options: { ...options },
      ...(transformations.length > 0 && { transformations }),
    },
  };
}

const LAST = { values: false, calcs: ['lastNotNull'], fields: '' };
const TOOLTIP = { mode: TooltipDisplayMode.Multi, sort: SortOrder.Descending };

/** Current numbers, in large letters. */
export function stat(common: Common, more: { background?: boolean } = {}): Placed {
  const { background = false } = more;
  const options: StatOptions = {
    reduceOptions: LAST,
    orientation: VizOrientation.Auto,
    textMode: common.queries.some(({ legend }) => legend !== undefined)
      ? BigValueTextMode.ValueAndName
      : BigValueTextMode.Value,
    colorMode: background ? BigValueColorMode.Background : BigValueColorMode.Value,
    graphMode: BigValueGraphMode.None,
    justifyMode: BigValueJustifyMode.Auto,
    percentChangeColorMode: PercentChangeColorMode.Standard,
    showPercentChange: false,
    wideLayout: true,
  };
  const config = fields(common, FieldColorModeId.Thresholds, {});
  return place('stat', common, 'now', config, options);
}

/** Lines over time; `stacked`: bands on top of each other, in the order of the queries. */
export function lines(common: Common, more: { stacked?: boolean; steps?: boolean } = {}): Placed {
  const { stacked = false, steps = false } = more;
  const custom: GraphFieldConfig = {
    lineWidth: 1,
    fillOpacity: stacked ? 70 : 10,
    showPoints: VisibilityMode.Never,
    lineInterpolation: steps ? LineInterpolation.StepAfter : LineInterpolation.Linear,
    // A gap stays a gap: nobody knows the values of that time.
    spanNulls: false,
    stacking: { mode: stacked ? StackingMode.Normal : StackingMode.None, group: 'A' },
    axisSoftMin: 0,
  };
  const options: LineOptions = {
    legend: { displayMode: LegendDisplayMode.List, placement: 'bottom', showLegend: true, calcs: [] },
    tooltip: TOOLTIP,
  };
  return place('timeseries', common, 'over time', fields(common, FieldColorModeId.PaletteClassic, custom), options);
}

/** The largest values of a list, as bars, now. */
export function bars(common: Common): Placed {
  const options: BarOptions = {
    reduceOptions: LAST,
    orientation: VizOrientation.Horizontal,
    displayMode: BarGaugeDisplayMode.Basic,
    valueMode: BarGaugeValueMode.Color,
    namePlacement: BarGaugeNamePlacement.Auto,
    showUnfilled: true,
    sizing: BarGaugeSizing.Auto,
    minVizWidth: 8,
    minVizHeight: 16,
    maxVizHeight: 300,
    legend: { displayMode: LegendDisplayMode.List, placement: 'bottom', showLegend: false, calcs: [] },
  };
  return place('bargauge', common, 'now', fields(common, FieldColorModeId.Thresholds, {}), options);
}

/** States over time, as a ribbon. */
export function timeline(common: Common): Placed {
  const custom: TimelineFieldConfig = { fillOpacity: 80, lineWidth: 0 };
  const options: TimelineOptions = {
    alignValue: 'left',
    mergeValues: true,
    rowHeight: 0.9,
    showValue: VisibilityMode.Auto,
    legend: { displayMode: LegendDisplayMode.List, placement: 'bottom', showLegend: true, calcs: [] },
    tooltip: TOOLTIP,
  };
  return place('state-timeline', common, 'over time', fields(common, FieldColorModeId.Thresholds, custom), options);
}

/** A column of a table: a label, or the values of a query. */
interface Column {
  /** The label's name, or the query's letter. */
  readonly of: string;
  readonly name: string;
  readonly unit?: Unit;
  readonly words?: Common['words'];
  readonly steps?: Common['steps'];
  readonly decimals?: number;
  /** The target of a click: a dashboard of ours, and its subject. */
  readonly to?: string;
}

/** A table of the present values; one row for each set of labels that the queries have in common, sorted by `sort`. */
export function table(common: Common, columns: readonly Column[], sort?: string): Placed {
  const custom: Partial<TableFieldOptions> = { align: 'auto', inspect: false };
  const config = fields(common, FieldColorModeId.Thresholds, custom);
  const one = common.queries.length === 1;
  /** Grafana calls the values of a single query Value, those of several Value #A and so on. */
  const given = (of: string) => (/^[A-Z]$/.test(of) ? (one ? 'Value' : `Value #${of}`) : of);
  for (const { name, unit, words, steps, decimals, to } of columns) {
    const properties = [
      ...(unit === undefined ? [] : [{ id: 'unit', value: unit }]),
      ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
      ...(words === undefined ? [] : [{ id: 'mappings', value: mappings(words) }]),
      ...(steps === undefined ? [] : [{ id: 'thresholds', value: thresholds(steps) }]),
      ...(words === undefined && steps === undefined
        ? []
        : [{ id: 'custom.cellOptions', value: { type: 'color-text' } }]),
      ...(to === undefined ? [] : [{ id: 'links', value: [{ title: `Open ${name}`, url: to, targetBlank: false }] }]),
    ];
    if (properties.length > 0) config.overrides.push({ matcher: { id: 'byName', options: name }, properties });
  }
  const options: TableOptions = {
    frameIndex: 0,
    showHeader: true,
    ...(sort !== undefined && { sortBy: [{ displayName: sort, desc: true }] }),
  };
  const transformations: DataTransformerConfig[] = [
    ...(one ? [] : [{ id: 'merge', options: {} }]),
    // Only the named columns: Grafana 9 shows every other label, too.
    { id: 'filterFieldsByName', options: { include: { names: columns.map(({ of }) => given(of)) } } },
    {
      id: 'organize',
      options: {
        excludeByName: {},
        indexByName: Object.fromEntries(columns.map(({ of }, i) => [given(of), i])),
        renameByName: Object.fromEntries(columns.map(({ of, name }) => [given(of), name])),
      },
    },
  ];
  return place('table', common, 'table', config, options, transformations);
}

/** A variable whose values come from Prometheus: one of them, several, or several and an entry for all. */
export function labelValues(
  name: string,
  label: string,
  description: string,
  query: string,
  more: { several: boolean; all?: string },
): VariableModel {
  const all = { selected: true, text: ['All'], value: ['$__all'] };
  return {
    type: 'query',
    name,
    label,
    description,
    datasource: SOURCE,
    query: { query, refId: name },
    refresh: VariableRefresh.onTimeRangeChanged,
    sort: VariableSort.alphabeticalAsc,
    regex: '',
    hide: VariableHide.dontHide,
    skipUrlSync: false,
    multi: more.several,
    includeAll: more.several,
    ...(more.several && { current: all }),
    ...(more.all !== undefined && { allValue: more.all }),
    options: [],
  };
}

/** A variable that the user types. */
export function typed(name: string, label: string, description: string, value: string): VariableModel {
  const option = { selected: true, text: value, value };
  return {
    type: 'textbox',
    name,
    label,
    description,
    query: value,
    current: option,
    options: [option],
    skipUrlSync: false,
  };
}

const CHOSEN_SOURCE: VariableModel = {
  type: 'datasource',
  name: 'datasource',
  label: 'Prometheus',
  description: 'The Prometheus that scrapes `beoboard prometheus`.',
  query: 'prometheus',
  refresh: VariableRefresh.onDashboardLoad,
  regex: '',
  hide: VariableHide.dontHide,
  skipUrlSync: false,
  multi: false,
  includeAll: false,
  options: [],
};

/** To the other dashboards, with the chosen variables and time. */
const LINKS: NonNullable<Dashboard['links']> = [
  {
    type: 'dashboards',
    title: 'beoboard',
    tags: [TAG],
    asDropdown: false,
    icon: 'external link',
    includeVars: true,
    keepTime: true,
    targetBlank: false,
    tooltip: '',
    url: '',
  },
];

/** The panels from left to right in their rows, numbered in this order. `points`: as for `dashboard`. */
function placed(rows: readonly Row[], points: number | undefined): (Panel | RowPanel)[] {
  let id = 0;
  let y = 0;
  return rows.flatMap(({ title, height, panels, collapsed = false }) => {
    const row: RowPanel = {
      type: 'row',
      id: ++id,
      title,
      collapsed,
      gridPos: { x: 0, y: y++, w: 24, h: 1 },
      panels: [],
    };
    let x = 0;
    const inside = panels.map(({ width, panel }): Panel => {
      if (x + width > 24) {
        x = 0;
        y += height;
      }
      const gridPos = { x, y, w: width, h: height };
      x += width;
      const asked = points !== undefined && panel.type === 'timeseries' && { maxDataPoints: points };
      return { id: ++id, gridPos, ...panel, ...asked };
    });
    y += height;
    // The panels of a closed row are inside it, those of an open row follow it.
    return collapsed ? [{ ...row, panels: inside }] : [row, ...inside];
  });
}

/**
 * A whole dashboard. `points`: the maximum number of points for queries over time in which each point is computed from
 * all nodes.
 */
export function dashboard(
  head: { uid: string; title: string; description: string },
  variables: readonly VariableModel[],
  rows: readonly Row[],
  points?: number,
): Dashboard {
  return {
    id: null,
    ...head,
    tags: [TAG],
    schemaVersion: 39,
    version: 1,
    editable: true,
    timezone: 'browser',
    refresh: '15s',
    time: { from: 'now-3h', to: 'now' },
    graphTooltip: DashboardCursorSync.Crosshair,
    annotations: { list: [] },
    links: LINKS,
    templating: { list: [CHOSEN_SOURCE, ...variables] },
    panels: placed(rows, points),
  };
}
