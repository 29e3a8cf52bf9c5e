/** OpenKruise's Advanced DaemonSet: runs on nodes; its partition counts nodes of the fleet. */
import { isObject } from "../../../base/index.ts";
import { divideDaemonPartition, type PartitionedDaemonSet } from "../../divide/daemon-partition.ts";
import type { KindInterpreter } from "../../kind-interpreter.ts";
import { countIn } from "../../replica-status.ts";
import { isObserved, templateDependencies } from "../../workload.ts";
import { aggregateFields, reflectFields } from "../counters.ts";

const FIELDS = {
  counters: ["currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable", "numberUnavailable"],
  texts: ["daemonSetHash"],
};

export const advancedDaemonSetInterpreter: KindInterpreter<PartitionedDaemonSet> = {
  group: "apps.kruise.io",
  kind: "DaemonSet",
  divide: divideDaemonPartition,
  reflectStatus: (daemonSet) => reflectFields(daemonSet, [...FIELDS.counters, ...FIELDS.texts]),
  aggregateStatus: (daemonSet, items) => aggregateFields(daemonSet, items, FIELDS),
  isHealthy(daemonSet) {
    if (!isObject(daemonSet.status) || !isObserved(daemonSet)) return false;
    const updated = countIn(daemonSet, "updatedNumberScheduled");
    return updated >= countIn(daemonSet, "desiredNumberScheduled") && countIn(daemonSet, "numberAvailable") >= updated;
  },
  dependencies: templateDependencies,
};
