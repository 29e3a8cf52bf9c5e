/** OpenKruise's kinds that users create to run pods, without their controllers. A test compares it with the definitions. */
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
