/** How far the newest release of a template is, as the status of the template and its binding say it. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { ReleaseStanding } from "../propagation/aggregate/count-release.ts";
import type { FleetRollout } from "./kinds/fleet-rollout.ts";

type Rollout = DeepReadonly<FleetRollout>;

/** `get`: another FleetRollout of the namespace. */
export function standingOf(rollout: Rollout, get: (name: string) => Rollout | undefined): ReleaseStanding {
  const { name } = rollout.metadata;
  const { revision, previous } = rollout.spec;
  const entries = new Map((rollout.status?.clusters ?? []).map((entry) => [entry.name, entry]));
  return {
    name,
    previous,
    ...describeStanding(rollout),
    isCurrent(cluster, step) {
      const entry = entries.get(cluster);
      // Copies that were made before releases were recorded, or without a strategy, have no step.
      const hasStep = entry?.step !== undefined && rollout.status?.phase !== "Succeeded";
      const copied = revisionOfStep(step) ?? (hasStep ? previous : entry?.revision);
      // A release may return to the revision of an earlier one.
      return copied === name || (copied !== undefined && get(copied)?.spec.revision === revision);
    },
  };
}

/** The FleetRollout that a step names, as `nameStep` wrote it. */
function revisionOfStep(step: string | undefined): string | undefined {
  const end = step?.indexOf("@") ?? -1;
  return end > 0 ? step?.slice(0, end) : undefined;
}

export function describeStanding({ metadata, spec, status }: Rollout): Pick<ReleaseStanding, "state" | "message"> {
  const title = `FleetRollout ${metadata.name}`;
  const waves = status?.plan?.length ?? spec.strategy?.waves.length ?? 0;
  const wave = status?.wave === undefined ? "" : ` in wave ${status.wave} (${(status.waveIndex ?? 0) + 1} of ${waves})`;
  const why = status?.failure ? `: ${status.failure.message}` : "";
  switch (status?.phase) {
    case "Succeeded":
      return { state: "Succeeded", message: `${title} is complete` };
    case "RolledBack":
      return { state: "RolledBack", message: `${title} was rolled back${why}` };
    case "RollingBack":
      return { state: "RollingBack", message: `${title} is being rolled back${why}` };
    case "Failed":
      return { state: "Failed", message: `${title} failed, and could not be rolled back on all members${why}` };
    case "Paused":
      return status.failure
        ? { state: "Failed", message: `${title} stopped${wave}${why}` }
        : { state: "Paused", message: `${title}${wave} is paused` };
    default:
      return status?.waveState === "Open" || status?.waitingFor === undefined
        ? { state: "Progressing", message: `${title} is in progress${wave}` }
        : { state: "Waiting", message: `${title}${wave} waits for ${status.waitingFor}` };
  }
}
