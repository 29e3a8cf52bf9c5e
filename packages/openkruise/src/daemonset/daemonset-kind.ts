/** OpenKruise's DaemonSet, called Advanced DaemonSet: in-place updates, by partition and by node label. */
import type { Column } from "@flotilla/apimachinery";
import type { AdvancedDaemonSet as AdvancedDaemonSetType } from "./daemonset-types.ts";
import { fromStorage, toStorage } from "./daemonset-versions.ts";
import { AGE_AND_CONTAINERS, count } from "../api/columns.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { daemonSetDescriptions } from "./daemonset-descriptions.ts";

export type AdvancedDaemonSet = AdvancedDaemonSetType;

const columns: Column[] = [
  count("DESIRED", ".status.desiredNumberScheduled"),
  count("CURRENT", ".status.currentNumberScheduled"),
  count("READY", ".status.numberReady"),
  count("UP-TO-DATE", ".status.updatedNumberScheduled"),
  count("AVAILABLE", ".status.numberAvailable"),
  ...AGE_AND_CONTAINERS,
];

export const AdvancedDaemonSet = kruiseKind<AdvancedDaemonSet>({
  kind: "DaemonSet",
  plural: "daemonsets",
  shortNames: ["daemon", "ads"],
  columns,
  workload: { runsOnEveryNode: true },
  conversion: { toStorage, fromStorage },
  descriptions: daemonSetDescriptions,
});
