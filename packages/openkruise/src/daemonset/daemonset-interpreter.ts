/**
 * OpenKruise's Advanced DaemonSet: runs on nodes; its partition counts nodes of the fleet. Its revision is
 * `daemonSetHash`, and from v1beta1 on `updateRevision`.
 */
import { isObject } from "@flotilla/base";
import { withRelease } from "../divide/counted-release.ts";
import { divideDaemonPartition, type PartitionedDaemonSet } from "./daemon-partition.ts";
import { keptPods } from "../divide/split-partition.ts";
import {
  aggregateFields,
  countIn,
  isObserved,
  limitRollingUpdate,
  managesPod,
  reflectFields,
  templateDependencies,
} from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";

const FIELDS = {
  counters: [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
  ],
  texts: ["daemonSetHash", "updateRevision"],
};

export const advancedDaemonSetInterpreter: KindInterpreter<PartitionedDaemonSet> = {
  group: "apps.kruise.io",
  kind: "DaemonSet",
  divide: divideDaemonPartition,
  release: {
    takesDown: () => "budget",
    ownsPodOf: managesPod,
    limit: (daemonSet, { maxUnavailable, isPaused }) => limitRollingUpdate(daemonSet, { maxUnavailable, isPaused }),
  },
  keepsUpdated: ["template"],
  reflectStatus: (daemonSet) => withRelease(daemonSet, reflectFields(daemonSet, [...FIELDS.counters, ...FIELDS.texts])),
  aggregateStatus: (daemonSet, items) => aggregateFields(daemonSet, items, FIELDS),
  isHealthy(daemonSet) {
    if (!isObject(daemonSet.status) || !isObserved(daemonSet)) return false;
    const desired = countIn(daemonSet, "desiredNumberScheduled");
    const updated = countIn(daemonSet, "updatedNumberScheduled");
    const kept = keptPods(daemonSet.spec?.updateStrategy?.rollingUpdate?.partition, desired, "floor");
    // During a stage the nodes that are held back must be available as well.
    return updated >= desired - kept && countIn(daemonSet, "numberAvailable") >= (kept > 0 ? desired : updated);
  },
  dependencies: templateDependencies,
};
