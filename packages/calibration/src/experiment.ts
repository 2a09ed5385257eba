/**
 * One measured row as a model sees it: what was measured, and a prediction as a function of parameters.
 * The one idea: readers turn every published table into the same thing, so one fit and one score serve all.
 */

/** A number that is fitted. Positive ones are fitted by their logarithm, so that they stay positive. */
export interface Parameter {
  readonly name: string;
  /** Where a fit starts, and what stands when the rows say nothing about it. */
  readonly start: number;
  readonly min: number;
  readonly max: number;
}

/** A way to predict, with few parameters that each have a physical meaning. */
export interface TimeModel {
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
}

/** How a reader sees a measured value, before it is placed in its table. */
export interface RowModel {
  /** The profile that speaks for it: system and kernel, "h100/low-latency-dispatch". */
  readonly profile: string;
  readonly model: TimeModel;
  /** Groups that may be left out as a whole, the coarsest first: "ep 32", "hidden 7168". */
  readonly groups: readonly string[];
  /** Where the row lies beside its groups: rows per expert, experts per rank, their shape. */
  readonly spans?: Readonly<Record<string, number>>;
  /** What a reader of the worst rows needs to find it. */
  readonly label: string;
  /** Nanoseconds, or bytes per second where only a bandwidth was published. */
  readonly measured: number;
  /** The same quantity predicted; values stand in the order of the model's parameters. */
  predict(values: readonly number[]): number;
}

export interface Experiment extends RowModel {
  /** Line of the table; a line may hold several measured values. */
  readonly line: number;
}

export interface SkippedValues {
  readonly reason: string;
  /** Measured values, of which a line of a table may hold several. */
  readonly values: number;
}

export interface TableReading {
  readonly experiments: readonly Experiment[];
  readonly skipped: readonly SkippedValues[];
}

/** Values of a record in the order of a model's parameters; what the record lacks starts where a fit would. */
export function valuesFor(model: TimeModel, record: Readonly<Record<string, number>>): number[] {
  return model.parameters.map((parameter) => record[parameter.name] ?? parameter.start);
}

export function recordOf(model: TimeModel, values: readonly number[]): Record<string, number> {
  return Object.fromEntries(model.parameters.map((parameter, i) => [parameter.name, values[i] as number]));
}

/** Smallest and largest number of each kind of group and span: { ep: [8, 32], tokens: [1, 1024] }. */
export function rangeOf(experiments: readonly Experiment[]): Record<string, readonly [number, number]> {
  const range: Record<string, readonly [number, number]> = {};
  const widen = (kind: string, value: number) => {
    const [low, high] = range[kind] ?? [value, value];
    range[kind] = [Math.min(low, value), Math.max(high, value)];
  };
  for (const { groups, spans = {} } of experiments) {
    for (const [kind, value] of Object.entries(spans)) widen(kind, value);
    for (const group of groups) {
      const [, kind = '', text = ''] = /^(\S+) (\S+)$/.exec(group) ?? [];
      const value = Number(text);
      if (kind !== '' && !Number.isNaN(value)) widen(kind, value);
    }
  }
  return range;
}

/** A function that keeps its last result: for work that is the same for every row of a table. */
export function rememberLast<In extends object, Out>(make: (input: In) => Out): (input: In) => Out {
  let last: { input: In; output: Out } | null = null;
  return (input) => {
    if (last === null || last.input !== input) last = { input, output: make(input) };
    return last.output;
  };
}
