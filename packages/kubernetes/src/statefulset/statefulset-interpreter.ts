/**
 * StatefulSet. Karmada omits the observed generation from the reflected status and then compares with it, so that the
 * template's never advances. Here it is reported while it lags behind, and a member that does not report it has caught
 * up.
 */
import { managesPod } from "../interpreter/pod-owners.ts";
import { limitRollingUpdate } from "../interpreter/release-limits.ts";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { aggregateCounters, reflectCounters } from "../interpreter/replica-status.ts";
import {
  isRolledOut,
  reviseExisting,
  templateDependencies,
  templateReplicas,
  type Workload,
} from "../interpreter/workload.ts";

interface StatefulSet extends Workload {
  spec?: Workload["spec"] & { volumeClaimTemplates?: { metadata?: { name?: string } }[] };
}

const FIELDS = {
  always: ["replicas", "availableReplicas"],
  nonZero: ["readyReplicas", "currentReplicas", "updatedReplicas"],
  lagOnly: true,
  kept: ["conditions", "collisionCount", "currentRevision", "updateRevision"],
};

export const statefulSetInterpreter: KindInterpreter<StatefulSet> = {
  group: "apps",
  kind: "StatefulSet",
  replicas: ({ spec }) => templateReplicas(spec?.replicas ?? 0, spec?.template),
  reviseReplicas: (statefulSet, replicas) => reviseExisting(statefulSet, "replicas", replicas),
  reflectStatus: (statefulSet) => reflectCounters(statefulSet, FIELDS),
  aggregateStatus: (statefulSet, items) => aggregateCounters(statefulSet, items, FIELDS),
  isHealthy: isRolledOut,
  release: {
    hasPartition: true,
    takesDown: () => "one",
    ownsPodOf: managesPod,
    // Its `maxUnavailable` is behind a feature gate.
    limit: (statefulSet, { partition }) => limitRollingUpdate(statefulSet, { partition }),
  },
  dependencies(statefulSet) {
    // The volumes of claim templates refer to claims that the member's controller creates for each pod.
    const made = new Set(statefulSet.spec?.volumeClaimTemplates?.map(({ metadata }) => metadata?.name));
    return templateDependencies(statefulSet).filter(
      ({ kind, name }) => kind !== "PersistentVolumeClaim" || !made.has(name),
    );
  },
};
