/** Describes a change of a member's taints, for the log of decisions. Pure. */
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { DecisionInput } from "../decisions/decision-recorder.ts";
import type { describeTaints } from "./plan-taints.ts";

type Taints = Parameters<typeof describeTaints>[0];

export function describeTaint(
  controller: string,
  cluster: DeepReadonly<Cluster>,
  taints: Taints,
  message: string,
): DecisionInput {
  return {
    type: "Tainted",
    controller,
    object: cluster,
    clusters: [cluster.metadata.name],
    cause: { reason: "ConditionChanged", message },
    before: { taints: textOf(cluster.spec.taints ?? []) },
    after: { taints: textOf(taints) },
  };
}

const textOf = (taints: Taints): string =>
  taints.length === 0
    ? "none"
    : taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ""}:${effect}`).join(", ");
