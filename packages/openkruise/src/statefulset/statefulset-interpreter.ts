/** OpenKruise's Advanced StatefulSet: ordinals are unique in the fleet, and a partition keeps the lowest of them. */
import { withRelease } from "../divide/counted-release.ts";
import { unreturnedPods } from "../divide/unreturned-pods.ts";
import { divideOrdinals } from "./fleet-ordinals.ts";
import type { OrdinalSet } from "./plan-fleet-ordinals.ts";
import {
  aggregateFields,
  conditionSums,
  limitRollingUpdate,
  managesPod,
  reflectFields,
  templateDependencies,
  templateReplicas,
  withSpecField,
} from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { hasReachedStage, sumReported } from "../interpreter/rollout-health.ts";

const FIELDS = {
  counters: [
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "updatedReadyReplicas",
  ],
  texts: ["updateRevision", "currentRevision"],
};
const NEWER_COUNTERS = ["updatedAvailableReplicas"];

export const advancedStatefulSetInterpreter: KindInterpreter<OrdinalSet> = {
  group: "apps.kruise.io",
  kind: "StatefulSet",
  replicas: ({ spec }) => templateReplicas(spec?.replicas ?? 1, spec?.template),
  reviseReplicas: (statefulSet, replicas) => withSpecField(statefulSet, "replicas", replicas),
  divide: divideOrdinals,
  release: { hasPartition: true, takesDown: () => "budget", ownsPodOf: managesPod, limit: limitRollingUpdate },
  keepsUpdated: ["template"],
  unreturned: unreturnedPods(
    "an Advanced StatefulSet is updated from its highest ordinal down, and cannot roll pods back",
  ),
  reflectStatus: (statefulSet) =>
    withRelease(statefulSet, reflectFields(statefulSet, [...FIELDS.counters, ...NEWER_COUNTERS, ...FIELDS.texts])),
  aggregateStatus: (statefulSet, items) =>
    aggregateFields(statefulSet, items, FIELDS, sumReported(statefulSet, items, NEWER_COUNTERS)),
  conditions: conditionSums({ anywhere: ["FailedCreatePod", "FailedUpdatePod"] }),
  isHealthy: (statefulSet) =>
    hasReachedStage(
      statefulSet,
      Math.min(statefulSet.spec?.updateStrategy?.rollingUpdate?.partition ?? 0, statefulSet.spec?.replicas ?? 1),
    ),
  dependencies(statefulSet) {
    // The volumes of claim templates refer to claims that the member's controller creates for each pod.
    const made = new Set(statefulSet.spec?.volumeClaimTemplates?.map(({ metadata }) => metadata?.name));
    return templateDependencies(statefulSet).filter(
      ({ kind, name }) => kind !== "PersistentVolumeClaim" || !made.has(name),
    );
  },
};
