/**
 * Selects the pods of a SidecarSet to update now, their order, and those that can never be updated.
 *
 * As in a CloneSet the least useful pods come first; then the user's priority and scatter strategies reorder them.
 * Unready pods are updated without limit, the others within maxUnavailable. Pure.
 */
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { activePodsOrder } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { byPriority } from "../cloneset/update-priority.ts";
import { scatter } from "../cloneset/update-scatter.ts";
import type { ScatterTerm } from "../cloneset/update-scatter.ts";
import { legacyShare, partitionOf } from "../int-or-percent.ts";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";
import { isSettled, isSidecarPodReady, isSidecarUpdated, upgradable } from "./sidecarset-pod-state.ts";

export interface UpgradeChoice {
  upgrade: ReadonlyPod[];
  notUpgradable: ReadonlyPod[];
}

export function choosePodsToUpgrade(set: ReadonlySidecarSet, pods: readonly ReadonlyPod[]): UpgradeChoice {
  const { selector, priorityStrategy, scatterStrategy } = set.spec.updateStrategy ?? {};
  const selected = selector && labelSelectorOf(selector);
  const candidates: ReadonlyPod[] = [];
  const notUpgradable: ReadonlyPod[] = [];
  for (const pod of pods) {
    if (isSidecarUpdated(pod, set) || (selected && !matchesLabels(selected, pod.metadata.labels))) continue;
    const verdict = upgradable(pod, set);
    if (verdict === "yes") candidates.push(pod);
    else if (verdict === "no") notUpgradable.push(pod);
  }
  let ordered = candidates.toSorted(activePodsOrder);
  if (priorityStrategy) ordered = byPriority(ordered, priorityStrategy);
  if (scatterStrategy) ordered = scatter(ordered, pods, scatterTerms(scatterStrategy, pods));
  return { upgrade: ordered.slice(0, upgradeCount(set, ordered, pods)), notUpgradable };
}

function upgradeCount(
  set: ReadonlySidecarSet,
  candidates: readonly ReadonlyPod[],
  pods: readonly ReadonlyPod[],
): number {
  const { partition, maxUnavailable } = set.spec.updateStrategy ?? {};
  const free = candidates.length - (partitionOf(partition, pods.length) ?? 0);
  if (free <= 0) return 0;
  const budget = maxUnavailable === undefined ? 1 : (legacyShare(maxUnavailable, pods.length, "up") ?? 0);
  let used = pods.filter((pod) => isSidecarUpdated(pod, set) && !isSettled(pod, set)).length;
  let count = 0;
  for (const pod of candidates.slice(0, free)) {
    if (isSidecarPodReady(pod, set)) {
      if (used >= budget) break;
      used++;
    }
    count++;
  }
  return count;
}

/** `*` expands to every value among the pods. Each term once. */
function scatterTerms(terms: readonly ScatterTerm[], pods: readonly ReadonlyPod[]): ScatterTerm[] {
  const unique = new Map<string, ScatterTerm>();
  // Label keys have no line break, so the combined keys are unique.
  const add = (key: string, value: string): unknown =>
    unique.has(`${key}\n${value}`) || unique.set(`${key}\n${value}`, { key, value });
  for (const { key, value } of terms) {
    if (value !== "*") add(key, value);
    else for (const { metadata } of pods) if (metadata.labels?.[key] !== undefined) add(key, metadata.labels[key]);
  }
  return [...unique.values()];
}
