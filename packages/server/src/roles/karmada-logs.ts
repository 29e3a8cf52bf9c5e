/**
 * `kubectl logs` for Karmada's components on the hub: the lines of the controllers in this process that do their work.
 */
import type { Clock } from "@flotilla/base";
import {
  componentsAlone,
  createComponentLogs,
  KARMADA_CONTROLLER_MANAGER,
  KARMADA_SCHEDULER,
  KARMADA_WEBHOOK,
} from "@flotilla/simulation";
import type { ComponentLogs } from "@flotilla/simulation";
import { INTERPRETER } from "@flotilla/flotilla";
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";

export interface KarmadaLogs extends Pick<ComponentLogs, "keep"> {
  hubRuntime: ReturnType<typeof componentsAlone>;
}

/** Open Cluster Management's controllers have their own logs. */
const componentOf = (controller: string): string | undefined =>
  controller.startsWith("ocm-")
    ? undefined
    : controller.startsWith("schedule")
      ? KARMADA_SCHEDULER
      : controller === INTERPRETER
        ? KARMADA_WEBHOOK
        : KARMADA_CONTROLLER_MANAGER;

export function createKarmadaLogs(clock: Clock): KarmadaLogs {
  const logs = createComponentLogs({ clock, componentOf });
  return { keep: logs.keep, hubRuntime: componentsAlone(logs, KARMADA_SYSTEM_NAMESPACE) };
}
