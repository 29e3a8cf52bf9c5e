/**
 * What built-in kinds print: cells that several kinds share, and ages as people read them.
 *
 * A built-in kind lists every column, its name included. A custom kind lists what its definition adds; the server puts the
 * name in front, and the age behind when nothing is listed.
 */
import type { DeepReadonly, JsonObject } from "../base/index.ts";
import type { Column } from "./kind.ts";
import type { KubernetesObject } from "./meta.ts";

/** A column that is computed from an object of a known type. */
export function column<T extends KubernetesObject>(
  name: string,
  value: (object: DeepReadonly<T>, nowMs: number) => string | number | boolean | null,
  options: { type?: Column["type"]; format?: string; priority?: number } = {},
): Column {
  return {
    name,
    type: options.type ?? "string",
    ...(options.format && { format: options.format }),
    ...(options.priority && { priority: options.priority }),
    value: value as unknown as (object: DeepReadonly<JsonObject>, nowMs: number) => string | number | boolean | null,
  };
}

export const nameColumn: Column = column("Name", ({ metadata }) => metadata.name, { format: "name" });
export const ageColumn: Column = column("Age", ({ metadata }, nowMs) => age(metadata.creationTimestamp, nowMs));
export const wide = { priority: 1 } as const;

/** Time since a timestamp, `<unknown>` without one. */
export function age(timestamp: string | undefined, nowMs: number): string {
  if (!timestamp) return "<unknown>";
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? "<invalid>" : humanDuration(nowMs - then);
}

/** A span as kubectl prints it: two units at most, the smaller one left out as soon as it stops mattering. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return withRest(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (hours < 192) return withRest(Math.trunc(hours / 24), "d", hours % 24, "h");
  const days = Math.trunc(hours / 24);
  if (days < 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? withRest(years, "y", days % 365, "d") : `${years}y`;
}

function withRest(amount: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${amount}${unit}` : `${amount}${unit}${rest}${restUnit}`;
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

/** A label selector in the form in which it is typed on a command line. */
export function formatSelector(selector: Selector | undefined): string {
  if (!selector) return "<none>";
  const equals = Object.entries(selector.matchLabels ?? {}).map(([key, value]): [string, string] => [key, `${key}=${value}`]);
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }): [string, string] => {
    const set = `(${values.toSorted().join(",")})`;
    if (operator === "In") return [key, `${key} in ${set}`];
    if (operator === "NotIn") return [key, `${key} notin ${set}`];
    return [key, operator === "Exists" ? key : `!${key}`];
  });
  const terms = [...equals, ...expressions].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return terms.length === 0 ? "<none>" : terms.map(([, text]) => text).join(",");
}

/** Container names and images of a pod template, which workloads show in wide tables. */
export function templateColumns<T extends KubernetesObject>(containersOf: (object: DeepReadonly<T>) => readonly { readonly name: string; readonly image?: string }[]): Column[] {
  return [
    column<T>("Containers", (object) => containersOf(object).map(({ name }) => name).join(","), wide),
    column<T>("Images", (object) => containersOf(object).map(({ image = "" }) => image).join(","), wide),
  ];
}
