/** Removes fields for pruning; objects without them are returned unchanged. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";

export function withoutNames<V>(fields: Readonly<Record<string, V>>, names: readonly string[]): Record<string, V> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

export function withoutAnnotations<T extends DeepReadonly<KubernetesObject>>(object: T, names: readonly string[]): T {
  const { annotations } = object.metadata;
  if (!annotations || !names.some((name) => name in annotations)) return object;
  return { ...object, metadata: { ...object.metadata, annotations: withoutNames(annotations, names) } };
}
