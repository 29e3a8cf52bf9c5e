/**
 * What changes the pods of a workload at their creation, such as a SidecarSet, must be on a member before the workload:
 * a pod that was created without it stays as it is. Dispatch therefore waits before the first Work for a member. The wait
 * is limited: a member that rejects the companion, or cannot be reached, must not keep the workload from the others. Pure.
 */
import { isConditionTrue } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { executionNamespace } from "@flotilla/karmada";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { targetsOf } from "../bindings/target-clusters.ts";

type Binding = DeepReadonly<ResourceBinding>;
type Template = DeepReadonly<KubernetesObject>;

/** A delivery takes milliseconds; ten seconds are enough for a busy hub. */
export const COMPANIONS_WAIT_MS = 10_000;
/** Each look reads caches only. */
export const LOOK_FOR_COMPANIONS_MS = 200;

export interface CompanionViews {
  companionsOf(template: Template, all: boolean): readonly Template[] | undefined;
  bindingOf(object: Template): Binding | undefined;
  worksOf(binding: Binding): readonly DeepReadonly<Work>[];
}

/** The companions that some new member does not have yet, as a text; undefined if there is nothing to wait for. */
export function missingCompanions(
  binding: Binding,
  template: Template,
  works: readonly DeepReadonly<Work>[],
  { companionsOf, bindingOf, worksOf }: CompanionViews,
): string | undefined {
  const known = new Set(works.map(({ metadata }) => metadata.namespace));
  const added = targetsOf(binding.spec).flatMap(({ name }) => (known.has(executionNamespace(name)) ? [] : [name]));
  if (added.length === 0) return undefined;
  const companions = companionsOf(template, binding.spec.propagateDeps === true);
  if (!companions) return "unknown";
  const missing = companions.filter((companion) => {
    const own = bindingOf(companion);
    if (!own) return binding.spec.propagateDeps === true;
    const targets = new Set(targetsOf(own.spec).map(({ name }) => name));
    const delivered = new Set(
      worksOf(own)
        .filter(({ status }) => isConditionTrue(status?.conditions ?? [], "Applied"))
        .map(({ metadata }) => metadata.namespace),
    );
    return added.some(
      (cluster) =>
        (targets.has(cluster) || binding.spec.propagateDeps === true) && !delivered.has(executionNamespace(cluster)),
    );
  });
  return missing.length > 0 ? missing.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ") : undefined;
}
