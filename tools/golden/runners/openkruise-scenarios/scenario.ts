/** The format of `openkruise-scenarios.jsonl`: actions in an empty namespace, and its state once it has settled. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Json, JsonObject } from "@flotilla/base";

export interface Scenario {
  name: string;
  /** `Name=true,Other=false`; all others have OpenKruise's defaults. */
  gates?: string;
  steps: Step[];
}

export interface Step {
  note?: string;
  /** Names for pods, each assigned to any matching pod without a name. */
  let?: Record<string, { labels?: Record<string, string>; image?: string }>;
  do: Action;
  /** The minimum number of seconds to wait. */
  wait?: number;
  want?: Outcome;
  wantAnyOf?: Outcome[];
  events?: string[];
  eventsSometimes?: string[];
  during?: During;
  order?: string[];
}

export interface Action {
  create?: KubernetesObject[];
  patch?: Patch | Patch[];
  delete?: Target | Target[];
  evict?: { name: string } | { name: string }[];
}

interface Target {
  kind: string;
  name: string;
}

export interface Patch extends Target {
  body: Json;
  type?: string;
  subresource?: string;
}

export interface Outcome {
  results?: Result[];
  objects?: JsonObject[];
  pods?: JsonObject[];
  events?: string[];
  eventsSometimes?: string[];
  during?: During;
  order?: string[];
}

export interface Result {
  code: number;
  reason?: string;
  message?: string;
}

export interface During {
  minReady: number;
  maxPods: number;
}

export const listOf = <T>(value: T | T[] | undefined): T[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** Fills the placeholder values of one run into a step. */
export function fillIn<T>(value: T, names: ReadonlyMap<string, string>): T {
  if (names.size === 0 || value === undefined) return value;
  // Placeholders only occur in strings, and the values are names, which need no escaping in JSON.
  return JSON.parse(
    JSON.stringify(value).replaceAll(/\{\{(\w+)\}\}/g, (text, name: string) => names.get(name) ?? text),
  ) as T;
}
