/**
 * Metrics on the state of the objects of a kind: families, each with a function from an object to its samples. Objects
 * are read as plain JSON, because members run different versions of a kind and may lack fields.
 */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { objectOf } from "@flotilla/base";
import type { DeepReadonly, Metric } from "@flotilla/base";

/** Additional labels besides the object's namespace and name, and the value. */
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

export function viewOf(object: DeepReadonly<KubernetesObject>): StateView {
  const { spec, status } = object as { readonly spec?: unknown; readonly status?: unknown };
  return { metadata: object.metadata, spec: objectOf(spec), status: objectOf(status) };
}
