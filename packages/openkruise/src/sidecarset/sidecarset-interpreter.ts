/** OpenKruise SidecarSet: injects containers into other workloads' pods, so it counts the pods it matches. */
import type { JsonObject } from "@flotilla/base";
import { divideSidecarPartition, type PartitionedSidecarSet } from "./sidecar-partition.ts";
import { isPodOfAnySet } from "./match.ts";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";
import { keptPods } from "../divide/split-partition.ts";
import {
  countIn,
  countOf,
  pickFields,
  podDependencies,
  replaceStatus,
  reportedStatuses,
  statusOf,
  sumOf,
} from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { sumReported } from "../interpreter/rollout-health.ts";

const COUNTERS = ["matchedPods", "updatedPods", "readyPods"];
const NEWER_COUNTERS = ["updatedReadyPods"];

export const sidecarSetInterpreter: KindInterpreter<PartitionedSidecarSet> = {
  group: "apps.kruise.io",
  kind: "SidecarSet",
  changesNewPods: true,
  injectsInto: (set, pod, labelsOf) => isPodOfAnySet(pod, set as unknown as ReadonlySidecarSet, labelsOf),
  replicas: () => ({ replicas: 0 }),
  divide: divideSidecarPartition,
  keepsUpdated: ["containers", "initContainers"],
  retain: (desired) => desired,
  reflectStatus(sidecarSet) {
    const status = statusOf(sidecarSet);
    return status && { ...counts((field) => countOf(status[field])), ...pickFields(status, NEWER_COUNTERS) };
  },
  aggregateStatus(sidecarSet, items) {
    const statuses = reportedStatuses(items);
    return replaceStatus(sidecarSet, {
      ...counts((field) => sumOf(statuses, field)),
      ...sumReported(sidecarSet, items, NEWER_COUNTERS),
    });
  },
  isHealthy(sidecarSet) {
    if (!sidecarSet.status) return false;
    const matched = countIn(sidecarSet, "matchedPods");
    const updated = countIn(sidecarSet, "updatedPods");
    const kept = keptPods(sidecarSet.spec?.updateStrategy?.partition, matched);
    return matched === 0 || (kept > 0 ? updated >= matched - kept : updated === matched);
  },
  /** Only volumes with configuration; secrets of other volume drivers belong to the injected workloads. */
  dependencies({ metadata, spec }) {
    const { containers = [], volumes = [] } = spec ?? {};
    return podDependencies(
      {
        spec: {
          containers,
          volumes: volumes.map(({ configMap, secret, projected }) => ({
            configMap,
            secret,
            projected,
          })),
        },
      },
      metadata.namespace,
    );
  },
};

const counts = (count: (field: string) => number): JsonObject =>
  Object.fromEntries(COUNTERS.map((field) => [field, count(field)]));
