/**
 * OpenKruise's kinds that users create to run pods, as commands read them. `kruise-definitions.ts` is the registry: it has the
 * controllers of every kind, and loading these takes as long again as a command like `flotilla status` needs to start.
 * Nothing about a kind is stated here: what it is stands in the `workload` of its `Kind`, and
 * `run-to-completion.test.ts` fails if a kind of the registry that has one is missing.
 */
import type { Kind } from "@flotilla/apimachinery";
import { AdvancedCronJob } from "./advancedcronjob/advancedcronjob-kind.ts";
import { BroadcastJob } from "./broadcastjob/broadcastjob-kind.ts";
import { CloneSet } from "./cloneset/cloneset-kind.ts";
import { AdvancedDaemonSet } from "./daemonset/daemonset-kind.ts";
import { AdvancedStatefulSet } from "./statefulset/statefulset-kind.ts";
import { UnitedDeployment } from "./uniteddeployment/uniteddeployment-kind.ts";

export const kruiseWorkloads = [
  CloneSet,
  AdvancedStatefulSet,
  AdvancedDaemonSet,
  UnitedDeployment,
  BroadcastJob,
  AdvancedCronJob,
] as unknown as readonly Kind[];
