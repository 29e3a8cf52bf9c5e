/** Collects what is not well: counts of everything, and the ten that matter most. Objects are looked at once and not kept. */
import type { ManifestWork, ManifestWorkReplicaSet, OcmPlacement, ResourceBinding, Work } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { findCondition } from "../../machinery/index.ts";
import type { MemberStatus, Trouble, Unwell, UnwellObject } from "./fleet-status.ts";

const MAX_WORST = 10;
/** What matters most comes first. */
const RANKS: Readonly<Record<Trouble, number>> = { "member not available": 0, "ManifestWork failed": 1, "binding not applied": 2, "Work failed": 3, "binding not scheduled": 4, "rollout stopped": 5, "Placement unsatisfied": 6 };
/** A work that is not meant for a cluster with these labels is well. */
const WITHHELD = "ClusterLabelsNotMatched";
/** Every refusal of an object begins like this. */
const APPLY_FAILED = "Failed to apply manifest: ";
/** On a Work: the binding that it was made for. */
const BINDING_NAMES = ["resourcebinding.karmada.io/name", "clusterresourcebinding.karmada.io/name"];

type Named = { readonly kind: string; readonly metadata: { readonly namespace?: string | undefined; readonly name: string } };
interface Said {
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface UnwellCollector {
  member(member: MemberStatus): void;
  binding(binding: DeepReadonly<ResourceBinding>): void;
  work(work: DeepReadonly<Work>): void;
  manifestWork(work: DeepReadonly<ManifestWork>): void;
  placement(placement: DeepReadonly<OcmPlacement>): void;
  replicaSet(set: DeepReadonly<ManifestWorkReplicaSet>): void;
  result(): Unwell;
}

export function createUnwellCollector(): UnwellCollector {
  const counts = new Map<Trouble, number>();
  let worst: UnwellObject[] = [];

  function note(trouble: Trouble, { kind, metadata: { namespace, name } }: Named, reason: string, isListed = true): void {
    counts.set(trouble, (counts.get(trouble) ?? 0) + 1);
    if (!isListed || (worst.length === MAX_WORST && RANKS[trouble] >= RANKS[worst.at(-1)?.trouble ?? trouble])) return;
    worst = [...worst, { trouble, kind, ...(namespace && { namespace }), name, reason }].toSorted((a, b) => RANKS[a.trouble] - RANKS[b.trouble]).slice(0, MAX_WORST);
  }

  return {
    member({ name, ready, available, accepted }) {
      const said = [...(ready === undefined || ready === "True" || ready === "NoAgent" ? [] : [`Ready is ${ready}`]), ...(accepted === false ? ["the hub has not accepted it"] : available === undefined || available === "True" ? [] : [`Available is ${available}`])];
      if (said.length > 0) note("member not available", { kind: "member", metadata: { name } }, said.join(", "));
    },
    binding(binding) {
      const { conditions, aggregatedStatus = [] } = binding.status ?? {};
      const scheduled = findCondition(conditions, "Scheduled");
      if (scheduled?.status === "False") note("binding not scheduled", binding, textOf(scheduled));
      const refused = aggregatedStatus.find(({ applied }) => applied === false);
      const failed = [findCondition(conditions, "Dispatched"), findCondition(conditions, "FullyApplied")].find((condition) => condition?.status === "False");
      if (refused?.appliedMessage) note("binding not applied", binding, `${refused.clusterName}: ${refused.appliedMessage}`);
      else if (failed) note("binding not applied", binding, textOf(failed));
    },
    work(work) {
      const applied = findCondition(work.status?.conditions, "Applied");
      // Its binding tells the same.
      const isListed = !BINDING_NAMES.some((name) => work.metadata.annotations?.[name] !== undefined);
      if (applied?.status === "False") note("Work failed", work, textOf(applied), isListed);
    },
    manifestWork(work) {
      const { conditions, resourceStatus } = work.status ?? {};
      const applied = findCondition(conditions, "Applied");
      const degraded = findCondition(conditions, "Degraded");
      if (applied?.status === "False" && applied.reason !== WITHHELD) {
        const first = resourceStatus?.manifests?.flatMap((manifest) => findCondition(manifest.conditions, "Applied") ?? []).find(({ status }) => status === "False");
        note("ManifestWork failed", work, textOf(first ?? applied).replace(APPLY_FAILED, ""));
      } else if (degraded?.status === "True") note("ManifestWork failed", work, textOf(degraded));
    },
    placement(placement) {
      const [wrong, satisfied] = [findCondition(placement.status?.conditions, "PlacementMisconfigured"), findCondition(placement.status?.conditions, "PlacementSatisfied")];
      if (wrong?.status === "True") note("Placement unsatisfied", placement, textOf(wrong));
      else if (satisfied?.status === "False") note("Placement unsatisfied", placement, textOf(satisfied));
    },
    replicaSet(set) {
      const [verified, rolledOut] = [findCondition(set.status?.conditions, "PlacementVerified"), findCondition(set.status?.conditions, "PlacementRolledOut")];
      if (verified?.status === "False" && verified.reason !== "PlacementDecisionEmpty") note("rollout stopped", set, textOf(verified));
      // A rollout that only takes its time has nothing to say.
      else if (rolledOut?.status === "False" && rolledOut.message) note("rollout stopped", set, textOf(rolledOut));
    },
    result: () => ({ counts: Object.fromEntries([...counts].toSorted(([a], [b]) => RANKS[a] - RANKS[b])), worst }),
  };
}

const textOf = ({ reason = "", message }: Said): string => (message || reason).replaceAll(/\s+/g, " ").trim();
