/** Per-script call metrics, for Prometheus. */
import { Histogram } from "@flotilla/base";
import type { Labels, Metric, MetricsText } from "@flotilla/base";
import type { ScriptOwner } from "./script-owner.ts";
import { LuaLimitError } from "@flotilla/lua";
import { LuaResultError } from "./operations.ts";

/** From a microsecond, the duration of a small script, to the second after which a script is killed. */
const DURATION_SECONDS = [0.000_001, 0.000_005, 0.000_025, 0.000_1, 0.000_5, 0.002_5, 0.01, 0.05, 0.25, 1];

const REASONS = ["error", "limit", "result"] as const;
type Reason = (typeof REASONS)[number];

export class ScriptMetrics {
  readonly durations = new Histogram(DURATION_SECONDS);
  readonly failures: Record<Reason, number> = { error: 0, limit: 0, result: 0 };

  /** The last call failed. */
  isFailing = false;
  #hasFailed = false;

  /** Records a finished call; for a failed call, `failed` was called before. */
  took(ms: number): void {
    this.durations.observe(ms / 1000);
    this.isFailing = this.#hasFailed;
    this.#hasFailed = false;
  }

  failed(error: unknown): void {
    this.failures[reasonOf(error)] += 1;
    this.#hasFailed = true;
  }
}

function reasonOf(error: unknown): Reason {
  if (error instanceof LuaLimitError) return "limit";
  return error instanceof LuaResultError ? "result" : "error";
}

interface Measured {
  readonly owner: ScriptOwner;
  readonly metrics: ScriptMetrics;
  readonly isQuarantined: boolean;
}

const DURATION: Metric = {
  name: "flotilla_interpreter_script_duration_seconds",
  type: "histogram",
  help: "Duration of calls of a customization's script.",
  labels: ["customization", "operation"],
  buckets: DURATION_SECONDS,
};
const FAILURES: Metric = {
  name: "flotilla_interpreter_script_failures_total",
  type: "counter",
  help: "Failed calls: a script error, an exceeded limit, or an invalid result.",
  labels: ["customization", "operation", "reason"],
};
const QUARANTINED: Metric = {
  name: "flotilla_interpreter_script_quarantined",
  type: "gauge",
  help: "1 while a script runs outside the process because it exceeded its limits repeatedly.",
  labels: ["customization", "operation"],
};

/** A counter that first appears with its first failure shows no increase, and a failed call may never be repeated. */
const FAILING: Metric = {
  name: "flotilla_interpreter_script_failing",
  type: "gauge",
  help: "1 if the last call of a script failed.",
  labels: ["customization", "operation"],
};

export const scriptMetrics: readonly Metric[] = [DURATION, FAILURES, FAILING, QUARANTINED];

const labelsOf = ({ owner: { customization, operation } }: Measured): Labels => [
  ["customization", customization],
  ["operation", operation],
];

export function writeScriptMetrics(text: MetricsText, scripts: readonly Measured[]): void {
  text.family(DURATION);
  for (const script of scripts) script.metrics.durations.write(text, DURATION.name, labelsOf(script));
  text.family(FAILURES);
  for (const script of scripts)
    for (const reason of REASONS)
      text.sample(FAILURES.name, [...labelsOf(script), ["reason", reason]], script.metrics.failures[reason]);
  text.family(FAILING);
  for (const script of scripts) text.sample(FAILING.name, labelsOf(script), script.metrics.isFailing ? 1 : 0);
  text.family(QUARANTINED);
  for (const script of scripts) text.sample(QUARANTINED.name, labelsOf(script), script.isQuarantined ? 1 : 0);
}
