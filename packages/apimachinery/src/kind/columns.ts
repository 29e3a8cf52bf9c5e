/**
 * Printer columns of built-in kinds: cells that several kinds share, and human-readable ages.
 *
 * A built-in kind lists every column, including its name. A custom kind lists the columns its CRD adds; the server
 * prepends the name, and appends the age when no column is listed.
 */
import type { DeepReadonly } from "@flotilla/base";
import { formatAge } from "../text/age.ts";
import { formatLabelSelector } from "../labels.ts";
import type { LabelSelector } from "./facts/meta-v1.ts";
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
    format: options.format || undefined,
    priority: options.priority || undefined,
    value,
  };
}

export const nameColumn: Column = column("Name", ({ metadata }) => metadata.name, { format: "name" });
export const ageColumn: Column = column("Age", ({ metadata }, nowMs) => age(metadata.creationTimestamp, nowMs));
/** The column that kinds without columns of their own show besides the name. */
export const createdColumn: Column = column("Created At", ({ metadata }) => metadata.creationTimestamp ?? "", {
  type: "date",
});
export const wide = { priority: 1 } as const;

/** Time since a timestamp, `<unknown>` without one. */
export function age(timestamp: string | undefined, nowMs: number): string {
  if (!timestamp) return "<unknown>";
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? "<invalid>" : formatAge(nowMs - then);
}

/** A label selector in command-line syntax. */
export function selectorCell(selector: DeepReadonly<LabelSelector> | undefined): string {
  return (selector && formatLabelSelector(selector)) || "<none>";
}

/** Labels in command-line syntax, sorted by key. */
export function labelsCell(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(",") || "<none>";
}

/** Container names and images of a pod template, which workloads show in wide output. */
export function templateColumns<T extends KubernetesObject>(
  containersOf: (object: DeepReadonly<T>) => readonly { readonly name: string; readonly image?: string }[],
): Column[] {
  return [
    column<T>(
      "Containers",
      (object) =>
        containersOf(object)
          .map(({ name }) => name)
          .join(","),
      wide,
    ),
    column<T>(
      "Images",
      (object) =>
        containersOf(object)
          .map(({ image = "" }) => image)
          .join(","),
      wide,
    ),
  ];
}
