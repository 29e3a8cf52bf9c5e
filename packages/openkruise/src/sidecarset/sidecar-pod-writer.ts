/**
 * Carries out the plan for the pods of a SidecarSet, and emits its events.
 *
 * Writes: Pod (images and annotations; the condition SidecarSetUpgradable).
 */
import type { PodCondition } from "@flotilla/apimachinery/facts/core-v1.ts";
import { ApiError } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey, keyOf, unlessChanged } from "@flotilla/controller-runtime";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { createExpectations, Pod, writeAll, WriteAllError } from "@flotilla/kubernetes";
import type { Owner, ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";
import type { SidecarPlan } from "./plan-sidecarset.ts";
import { flipPod, upgradePod } from "./upgrade-pod.ts";

/** The SidecarSet whose pods are written. */
export interface SidecarTarget {
  set: ReadonlySidecarSet;
  owner: Owner;
  signal: AbortSignal;
}

/** The results of a reconcile's pods. */
interface Outcome {
  written: number;
  missed: number;
}

export interface SidecarPodWriter {
  /** How long the writes of this owner need at most to become visible; 0 if they are. */
  waitMs(owner: Owner): number;
  /**
   * Returns how many pods got other containers, and how many had conflicts. Conditions do not count: no set watches
   * them. A failure is a value: the status is written before it is thrown, as a budget may block some pods for long.
   */
  carryOut(target: SidecarTarget, plan: SidecarPlan): Promise<Outcome & { failure?: unknown }>;
  forget(key: ObjectKey): void;
}

export function createSidecarPodWriter(
  { client, informers, clock }: WorkloadDependencies,
  events: EventRecorder | undefined,
): SidecarPodWriter {
  const podsSeen = createExpectations(informers.of(Pod), clock);
  const notUpgradableReported = new Map<string, number>();

  return {
    waitMs: (owner) => podsSeen.waitMs(owner),
    async carryOut(target, plan) {
      try {
        return await writePods(target, plan);
      } catch (error) {
        return { written: 0, missed: 0, failure: error };
      }
    },
    forget: (key) => void notUpgradableReported.delete(idOfKey(key)),
  };

  async function writePods(
    target: SidecarTarget,
    { flip, upgrade, mark, notUpgradable }: SidecarPlan,
  ): Promise<Outcome> {
    const { set, owner } = target;
    const outcome: Outcome = { written: 0, missed: 0 };
    const count = (isWritten: boolean): boolean => {
      outcome[isWritten ? "written" : "missed"]++;
      return isWritten;
    };
    await writeAll("hot upgrades", flip, async (pod) => void count(await endHotUpgrade(target, pod)));
    await writeAll("pod conditions", mark, ({ pod, condition }) => writeCondition(target, pod, condition));
    reportNotUpgradable(set, owner.cluster, notUpgradable);
    let isHeld = false;
    await writeAll("sidecar updates", upgrade, async ({ pod, condition }) => {
      // A pod whose annotations cannot be merged does not block the others; an exhausted budget does.
      if (isHeld) return;
      try {
        if (count(await writePod(target, upgradePod(pod, set, clock.now()))) && condition)
          await writeCondition(target, pod, condition);
      } catch (error) {
        isHeld ||= isRefused(error);
        throw error;
      }
    });
    return outcome;
  }

  /** Upstream emits it in every reconcile; here once per number of pods. */
  function reportNotUpgradable(set: ReadonlySidecarSet, cluster: string, count: number): void {
    const id = idOfKey(keyOf(cluster, set));
    if (count === 0) notUpgradableReported.delete(id);
    if (count === 0 || notUpgradableReported.get(id) === count) return;
    notUpgradableReported.set(id, count);
    events?.record(cluster, set, {
      type: "Normal",
      reason: "NotUpgradablePods",
      message: `SidecarSet in-place update detected ${count} not upgradable pod(s) in this round, will skip them.`,
    });
  }

  async function endHotUpgrade(target: SidecarTarget, pod: ReadonlyPod): Promise<boolean> {
    const { cluster } = target.owner;
    try {
      const isWritten = await writePod(target, flipPod(pod, target.set, clock.now()));
      if (isWritten)
        events?.record(cluster, pod, {
          type: "Normal",
          reason: "ResetContainerSucceed",
          message: "reset sidecar container image empty successfully",
        });
      return isWritten;
    } catch (error) {
      events?.record(cluster, pod, {
        type: "Warning",
        reason: "ResetContainerFailed",
        message: `reset sidecar container image empty failed: ${messageOf(error)}`,
      });
      throw error;
    }
  }

  async function writePod({ owner, signal }: SidecarTarget, pod: ReadonlyPod): Promise<boolean> {
    const written = await unlessChanged(client.update(Pod, owner.cluster, pod, { signal }));
    if (written) podsSeen.wrote(owner, written);
    return written !== undefined;
  }

  /** The kubelet writes conditions too, so the patch contains only this one. */
  async function writeCondition(
    { owner, signal }: SidecarTarget,
    pod: ReadonlyPod,
    condition: DeepReadonly<PodCondition>,
  ): Promise<void> {
    const patch = { status: { conditions: [condition] } } as unknown as Json;
    const written = await unlessChanged(
      client.patch(Pod, keyOf(owner.cluster, pod), patch, { type: "strategic", subresource: "status", signal }),
    );
    if (written) podsSeen.wrote(owner, written);
  }
}

/** A budget blocks the update of a pod now; others may have been updated. */
export function isRefused(failure: unknown): boolean {
  const cause = failure instanceof WriteAllError ? failure.cause : failure;
  return cause instanceof ApiError && cause.status.code === 403;
}
