/**
 * What kruise-state-metrics tells of an OpenKruise object: families of samples, one function each from the object to
 * its samples. Objects are read as JSON, because members are of different ages and need not have every field.
 */
import type { Kind, KubernetesObject } from "../../api/index.ts";
import { gauge, isObject } from "../../base/index.ts";
import type { DeepReadonly, Metric } from "../../base/index.ts";

/** Labels beyond the object's own, and the value. */
export type Sample = readonly [labels: readonly string[], value: number];
export type Fields = Readonly<Record<string, unknown>>;

export interface StateView {
  readonly metadata: DeepReadonly<KubernetesObject>["metadata"];
  readonly spec: Fields;
  readonly status: Fields;
}

export interface StateFamily {
  readonly metric: Metric;
  samplesOf(view: StateView): readonly Sample[];
}

export interface StateKind {
  readonly kind: Kind;
  /** The label that carries an object's name. */
  readonly label: string;
  readonly families: readonly StateFamily[];
}

export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);
export const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

export function viewOf(object: DeepReadonly<KubernetesObject>): StateView {
  const { spec, status } = object as { readonly spec?: unknown; readonly status?: unknown };
  return { metadata: object.metadata, spec: fieldsOf(spec), status: fieldsOf(status) };
}

/** A number or a part of the whole, as Kubernetes reads it; nothing where it cannot be read. */
export function shareOf(value: unknown, total: number, round: (share: number) => number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d{1,6})%$/.exec(textOf(value))?.[1];
  return percent === undefined ? 0 : round((Number(percent) * total) / 100);
}

/** The families of one kind: each is named after it, and has its namespace and name for labels. */
export function familiesOf(kind: string): {
  family(name: string, help: string, samplesOf: StateFamily["samplesOf"], ...labels: string[]): StateFamily;
  figure(name: string, help: string, valueOf: (view: StateView) => number): StateFamily;
  created: StateFamily;
  labels: StateFamily;
  annotations: StateFamily;
  conditions(): StateFamily;
} {
  const family = (
    name: string,
    help: string,
    samplesOf: StateFamily["samplesOf"],
    ...labels: string[]
  ): StateFamily => ({ metric: gauge(`kruise_${kind}_${name}`, help, "namespace", kind, ...labels), samplesOf });
  return {
    family,
    figure: (name, help, valueOf) => family(name, help, (view) => [[[], valueOf(view)]]),
    created: family("created", "When it was created, in seconds since 1970.", ({ metadata: { creationTimestamp } }) =>
      creationTimestamp ? [[[], Date.parse(creationTimestamp) / 1000]] : [],
    ),
    // Which labels and annotations are told is for kruise-state-metrics' flags to say; without them it tells none, and
    // says that the object is there.
    labels: family("labels", "1 for every object; its own labels are not told.", () => [[[], 1]]),
    annotations: family("annotations", "1 for every object; its annotations are not told.", () => [[[], 1]]),
    conditions: () =>
      family(
        "status_condition",
        "Its conditions: 1 at the status that a condition has, 0 at the others.",
        ({ status }) =>
          listOf(status["conditions"]).flatMap((each) =>
            STATUSES.map((value): Sample => [
              [textOf(fieldsOf(each)["type"]), value.toLowerCase()],
              fieldsOf(each)["status"] === value ? 1 : 0,
            ]),
          ),
        "condition",
        "status",
      ),
  };
}

const STATUSES = ["True", "False", "Unknown"] as const;
