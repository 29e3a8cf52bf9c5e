/**
 * The second half of a reconcile: moves pods to the update revision, within maxUnavailable.
 *
 * Pods marked for deletion come first and ignore the partition. An unhealthy pod does not count against the budget, so
 * a bad revision can always be replaced by a good one. Modifies the `Pass`; see `planned-actions.ts`.
 */
import { podTemplateOf, REVISION_LABEL } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { closeGate, startUpdate } from "../in-place/apply.ts";
import { whyIncomplete } from "../in-place/refresh.ts";
import type { UpdateSpec } from "../in-place/state.ts";
import { planInPlaceUpdate } from "../in-place/update-spec.ts";
import {
  enterState,
  isHooked,
  lifecycleState,
  prepareUpdateAgain,
  withLifecycleState,
} from "../lifecycle/lifecycle.ts";
import { isMarkedForDelete } from "../pod/specified-delete.ts";
import { claimState, isGrown, planGrowth } from "./claim-size.ts";
import { change, claimsInUse, draftOf, refresh, remove, wait } from "./planned-actions.ts";
import type { Draft, Pass } from "./planned-actions.ts";
import {
  availabilityOf,
  countsAsUpdated,
  isHealthy,
  isTerminating,
  minReadySecondsOf,
  replicasOf,
  revisionOf,
  rollingOf,
  shareOf,
} from "./statefulset-pod-state.ts";
import { orderForUpdate } from "./update-order.ts";

/** The effect of the planned actions on the counts of the status. */
export interface Counts {
  current: number;
  updated: number;
}

/** Upstream's maximum wait for a pod to become available. */
const MAX_WAIT_MS = 300_000;

export function update(pass: Pass): Counts {
  const taken: Counts = { current: 0, updated: 0 };
  const { set } = pass.input;
  if (set.spec.updateStrategy?.type === "OnDelete" || refreshAll(pass) || rollingOf(set)?.paused) return taken;

  const allowed = shareOf(set, rollingOf(set)?.maxUnavailable ?? 1);
  if (allowed === undefined) {
    pass.ending = {
      because: "failure",
      message: `rollingUpdate.maxUnavailable is neither a number nor a percentage: ${JSON.stringify(rollingOf(set)?.maxUnavailable)}`,
    };
    return taken;
  }
  const away = new Away(pass, allowed);
  const specified = removeMarked(pass, away, taken);
  if (pass.ending) return taken;
  const places = pass.slots.map((draft) => ({ place: draft.ordinal - pass.range.start, pod: draft.seen, draft }));
  const isUpdated = (pod: ReadonlyPod): boolean =>
    countsAsUpdated(pod, pass.input.update.metadata.name, pass.input.gates);
  for (const { draft } of orderForUpdate(rollingOf(set), places, replicasOf(set), isUpdated)) {
    if (updateOne(pass, draft, away, specified, taken) === "stop") break;
  }
  return taken;
}

/**
 * True if a pod enters another lifecycle state, or the plan ends: a pod between two states would be counted wrongly.
 */
function refreshAll(pass: Pass): boolean {
  const drafts = new Map([...pass.slots, ...pass.condemned].map((draft) => [draft.seen, draft]));
  let isMoved = false;
  for (const pod of pass.input.pods) {
    const refreshed = refresh(pass, drafts.get(pod) ?? draftOf(-1, pod, "there"));
    if (refreshed === "ended") return true;
    if (refreshed === "moved") isMoved = true;
  }
  return isMoved;
}

/** The unavailable pods, and those that this plan makes unavailable. */
class Away {
  private readonly drafts = new Set<Draft>();
  private readonly unmade: number;
  private readonly allowed: number;

  constructor(pass: Pass, allowed: number) {
    this.allowed = allowed;
    this.unmade = pass.unmade;
    for (const draft of pass.slots) if (isAway(pass, draft)) this.drafts.add(draft);
  }

  /** Whether one more pod may become unavailable; an unavailable one always may. */
  admits(draft: Draft): boolean {
    return this.drafts.size + this.unmade < this.allowed || this.drafts.has(draft);
  }
  take(draft: Draft): void {
    this.drafts.add(draft);
  }
}

function isAway(pass: Pass, draft: Draft): boolean {
  const { set, gates, nowMs } = pass.input;
  const { seen } = draft;
  if (!isHealthy(seen) || whyIncomplete(seen, gates) !== undefined) return true;
  const { isAvailable, waitMs } = availabilityOf(seen, minReadySecondsOf(set), nowMs);
  if (!isAvailable) {
    if (waitMs <= MAX_WAIT_MS) wait(pass, waitMs);
    return true;
  }
  return (
    growsClaims(pass) && !claimsInUse(pass, draft).every(({ claim, template }) => claimState(claim, template).isReady)
  );
}

const growsClaims = ({ input: { set, gates } }: Pass): boolean =>
  gates.isOn("StatefulSetAutoResizePVCGate") && set.spec.volumeClaimUpdateStrategy?.type === "OnPodRollingUpdate";

/** The marked pods that may be deleted now. */
function removeMarked(pass: Pass, away: Away, taken: Counts): ReadonlySet<Draft> {
  const { current, update: target } = pass.input;
  const specified = new Set<Draft>();
  for (const draft of pass.slots.toReversed()) {
    if (!isMarkedForDelete(draft.seen) || !away.admits(draft)) continue;
    specified.add(draft);
    const removal = remove(pass, draft);
    if (removal === "ended") return specified;
    if (removal === "removed") {
      if (revisionOf(draft.seen) === current.metadata.name) taken.current++;
      else if (revisionOf(draft.seen) === target.metadata.name) taken.updated++;
    }
    away.take(draft);
  }
  return specified;
}

function updateOne(
  pass: Pass,
  draft: Draft,
  away: Away,
  specified: ReadonlySet<Draft>,
  taken: Counts,
): "next" | "stop" {
  const { current, update: target } = pass.input;
  const hasClaims =
    !growsClaims(pass) ||
    claimsInUse(pass, draft).every(({ claim, template }) => claimState(claim, template).isCompatible);
  if (revisionOf(draft.seen) === target.metadata.name && hasClaims) return "next";
  if (!away.admits(draft)) return "stop";
  if (growsClaims(pass)) {
    if (!hasClaims && !growClaims(pass, draft)) return "stop";
    if (!claimsInUse(pass, draft).every(({ claim, template }) => isGrown(claim, template))) {
      away.take(draft);
      return "next";
    }
  }
  if (specified.has(draft) || isTerminating(draft.seen)) return "next";

  const inPlace = updateInPlace(pass, draft);
  if (inPlace === "ended") return "stop";
  const removal = inPlace === "impossible" ? remove(pass, draft) : undefined;
  if (removal === "ended") return "stop";
  away.take(draft);
  if ((removal === undefined || removal === "removed") && revisionOf(draft.seen) === current.metadata.name)
    taken.current++;
  return "next";
}

/**
 * Claims are expanded before their pod is updated: a file system grows when a pod mounts it. Returns false if the plan
 * ends.
 */
function growClaims(pass: Pass, draft: Draft): boolean {
  const { set, classNamed } = pass.input;
  const pod = draft.seen.metadata.name;
  for (const { claim, template } of claimsInUse(pass, draft)) {
    const growth = planGrowth(set, pod, claim, template, classNamed);
    if (!growth) continue;
    if ("problem" in growth) {
      const { name } = claim.metadata;
      if (growth.needsEvent)
        pass.events.push({
          type: "Warning",
          reason: "FailedUpdatePVC",
          message: `failed to update pvc ${name}: contains diff other than spec resource, wait pvc to be deleted`,
        });
      pass.ending = { because: "failure", message: growth.problem };
      return false;
    }
    pass.changedClaims.set(claim.metadata.name, { claim: growth.claim, pod, isResized: true });
  }
  return true;
}

/** `taken` also while the pod waits for a hook. */
function updateInPlace(pass: Pass, draft: Draft): "taken" | "impossible" | "ended" {
  const { set, nowMs } = pass.input;
  const policy = rollingOf(set)?.podUpdatePolicy;
  if (policy !== "InPlaceIfPossible" && policy !== "InPlaceOnly") return "impossible";
  const spec = specFor(pass, draft);
  if (!spec) {
    if (policy === "InPlaceIfPossible") return "impossible";
    return fail(pass, `find strategy is InPlaceOnly but Pod ${draft.seen.metadata.name} can not update in-place`);
  }
  const hook = set.spec.lifecycle?.inPlaceUpdate;
  const step = (after: ReadonlyPod): "taken" | "ended" => (change(pass, draft, after) ? "taken" : "ended");
  const state = lifecycleState(draft.seen);
  switch (state) {
    case "":
    case "PreparingNormal":
    case "Normal":
      return isHooked(hook, draft.seen)
        ? step(enterState(draft.after, "PreparingUpdate", hook?.markPodNotReady ?? false, nowMs))
        : start(pass, draft, spec);
    case "PreparingUpdate":
      return isHooked(hook, draft.seen) ? "taken" : start(pass, draft, spec);
    case "Updated":
      return step(prepareUpdateAgain(draft.after, hook, nowMs));
    case "Updating":
      return start(pass, draft, spec);
    default:
      return fail(pass, `not allowed to in-place update pod ${draft.seen.metadata.name} in state ${state}`);
  }
}

function fail(pass: Pass, message: string): "ended" {
  pass.ending = { because: "failure", message };
  return "ended";
}

function start(pass: Pass, draft: Draft, spec: UpdateSpec): "taken" | "ended" {
  const { gates, nowMs } = pass.input;
  const relabel = (pod: ReadonlyPod): ReadonlyPod => {
    const labelled = {
      ...pod,
      metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, [REVISION_LABEL]: spec.revision } },
    };
    // Pods of a release without lifecycles stay without one.
    return lifecycleState(draft.seen) === "" ? labelled : withLifecycleState(labelled, "Updating", nowMs);
  };
  const { pod, resize } = startUpdate(closeGate(draft.after, spec, gates, nowMs), spec, { gates, relabel, nowMs });
  if (!change(pass, draft, pod, "updating")) return "ended";
  draft.isUpdatedInPlace = true;
  if (resize) draft.resize = resize;
  wait(pass, spec.graceSeconds * 1000);
  return "taken";
}

function specFor(
  { input: { set, revisions, update: target, gates }, specs }: Pass,
  { seen }: Draft,
): UpdateSpec | undefined {
  const from = revisions.find(({ metadata }) => metadata.name === revisionOf(seen));
  if (!from) return undefined;
  const graceSeconds = rollingOf(set)?.inPlaceUpdateStrategy?.gracePeriodSeconds;
  if (!specs.has(from))
    specs.set(
      from,
      planInPlaceUpdate({ template: podTemplateOf(from) }, { template: podTemplateOf(target) }, target.metadata.name, {
        gates,
        graceSeconds,
      }),
    );
  return specs.get(from);
}
