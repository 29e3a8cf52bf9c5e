/** Deployment, with Karmada's rules. */
import { replicaSetManagesPod } from "../interpreter/pod-owners.ts";
import { limitStrategy, replacesAll } from "../interpreter/release-limits.ts";
import { DEPLOYMENT_REVISION_ANNOTATION, DEPLOYMENT_REVISION_HISTORY_ANNOTATION } from "../well-known-names.ts";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { withoutAnnotations } from "../interpreter/without-fields.ts";
import { conditionSums } from "../interpreter/summed-conditions.ts";
import { aggregateCounters, reflectCounters } from "../interpreter/replica-status.ts";
import {
  isRolledOut,
  reviseExisting,
  templateDependencies,
  templateReplicas,
  withSpecField,
  type Workload,
} from "../interpreter/workload.ts";
import { RETAIN_REPLICAS } from "../interpreter/template-names.ts";

const FIELDS = {
  nonZero: ["replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas"],
  kept: ["conditions", "collisionCount", "terminatingReplicas"],
};

export const deploymentInterpreter: KindInterpreter<Workload> = {
  group: "apps",
  kind: "Deployment",
  replicas: ({ spec }) => templateReplicas(spec?.replicas ?? 0, spec?.template),
  reviseReplicas: (deployment, replicas) => reviseExisting(deployment, "replicas", replicas),
  retain(desired, observed) {
    const replicas = observed.spec?.replicas;
    const isRetained = desired.metadata.labels?.[RETAIN_REPLICAS] === "true" && replicas !== undefined;
    return isRetained ? withSpecField(desired, "replicas", replicas) : desired;
  },
  reflectStatus: (deployment) => reflectCounters(deployment, FIELDS),
  aggregateStatus: (deployment, items) => aggregateCounters(deployment, items, FIELDS),
  conditions: conditionSums({
    everywhere: ["Available", "Progressing"],
    anywhere: ["ReplicaFailure"],
    doneReasons: { Progressing: "NewReplicaSetAvailable" },
  }),
  isHealthy: isRolledOut,
  dependencies: templateDependencies,
  release: {
    takesDown: (deployment) => (replacesAll(deployment) ? "all" : "budget"),
    ownsPodOf: replicaSetManagesPod,
    limit: limitStrategy,
  },
  prune: (deployment) =>
    withoutAnnotations(deployment, [DEPLOYMENT_REVISION_ANNOTATION, DEPLOYMENT_REVISION_HISTORY_ANNOTATION]),
};
