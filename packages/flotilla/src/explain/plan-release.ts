/**
 * Plans the release that a changed template would have: its waves, and what its first step gives each member. Pure, with
 * the functions by which the hub records and carries out releases; disruption budgets are not read.
 */
import type { DeepReadonly } from "@flotilla/base";
import type { Work } from "@flotilla/karmada";
import { isAtHome } from "../propagation/bindings/binding-scope.ts";
import { hasPartition, takesDown } from "../propagation/dispatch/release-copies.ts";
import type { TemplateRelease } from "../propagation/dispatch/release-copies.ts";
import type { PlanningViews } from "../propagation/planning-views.ts";
import type { Template } from "../propagation/templates/templates.ts";
import type { FleetRollout } from "../rollout/kinds/fleet-rollout.ts";
import { observeMembers } from "../rollout/observe-members.ts";
import { planReleaseStep } from "../rollout/plan/plan-release-step.ts";
import { planReleases, sameRevision } from "../rollout/plan/plan-releases.ts";
import { releaseFrom } from "../rollout/release-index.ts";
import type { ReleaseIndex } from "../rollout/release-index.ts";
import type { Binding } from "./planned-binding.ts";

export interface PlannedRelease {
  /** Which revision each member gets; `pending`: members keep what they have. Unset without a release. */
  assigned?: TemplateRelease | "pending";
  /** The release that would begin, with its status after the first step. */
  begins?: DeepReadonly<FleetRollout>;
}

type Clusters = NonNullable<FleetRollout["status"]>["clusters"];

export interface ReleaseDependencies {
  releases?: ReleaseIndex | undefined;
  views: PlanningViews;
  nowMs: number;
  /** The stored object of a template that a plan changes. */
  storedOf?(template: Template): Template | undefined;
}

export function planRelease(
  { releases, views, nowMs, storedOf }: ReleaseDependencies,
  binding: Binding,
  template: Template,
  works: readonly DeepReadonly<Work>[],
): PlannedRelease {
  if (!releases || binding.kind !== "ResourceBinding" || !isAtHome(binding)) return {};
  const state = releases.of(template);
  if (state !== "pending") return { assigned: state };
  const recorded = releases.rolloutsOf(template);
  const numbered = releases.allOf(template)[0]?.spec.number ?? 0;
  const step = (
    rollout: DeepReadonly<FleetRollout>,
    of: Template,
    known: readonly DeepReadonly<FleetRollout>[],
    inherited: Clusters,
    isRecorded: boolean,
  ): DeepReadonly<FleetRollout> => {
    const updates = { hasPartition: hasPartition(of), takesDown: takesDown(of) };
    const members = observeMembers({
      binding,
      template: of,
      works,
      clusterOf: (name) => views.clusters.get({ cluster: views.hub, name }),
      entries: inherited ?? [],
      updates,
    });
    // A record changes no pod: members that report have its step at once.
    const seen = isRecorded ? members.map((member) => ({ ...member, isAcknowledged: true })) : members;
    const same = sameRevision(rollout, known);
    return { ...rollout, status: planReleaseStep({ rollout, members: seen, updates, inherited, same, nowMs }).status };
  };
  // What runs when its strategy arrives is recorded first. A strategy of the same files arrives before the change. A
  // template without a binding has no copies, so nothing of it runs: its first copies have what is applied now.
  const { name, namespace } = binding.metadata;
  const isBound = views.bindings.get({ cluster: views.hub, namespace, name }) !== undefined;
  const stored = recorded.length > 0 || !isBound ? undefined : storedOf?.(template);
  const strategy = stored && releases.strategyOf(stored);
  const record = stored && strategy && planReleases(stored, strategy, [], numbered, releases.leadOf(stored)).create;
  const first = stored && record && step(record, stored, [], undefined, false);
  const known = first ? [first] : recorded;
  const { create } = planReleases(
    template,
    releases.strategyOf(template),
    known,
    first?.spec.number ?? numbered,
    releases.leadOf(template),
  );
  const rollout = create ?? known[0];
  if (!rollout || (!create && rollout.status?.clusters && rollout !== first)) return { assigned: "pending" };
  const planned =
    rollout === first
      ? first
      : step(rollout, template, known, known[create ? 0 : 1]?.status?.clusters as Clusters, first !== undefined);
  const assigned = releaseFrom(planned, (namespace, name) =>
    name === first?.metadata.name ? first : releases.get(namespace, name),
  );
  // The first record of what runs is not a release, nor is one of what all members have.
  const isRecord = rollout.spec.previous === undefined || planned.status?.phase === "Succeeded";
  return isRecord ? { assigned } : { assigned, begins: planned };
}
