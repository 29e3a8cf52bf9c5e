/**
 * Evaluates expressions over a few scrapes, as Prometheus does except for extrapolation: a rate is the increase between
 * the first and the last scrape of its window. A series missing from the latest scrape is absent.
 */
import { parseExpression } from "./promql-parser.ts";
import type { Expression, Matcher } from "./promql-parser.ts";
import type { ScrapedSample } from "./scrape.ts";

export interface TimedScrape {
  timeMs: number;
  samples: readonly ScrapedSample[];
}

export interface Point {
  labels: Readonly<Record<string, string>>;
  value: number;
}

type Vector = Point[];

/** The value of an expression at the last scrape; a number becomes a vector without labels. */
export function evaluate(text: string, scrapes: readonly TimedScrape[]): Vector {
  const value = valueOf(parseExpression(text), scrapes);
  return typeof value === "number" ? [{ labels: {}, value }] : value;
}

function valueOf(expression: Expression, scrapes: readonly TimedScrape[]): Vector | number {
  switch (expression.type) {
    case "number":
      return expression.value;
    case "selector":
      if (expression.rangeMs !== undefined) throw new Error(`${expression.name} has a range and no function around it`);
      return (scrapes.at(-1)?.samples ?? [])
        .filter((sample) => matches(sample, expression))
        .map(({ labels, value }) => ({ labels, value }));
    case "call":
      return expression.name === "histogram_quantile"
        ? quantile(expression.args, scrapes)
        : overRange(expression.name, expression.args[0], scrapes);
    case "aggregate":
      return aggregate(expression, vectorOf(expression.of, scrapes));
    default:
      return combine(expression, scrapes);
  }
}

function vectorOf(expression: Expression, scrapes: readonly TimedScrape[]): Vector {
  const value = valueOf(expression, scrapes);
  if (typeof value === "number") throw new Error("a number where a vector is wanted");
  return value;
}

function matches(sample: ScrapedSample, { name, matchers }: { name: string; matchers: readonly Matcher[] }): boolean {
  return sample.name === name && matchers.every((matcher) => fits(sample.labels[matcher.label] ?? "", matcher));
}

function fits(value: string, { op, value: wanted }: Matcher): boolean {
  if (op === "=" || op === "!=") return (value === wanted) === (op === "=");
  return new RegExp(`^(?:${wanted})$`).test(value) === (op === "=~");
}

function overRange(name: string, argument: Expression | undefined, scrapes: readonly TimedScrape[]): Vector {
  if (argument?.type !== "selector" || argument.rangeMs === undefined) throw new Error(`${name} wants a range`);
  const end = scrapes.at(-1)?.timeMs ?? 0;
  const inWindow = scrapes.filter(({ timeMs }) => timeMs >= end - (argument.rangeMs ?? 0));
  const series = new Map<string, { labels: Point["labels"]; points: { timeMs: number; value: number }[] }>();
  for (const { timeMs, samples } of inWindow) {
    for (const sample of samples) {
      if (!matches(sample, argument)) continue;
      const id = idOf(sample.labels);
      const known = series.get(id) ?? { labels: sample.labels, points: [] };
      known.points.push({ timeMs, value: sample.value });
      series.set(id, known);
    }
  }
  return [...series.values()].flatMap(({ labels, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (!first || !last || points.length < 2) return [];
    const steps = points.slice(1).map(({ value }, index) => ({ before: points[index]?.value ?? 0, value }));
    if (name === "changes") return [{ labels, value: steps.filter(({ before, value }) => before !== value).length }];
    // A counter that decreased was reset to zero.
    const increase = steps.reduce((sum, { before, value }) => sum + (value >= before ? value - before : value), 0);
    return [{ labels, value: name === "increase" ? increase : increase / ((last.timeMs - first.timeMs) / 1000) }];
  });
}

function aggregate({ op, by, without, parameter }: Extract<Expression, { type: "aggregate" }>, vector: Vector): Vector {
  if (op === "topk") return vector.toSorted((a, b) => b.value - a.value).slice(0, parameter);
  const groups = new Map<string, { labels: Record<string, string>; values: number[] }>();
  for (const { labels, value } of vector) {
    const kept = Object.fromEntries(Object.entries(labels).filter(([name]) => by.includes(name) !== Boolean(without)));
    const group = groups.get(idOf(kept)) ?? { labels: kept, values: [] };
    group.values.push(value);
    groups.set(idOf(kept), group);
  }
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const reduce = {
    sum: total,
    count: (values: readonly number[]) => values.length,
    avg: (values: readonly number[]) => total(values) / values.length,
    max: (values: readonly number[]) => Math.max(...values),
    min: (values: readonly number[]) => Math.min(...values),
  }[op];
  return [...groups.values()].map(({ labels, values }) => ({ labels, value: reduce(values) }));
}

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};
const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};

function combine(
  { op, left: leftSide, right: rightSide, on, ignoring = [] }: Extract<Expression, { type: "binary" }>,
  scrapes: readonly TimedScrape[],
): Vector | number {
  const [left, right] = [valueOf(leftSide, scrapes), valueOf(rightSide, scrapes)];
  const [compare, calculate] = [COMPARISONS[op], ARITHMETIC[op]];
  const kept = (labels: Point["labels"]): Record<string, string> =>
    Object.fromEntries(Object.entries(labels).filter(([name]) => (on ? on.includes(name) : !ignoring.includes(name))));
  if (typeof left === "number" && typeof right === "number") {
    if (!calculate) throw new Error(`${op} of two numbers`);
    return calculate(left, right);
  }
  const each = (point: Point, a: number, b: number): Vector =>
    compare ? (compare(a, b) ? [point] : []) : [{ ...point, value: calculate?.(a, b) ?? 0 }];
  if (typeof right === "number") return (left as Vector).flatMap((point) => each(point, point.value, right));
  if (typeof left === "number") return right.flatMap((point) => each(point, left, point.value));
  const others = new Map(right.map((point) => [idOf(kept(point.labels)), point]));
  if (op === "and" || op === "unless")
    return left.filter(({ labels }) => others.has(idOf(kept(labels))) === (op === "and"));
  if (op === "or")
    return [
      ...left,
      ...right.filter(({ labels }) => !left.some((point) => idOf(kept(point.labels)) === idOf(kept(labels)))),
    ];
  return left.flatMap((point) => {
    const other = others.get(idOf(kept(point.labels)));
    return other ? each(compare ? point : { labels: kept(point.labels), value: 0 }, point.value, other.value) : [];
  });
}

function quantile([share, of]: readonly Expression[], scrapes: readonly TimedScrape[]): Vector {
  if (share?.type !== "number" || !of) throw new Error("histogram_quantile wants a number and buckets");
  const histograms = new Map<string, { labels: Record<string, string>; buckets: { bound: number; count: number }[] }>();
  for (const { labels, value } of vectorOf(of, scrapes)) {
    const { le = "", ...rest } = labels;
    const histogram = histograms.get(idOf(rest)) ?? { labels: rest, buckets: [] };
    histogram.buckets.push({ bound: le === "+Inf" ? Infinity : Number(le), count: value });
    histograms.set(idOf(rest), histogram);
  }
  return [...histograms.values()].flatMap(({ labels, buckets }) => {
    buckets.sort((a, b) => a.bound - b.bound);
    const rank = share.value * (buckets.at(-1)?.count ?? 0);
    if (!(rank > 0)) return [];
    const index = buckets.findIndex(({ count }) => count >= rank);
    const [bucket, below] = [buckets[index], buckets[index - 1] ?? { bound: 0, count: 0 }];
    if (!bucket || bucket.bound === Infinity) return [{ labels, value: below.bound }];
    return [
      {
        labels,
        value: below.bound + ((bucket.bound - below.bound) * (rank - below.count)) / (bucket.count - below.count),
      },
    ];
  });
}

const idOf = (labels: Point["labels"]): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
