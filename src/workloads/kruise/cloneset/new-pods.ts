/** What a new CloneSet pod looks like. */
import type { Pod } from "../../../api/index.ts";
import { controllerReference } from "../../../api/index.ts";
import { formatTime, randomSuffix } from "../../../base/index.ts";
import type { DeepReadonly, Random } from "../../../base/index.ts";
import { IN_PLACE_READY, INSTANCE_ID_LABEL, LIFECYCLE_STATE_LABEL, LIFECYCLE_TIMESTAMP_ANNOTATION, REVISION_LABEL, TEMPLATE_HASH_LABEL, shortHash } from "./names.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";
import type { PodTemplate } from "./revisions.ts";

/** Ids that no pod of the set has. The id is part of the name, so one is never used twice while its pod exists. */
export function chooseInstanceIds(count: number, taken: ReadonlySet<string>, random: Random): string[] {
  const ids = new Set<string>();
  while (ids.size < count) {
    const id = randomSuffix(random);
    if (!taken.has(id)) ids.add(id);
  }
  return [...ids].toSorted();
}

export function makePod(cloneSet: ReadonlyCloneSet, revision: string, template: PodTemplate, id: string, nowMs: number): DeepReadonly<Pod> {
  const { name, namespace } = cloneSet.metadata;
  const gates = template.spec?.readinessGates ?? [];
  // Every pod has the gate, whatever the update strategy: the strategy may change later, the gates of a pod may not.
  const readinessGates = gates.some(({ conditionType }) => conditionType === IN_PLACE_READY) ? gates : [...gates, { conditionType: IN_PLACE_READY }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${id}`,
      generateName: `${name}-`,
      ...(namespace && { namespace }),
      labels: {
        ...template.metadata?.labels,
        [INSTANCE_ID_LABEL]: id,
        [REVISION_LABEL]: revision,
        [TEMPLATE_HASH_LABEL]: shortHash(revision),
        [LIFECYCLE_STATE_LABEL]: "PreparingNormal",
      },
      annotations: { ...template.metadata?.annotations, [LIFECYCLE_TIMESTAMP_ANNOTATION]: formatTime(nowMs) },
      ...(template.metadata?.finalizers && { finalizers: template.metadata.finalizers }),
      ownerReferences: [controllerReference(cloneSet)],
    },
    spec: { ...template.spec, readinessGates },
  } as unknown as DeepReadonly<Pod>;
}
