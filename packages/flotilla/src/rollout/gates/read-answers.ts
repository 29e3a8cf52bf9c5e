/** What the answers of metric and webhook gates mean. Pure. */
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { GateSpec } from "../kinds/strategy-fields.ts";
import { GateError } from "./ask-http.ts";

export interface Verdict {
  readonly state: "Open" | "Closed" | "Failed";
  readonly value?: string;
  readonly message?: string;
  /** The answer counts towards the failure limit. */
  readonly isFailure: boolean;
}

const MAX_TEXT = 200;

/** The first value of an instant query. */
export function readMetric(text: string, { min, max }: DeepReadonly<NonNullable<GateSpec["metric"]>>): Verdict {
  const value = valueIn(parse(text));
  const shown = String(value);
  if (!Number.isFinite(value))
    return { state: "Closed", value: shown, message: "the result is not a number", isFailure: true };
  if (max !== undefined && value > Number(max))
    return { state: "Closed", value: shown, message: `more than ${max}`, isFailure: true };
  if (min !== undefined && value < Number(min))
    return { state: "Closed", value: shown, message: `less than ${min}`, isFailure: true };
  return { state: "Open", value: shown, isFailure: false };
}

function valueIn(answer: unknown): number {
  if (!isObject(answer) || answer["status"] !== "success" || !isObject(answer["data"]))
    throw new GateError("the answer is not one of the Prometheus API");
  const { resultType, result } = answer["data"];
  if (resultType === "scalar" && Array.isArray(result)) return Number(result[1]);
  if (resultType !== "vector" || !Array.isArray(result))
    throw new GateError(`the query returns a ${JSON.stringify(resultType)}; it must return a scalar or a vector`);
  const [first, ...others] = result as unknown[];
  if (first === undefined) throw new GateError("the query returns no value");
  if (others.length > 0) throw new GateError(`the query returns ${result.length} values; aggregate them to one`);
  const pair = isObject(first) ? first["value"] : undefined;
  if (!Array.isArray(pair)) throw new GateError("the query returns no value");
  return Number(pair[1]);
}

export function readWebhook(text: string): Verdict {
  const answer = parse(text);
  if (!isObject(answer) || (typeof answer["open"] !== "boolean" && answer["failed"] !== true))
    throw new GateError('the answer has neither "open" nor "failed"');
  const { message } = answer;
  const said = typeof message === "string" ? message.slice(0, MAX_TEXT) : undefined;
  if (answer["failed"] === true)
    return { state: "Failed", message: said ?? "the service says that it failed", isFailure: true };
  if (answer["open"] === true)
    return said === undefined
      ? { state: "Open", isFailure: false }
      : { state: "Open", message: said, isFailure: false };
  return { state: "Closed", message: said ?? "the service keeps it closed", isFailure: false };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new GateError("the answer is not JSON", { cause: error });
  }
}

/** The query with the names of the release, quoted for use inside a PromQL string. */
export function fillQuery(query: string, names: Readonly<Record<string, string>>): string {
  return query.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => {
    const value = names[name];
    return value === undefined ? whole : value.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  });
}
