/** ReplicaSet: like a Deployment without rollouts. */
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { conditionSums } from "../interpreter/summed-conditions.ts";
import { aggregateCounters, countIn, reflectCounters } from "../interpreter/replica-status.ts";
import {
  isObserved,
  reviseExisting,
  templateDependencies,
  templateReplicas,
  type Workload,
} from "../interpreter/workload.ts";

const FIELDS = {
  always: ["replicas"],
  nonZero: ["readyReplicas", "availableReplicas"],
  kept: ["conditions", "fullyLabeledReplicas", "terminatingReplicas"],
};

export const replicaSetInterpreter: KindInterpreter<Workload> = {
  group: "apps",
  kind: "ReplicaSet",
  replicas: ({ spec }) => templateReplicas(spec?.replicas ?? 0, spec?.template),
  reviseReplicas: (replicaSet, replicas) => reviseExisting(replicaSet, "replicas", replicas),
  reflectStatus: (replicaSet) => reflectCounters(replicaSet, FIELDS),
  aggregateStatus: (replicaSet, items) => aggregateCounters(replicaSet, items, FIELDS),
  conditions: conditionSums({ anywhere: ["ReplicaFailure"] }),
  isHealthy: (replicaSet) =>
    isObserved(replicaSet) && countIn(replicaSet, "availableReplicas") >= (replicaSet.spec?.replicas ?? 0),
  dependencies: templateDependencies,
};
