/** Objects that belong to nobody: whoever selects them is told as soon as they appear, and takes them over. */
import { Pod, controllerOf } from "../../api/index.ts";
import type { Kind, KubernetesObject, LabelSelector as LabelSelectorFacts } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { ObjectKey } from "../../client/index.ts";
import { ApiError, labelSelectorOf, matchesLabels } from "../../machinery/index.ts";
import { keyOf, watch } from "../../runtime/index.ts";
import type { Informers, KindRequest } from "../../runtime/index.ts";

interface Selecting extends KubernetesObject {
  spec?: { selector?: LabelSelectorFacts | Record<string, string> };
}

/** Orphaned pods lead to the workloads of this kind whose selector means them. */
export function orphanedPods<T extends Selecting>(informers: Informers, kind: Kind<T>): KindRequest<ObjectKey> {
  return orphaned(informers, Pod, kind);
}

/** The same for orphans of another kind. Costs a look at each possible owner in the namespace, and orphans are rare. */
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
  // ReplicationControllers are older than selectors with expressions.
  const isPlain = Object.values(selector).every((value) => typeof value === "string");
  try {
    const parsed = labelSelectorOf(isPlain ? { matchLabels: selector as Readonly<Record<string, string>> } : selector);
    return parsed.requirements.length > 0 && matchesLabels(parsed, labels);
  } catch (error) {
    // The workload itself complains about a selector that cannot be read.
    if (error instanceof ApiError) return false;
    throw error;
  }
}
