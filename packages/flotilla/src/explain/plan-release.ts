/**
 * Plans the release that a changed template would have: its waves, and what its first step gives each member. Pure, with
 * the functions by which the hub records and carries out releases; disruption budgets are not read.
 */
import type { DeepReadonly } from "@flotilla/base";
import type { Work } from "@flotilla/karmada";
import { isAtHome } from "../propagation/binding-scope.ts";
import { hasPartition, takesDown } from "../propagation/dispatch/release-copies.ts";
import type { TemplateRelease } from "../propagation/dispatch/release-copies.ts";
import type { PlanningViews } from "../propagation/planning-views.ts";
import type { Template } from "../propagation/templates.ts";
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

export function planRelease(
  { releases, views, nowMs }: { releases?: ReleaseIndex | undefined; views: PlanningViews; nowMs: number },
  binding: Binding,
  template: Template,
  works: readonly DeepReadonly<Work>[],
): PlannedRelease {
  if (!releases || binding.kind !== "ResourceBinding" || !isAtHome(binding)) return {};
  const state = releases.of(template);
  if (state !== "pending") return { assigned: state };
  const known = releases.rolloutsOf(template);
  const last = releases.allOf(template)[0]?.spec.number ?? 0;
  const { create } = planReleases(template, releases.strategyOf(template), known, last, releases.leadOf(template));
  const rollout = create ?? known[0];
  if (!rollout || (!create && rollout.status?.clusters)) return { assigned: "pending" };
  const inherited = known[create ? 0 : 1]?.status?.clusters;
  const updates = { hasPartition: hasPartition(template), takesDown: takesDown(template) };
  const members = observeMembers({
    binding,
    template,
    works,
    clusterOf: (name) => views.clusters.get({ cluster: views.hub, name }),
    entries: inherited ?? [],
    updates,
  });
  const { status } = planReleaseStep({
    rollout,
    members,
    updates,
    inherited: inherited as NonNullable<FleetRollout["status"]>["clusters"],
    same: sameRevision(rollout, known),
    nowMs,
  });
  const planned: DeepReadonly<FleetRollout> = { ...rollout, status };
  const assigned = releaseFrom(planned, releases.get);
  // The first record of what runs is not a release, nor is one of what all members have.
  const isRecord = rollout.spec.previous === undefined || status.phase === "Succeeded";
  return isRecord ? { assigned } : { assigned, begins: planned };
}
