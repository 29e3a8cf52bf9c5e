/**
 * Collects what is not well: counts of everything, and what is wrong with each as far as anybody reads. Objects are
 * looked at once and not kept.
 */
import type { ManifestWork, ManifestWorkReplicaSet, OcmPlacement, ResourceBinding, Work } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { findCondition } from "../../machinery/index.ts";
import type { MemberStatus, Trouble, Unwell, UnwellObject } from "./fleet-status.ts";

/** A fleet in which more is wrong has one cause. */
const MAX_WORST = 1000;
/** What matters most comes first. */
const RANKS: Readonly<Record<Trouble, number>> = {
  "check of the hub failed": 0,
  "member not available": 1,
  "ManifestWork failed": 2,
  "binding not applied": 3,
  "Work failed": 4,
  "binding not scheduled": 5,
  "rollout stopped": 6,
  "Placement unsatisfied": 7,
};
/** What a failed check of the hub means for people. Others are named. */
const HUB_CHECKS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "store-writes":
      "its disk takes no writes, so every change is refused; free some space there ('flotilla doctor' says where)",
    controllers: "its controllers stand still, so nothing is propagated; its log says why",
    shutdown: "it is stopping",
  }),
);
/** A work that is not meant for a cluster with these labels is well. */
const WITHHELD = "ClusterLabelsNotMatched";
/** Every refusal of an object begins like this. */
const APPLY_FAILED = "Failed to apply manifest: ";
/** On a Work: the binding that it was made for. */
const BINDING_NAMES = ["resourcebinding.karmada.io/name", "clusterresourcebinding.karmada.io/name"];

type Named = {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string };
};
interface Said {
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface UnwellCollector {
  /** One of the hub's own checks that fails, by its name. */
  hubCheck(name: string): void;
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
  const found = new Map<Trouble, UnwellObject[]>();

  function note(
    trouble: Trouble,
    { kind, metadata: { namespace, name } }: Named,
    reason: string,
    isListed = true,
  ): void {
    counts.set(trouble, (counts.get(trouble) ?? 0) + 1);
    const known = found.get(trouble) ?? [];
    if (!isListed || known.length === MAX_WORST) return;
    known.push({ trouble, kind, namespace: namespace || undefined, name, reason });
    found.set(trouble, known);
  }

  return {
    hubCheck: (name) =>
      note(
        "check of the hub failed",
        { kind: "hub", metadata: { name } },
        HUB_CHECKS.get(name) ?? "the check fails; the hub's log says why",
      ),
    member({ name, ready, available, accepted, leaving }) {
      // Whoever let it go knows.
      if (leaving) return;
      const said = [
        ...(ready === undefined || ready === "True" || ready === "NoAgent" ? [] : [`Ready is ${ready}`]),
        ...(accepted === false
          ? ["the hub has not accepted it"]
          : available === undefined || available === "True"
            ? []
            : [`Available is ${available}`]),
      ];
      if (said.length > 0) note("member not available", { kind: "member", metadata: { name } }, said.join(", "));
    },
    binding(binding) {
      const { conditions, aggregatedStatus = [] } = binding.status ?? {};
      const scheduled = findCondition(conditions, "Scheduled");
      if (scheduled?.status === "False") note("binding not scheduled", binding, textOf(scheduled));
      const refused = aggregatedStatus.find(({ applied }) => applied === false);
      const failed = [findCondition(conditions, "Dispatched"), findCondition(conditions, "FullyApplied")].find(
        (condition) => condition?.status === "False",
      );
      if (refused?.appliedMessage)
        note("binding not applied", binding, `${refused.clusterName}: ${refused.appliedMessage}`);
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
        const first = resourceStatus?.manifests
          ?.flatMap((manifest) => findCondition(manifest.conditions, "Applied") ?? [])
          .find(({ status }) => status === "False");
        note("ManifestWork failed", work, textOf(first ?? applied).replace(APPLY_FAILED, ""));
      } else if (degraded?.status === "True") note("ManifestWork failed", work, textOf(degraded));
    },
    placement(placement) {
      const [wrong, satisfied] = [
        findCondition(placement.status?.conditions, "PlacementMisconfigured"),
        findCondition(placement.status?.conditions, "PlacementSatisfied"),
      ];
      if (wrong?.status === "True") note("Placement unsatisfied", placement, textOf(wrong));
      else if (satisfied?.status === "False") note("Placement unsatisfied", placement, textOf(satisfied));
    },
    replicaSet(set) {
      const [verified, rolledOut] = [
        findCondition(set.status?.conditions, "PlacementVerified"),
        findCondition(set.status?.conditions, "PlacementRolledOut"),
      ];
      if (verified?.status === "False" && verified.reason !== "PlacementDecisionEmpty")
        note("rollout stopped", set, textOf(verified));
      // A rollout that only takes its time has nothing to say.
      else if (rolledOut?.status === "False" && rolledOut.message) note("rollout stopped", set, textOf(rolledOut));
    },
    result: () => ({
      counts: Object.fromEntries([...counts].toSorted(([a], [b]) => RANKS[a] - RANKS[b])),
      worst: someOfEach([...found.values()].flat(), MAX_WORST),
    }),
  };
}

const textOf = ({ reason = "", message }: Said): string => (message || reason).replaceAll(/\s+/g, " ").trim();

/**
 * So many of them, what matters most first, but one of every trouble: what is counted and never named cannot be looked
 * after.
 */
export function someOfEach(objects: readonly UnwellObject[], limit: number): UnwellObject[] {
  const byRank = (a: UnwellObject, b: UnwellObject): number => RANKS[a.trouble] - RANKS[b.trouble];
  const sorted = objects.toSorted(byRank);
  const first = new Set(sorted.filter(({ trouble }, index) => sorted[index - 1]?.trouble !== trouble));
  const others = sorted.filter((object) => !first.has(object)).slice(0, Math.max(0, limit - first.size));
  return [...[...first].slice(0, limit), ...others].toSorted(byRank);
}
