/** DaemonSet: runs on nodes, so it has no replicas to divide. */
import { managesPod } from "../interpreter/pod-owners.ts";
import { limitRollingUpdate } from "../interpreter/release-limits.ts";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { aggregateCounters, countIn, reflectCounters } from "../interpreter/replica-status.ts";
import { isObserved, templateDependencies, type Workload } from "../interpreter/workload.ts";

const FIELDS = {
  always: ["currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady"],
  nonZero: ["updatedNumberScheduled", "numberAvailable", "numberUnavailable"],
  kept: ["conditions", "collisionCount"],
};

export const daemonSetInterpreter: KindInterpreter<Workload> = {
  group: "apps",
  kind: "DaemonSet",
  reflectStatus: (daemonSet) => reflectCounters(daemonSet, FIELDS),
  aggregateStatus: (daemonSet, items) => aggregateCounters(daemonSet, items, FIELDS),
  isHealthy(daemonSet) {
    const updated = countIn(daemonSet, "updatedNumberScheduled");
    return (
      isObserved(daemonSet) &&
      updated >= countIn(daemonSet, "desiredNumberScheduled") &&
      countIn(daemonSet, "numberAvailable") >= updated
    );
  },
  dependencies: templateDependencies,
  release: {
    takesDown: () => "budget",
    ownsPodOf: managesPod,
    limit: (daemonSet, { maxUnavailable }) => limitRollingUpdate(daemonSet, { maxUnavailable }),
  },
};
