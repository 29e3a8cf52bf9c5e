/** OpenKruise SidecarSet: injects containers into pods of others, so it counts the pods it matches. */
import type { JsonObject } from "../../../base/index.ts";
import { divideSidecarPartition, type PartitionedSidecarSet } from "../../divide/sidecar-partition.ts";
import type { KindInterpreter } from "../../kind-interpreter.ts";
import { podDependencies } from "../../pod-dependencies.ts";
import { countIn, countOf, reportedStatuses, statusOf, sumOf, withStatus } from "../../replica-status.ts";

const COUNTERS = ["matchedPods", "updatedPods", "readyPods"];

export const sidecarSetInterpreter: KindInterpreter<PartitionedSidecarSet> = {
  group: "apps.kruise.io",
  kind: "SidecarSet",
  replicas: () => ({ replicas: 0 }),
  divide: divideSidecarPartition,
  retain: (desired) => desired,
  reflectStatus(sidecarSet) {
    const status = statusOf(sidecarSet);
    return status && counts((field) => countOf(status[field]));
  },
  aggregateStatus(sidecarSet, items) {
    const statuses = reportedStatuses(items);
    return withStatus(sidecarSet, counts((field) => sumOf(statuses, field)));
  },
  isHealthy(sidecarSet) {
    if (!sidecarSet.status) return false;
    const matched = countIn(sidecarSet, "matchedPods");
    return matched === 0 || countIn(sidecarSet, "updatedPods") === matched;
  },
  /** Of the volumes those that hold configuration; other drivers' secrets belong to the workloads that are injected into. */
  dependencies({ metadata, spec }) {
    const { containers = [], volumes = [] } = spec ?? {};
    return podDependencies({ spec: { containers, volumes: volumes.map(({ configMap, secret, projected }) => ({ ...(configMap && { configMap }), ...(secret && { secret }), ...(projected && { projected }) })) } }, metadata.namespace);
  },
};

const counts = (count: (field: string) => number): JsonObject => Object.fromEntries(COUNTERS.map((field) => [field, count(field)]));
