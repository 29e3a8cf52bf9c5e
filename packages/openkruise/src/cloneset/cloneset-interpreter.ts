/**
 * OpenKruise CloneSet in every served version: apart from the location of the partition, the fields read here are the
 * same.
 *
 * Unlike Karmada's rules, a partitioned rollout is healthy once it has reached its stage instead of unhealthy
 * throughout the stage, and a partition counts the pods of the fleet.
 */
import { dividePartition } from "../divide/partition.ts";
import { limitUpdates, partitionOf, type Partitioned } from "../divide/partitioned.ts";
import { reflectRollout, restateRollout } from "../divide/reflect-rollout.ts";
import { withRelease } from "../divide/counted-release.ts";
import { keptPods } from "../divide/split-partition.ts";
import { unreturnedPods } from "../divide/unreturned-pods.ts";
import {
  aggregateFields,
  conditionSums,
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
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "updatedReadyReplicas",
    "expectedUpdatedReplicas",
  ],
  texts: ["updateRevision", "currentRevision", "labelSelector"],
};
const NEWER_COUNTERS = ["updatedAvailableReplicas"];

/** OpenKruise shortens a longer name when it makes that of a pod. */
const MAX_PREFIX = 50;

export const cloneSetInterpreter: KindInterpreter<Partitioned> = {
  group: "apps.kruise.io",
  kind: "CloneSet",
  // OpenKruise defaults to one replica.
  replicas: ({ spec }) => templateReplicas(spec?.replicas ?? 1, spec?.template),
  reviseReplicas: (cloneSet, replicas) => withSpecField(cloneSet, "replicas", replicas),
  divide: dividePartition,
  release: { hasPartition: true, takesDown: () => "budget", ownsPodOf: managesPod, limit: limitUpdates },
  unreturned: unreturnedPods(),
  podsToDelete: {
    path: ["scaleStrategy", "podsToDelete"],
    podPrefix: (name) => (name.length > MAX_PREFIX ? name.slice(0, MAX_PREFIX) : `${name}-`),
  },
  reflectStatus: (cloneSet) =>
    withRelease(
      cloneSet,
      reflectRollout(cloneSet, reflectFields(cloneSet, [...FIELDS.counters, ...NEWER_COUNTERS, ...FIELDS.texts])),
    ),
  restateStatus: restateRollout,
  aggregateStatus: (cloneSet, items) =>
    aggregateFields(cloneSet, items, FIELDS, sumReported(cloneSet, items, NEWER_COUNTERS)),
  conditions: conditionSums({
    everywhere: ["Progressing"],
    anywhere: ["FailedScale", "FailedUpdate"],
    doneReasons: { Progressing: "CloneSetAvailable" },
  }),
  isHealthy: (cloneSet) => hasReachedStage(cloneSet, keptPods(partitionOf(cloneSet), cloneSet.spec?.replicas ?? 1)),
  dependencies: templateDependencies,
};
