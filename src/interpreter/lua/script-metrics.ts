/** What is counted of a script's calls, for Prometheus. */
import { Histogram } from "../../base/index.ts";
import type { Labels, MetricsText } from "../../base/index.ts";
import type { ScriptOwner } from "./engine.ts";
import { LuaLimitError } from "./errors.ts";
import { LuaResultError } from "./operations.ts";

/** From a microsecond, which is a small script, to the second after which one is killed. */
const DURATION_SECONDS = [0.000_001, 0.000_005, 0.000_025, 0.000_1, 0.000_5, 0.002_5, 0.01, 0.05, 0.25, 1];

const REASONS = ["error", "limit", "result"] as const;
type Reason = (typeof REASONS)[number];

export class ScriptMetrics {
  readonly durations = new Histogram(DURATION_SECONDS);
  readonly failures: Record<Reason, number> = { error: 0, limit: 0, result: 0 };

  took(ms: number): void {
    this.durations.observe(ms / 1000);
  }

  failed(error: unknown): void {
    this.failures[reasonOf(error)] += 1;
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

const DURATION = "flotilla_interpreter_script_duration_seconds";
const FAILURES = "flotilla_interpreter_script_failures_total";
const QUARANTINED = "flotilla_interpreter_script_quarantined";

const labelsOf = ({ owner: { customization, operation } }: Measured): Labels => [["customization", customization], ["operation", operation]];

export function writeScriptMetrics(text: MetricsText, scripts: readonly Measured[]): void {
  text.family(DURATION, "histogram", "How long calls of a customization's script took.");
  for (const script of scripts) script.metrics.durations.write(text, DURATION, labelsOf(script));
  text.family(FAILURES, "counter", "Calls that failed: an error of the script, a limit that it reached, or a result that the operation cannot use.");
  for (const script of scripts) for (const reason of REASONS) text.sample(FAILURES, [...labelsOf(script), ["reason", reason]], script.metrics.failures[reason]);
  text.family(QUARANTINED, "gauge", "1 while a script runs outside the process because it reached its limits too often.");
  for (const script of scripts) text.sample(QUARANTINED, labelsOf(script), script.isQuarantined ? 1 : 0);
}
