/** Plans the pods of a SidecarSet: finish hot upgrades, update some pods, mark those that cannot be updated. Pure. */
import type { PodCondition } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isSidecarStateConsistent, sidecarsInPod } from "./consistency.ts";
import { hasHotUpgrade, idleContainers, isHotUpgradeReady, isHotUpgrading } from "./hot-upgrade.ts";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";
import { isSidecarUpdated } from "./sidecarset-pod-state.ts";
import { choosePodsToUpgrade } from "./select.ts";
import { upgradableCondition } from "./upgrade-pod.ts";

interface PodUpgrade {
  pod: ReadonlyPod;
  /** Written after the upgrade; unset if the pod already has it. */
  condition?: DeepReadonly<PodCondition> | undefined;
}

export interface SidecarPlan {
  /** Pods whose hot upgrade finishes. */
  flip: readonly ReadonlyPod[];
  /** Pods whose sidecars get the set's images. */
  upgrade: readonly PodUpgrade[];
  /** Pods that must be recreated for the update, and are not marked yet. */
  mark: readonly { pod: ReadonlyPod; condition: DeepReadonly<PodCondition> }[];
  notUpgradable: number;
}

const NOTHING: SidecarPlan = { flip: [], upgrade: [], mark: [], notUpgradable: 0 };

/** `upgrade-pod.ts` computes the change of each pod. */
export function planSidecarPods(set: ReadonlySidecarSet, pods: readonly ReadonlyPod[], nowMs: number): SidecarPlan {
  const { type, paused } = set.spec.updateStrategy ?? {};
  if (type === "NotUpdate" || paused) return NOTHING;
  // Started hot upgrades are finished first: until then those pods count as not ready.
  const flip = hasHotUpgrade(set) ? pods.filter((pod) => canFlip(set, pod)) : [];
  if (flip.length > 0) return { ...NOTHING, flip };
  if (pods.every((pod) => isSidecarUpdated(pod, set))) return NOTHING;
  const { upgrade, notUpgradable } = choosePodsToUpgrade(set, pods);
  const { name } = set.metadata;
  return {
    flip,
    upgrade: upgrade.map((pod) => ({ pod, condition: upgradableCondition(pod, name, true, nowMs) })),
    mark: notUpgradable.flatMap((pod) => {
      const condition = upgradableCondition(pod, name, false, nowMs);
      return condition ? [{ pod, condition }] : [];
    }),
    notUpgradable: notUpgradable.length,
  };
}

function canFlip(set: ReadonlySidecarSet, pod: ReadonlyPod): boolean {
  const idle = idleContainers(set, pod);
  const others = new Set([...sidecarsInPod(set)].filter((name) => !idle.has(name)));
  return isHotUpgrading(set, pod) && isSidecarStateConsistent(pod, set, others) && isHotUpgradeReady(set, pod);
}
