/** Orphaned objects: workloads that select them are enqueued as soon as they appear, and adopt them. */
import { Pod } from "./pod-kind.ts";
import { ApiError, controllerOf, labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { LabelSelector as LabelSelectorFacts } from "@flotilla/apimachinery/facts/meta-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { keyOf, watch } from "@flotilla/controller-runtime";
import type { Informers, KindRequest } from "@flotilla/controller-runtime";

interface Selecting extends KubernetesObject {
  spec?: { selector?: LabelSelectorFacts | Record<string, string> };
}

/** Maps orphaned pods to the workloads of this kind that select them. */
export function orphanedPods<T extends Selecting>(informers: Informers, kind: Kind<T>): KindRequest<ObjectKey> {
  return orphaned(informers, Pod, kind);
}

/** The same for orphans of another kind. Checks each possible owner in the namespace, but orphans are rare. */
export function orphaned<O extends KubernetesObject, T extends Selecting>(
  informers: Informers,
  orphan: Kind<O>,
  owner: Kind<T>,
): KindRequest<ObjectKey> {
  return watch(orphan, ({ cluster, object, deleted }) => {
    if (deleted || object.metadata.deletionTimestamp || controllerOf(object)) return [];
    const { namespace = "", labels } = object.metadata;
    const owners = informers.of(owner).list({ cluster, namespace }) as DeepReadonly<Selecting>[];
    return owners.filter(({ spec }) => selects(spec?.selector, labels)).map((candidate) => keyOf(cluster, candidate));
  });
}

function selects(
  selector: DeepReadonly<LabelSelectorFacts | Record<string, string>> | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (!selector) return false;
  // ReplicationControllers have plain map selectors without expressions.
  const isPlain = Object.values(selector).every((value) => typeof value === "string");
  try {
    const parsed = labelSelectorOf(isPlain ? { matchLabels: selector as Readonly<Record<string, string>> } : selector);
    return parsed.requirements.length > 0 && matchesLabels(parsed, labels);
  } catch (error) {
    // The workload's own reconcile reports an invalid selector.
    if (error instanceof ApiError) return false;
    throw error;
  }
}
