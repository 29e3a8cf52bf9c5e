/** Counts of observations in fixed buckets. The counts are in one typed array, so observing allocates nothing. */
import { formatLabels } from "./metrics-text.ts";
import type { Labels, MetricsText } from "./metrics-text.ts";

export class Histogram {
  readonly #bounds: readonly number[];
  /** One more than there are bounds: the last is the +Inf bucket. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  get isEmpty(): boolean {
    return this.#counts.every((count) => count === 0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  write(text: MetricsText, name: string, labels: Labels): void {
    this.writeWith(text, name, formatLabels(labels));
  }

  /** The same with labels that are already formatted. */
  writeWith(text: MetricsText, name: string, labels: string): void {
    const before = labels === "" ? "" : `${labels},`;
    let total = 0;
    for (const [index, le] of boundsOf(this.#bounds).entries()) {
      total += this.#counts[index] ?? 0;
      text.figure(`${name}_bucket`, `${before}${le}`, total);
    }
    text.figure(`${name}_sum`, labels, this.#sum);
    text.figure(`${name}_count`, labels, total);
  }
}

/** A metric has one list of bounds and thousands of series. */
const written = new WeakMap<readonly number[], readonly string[]>();

function boundsOf(bounds: readonly number[]): readonly string[] {
  let texts = written.get(bounds);
  if (!texts) written.set(bounds, (texts = [...bounds, undefined].map((bound) => `le="${formatBound(bound)}"`)));
  return texts;
}

/** Formatted as in Go, because queries match bounds by their text: `1e-06` where JavaScript has `0.000001`. */
function formatBound(bound: number | undefined): string {
  if (bound === undefined) return "+Inf";
  return bound > 0 && bound < 1e-4 ? bound.toExponential().replace(/e-(\d)$/, "e-0$1") : String(bound);
}
