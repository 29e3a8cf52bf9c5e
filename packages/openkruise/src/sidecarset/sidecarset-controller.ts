/**
 * SidecarSet: maintains the history of its injected content, and updates sidecar images in existing pods.
 *
 * Reads: SidecarSet, the pods that were injected with it, its ControllerRevisions, Namespace (if it selects by
 * namespace).
 * Writes: Pod (images and annotations; the condition SidecarSetUpgradable), ControllerRevision in OpenKruise's
 * namespace, SidecarSet status.
 * Before: injection annotates every pod with its sets; only these pods are reconciled.
 */
import {
  ControllerRevision,
  createExpectations,
  createRevisionHistory,
  createStatusDelay,
  isActive,
  isReady,
  Namespace,
  planRevisions,
  Pod,
  STATUS_DELAY_MS,
  writeAll,
  WriteAllError,
} from "@flotilla/kubernetes";
import type { Owner, ReadonlyPod, ReadonlyRevision, RevisionPlan, WorkloadDependencies } from "@flotilla/kubernetes";
import { SidecarSet } from "./sidecarset-kind.ts";
import type { PodCondition } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { SidecarSetStatus } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { compareText, equalJson, messageOf } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { ApiError, isAlreadyExists, isNotFound } from "@flotilla/apimachinery";
import { defineController, done, idOfKey, keyOf, owned, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent, Result } from "@flotilla/controller-runtime";
import { hasAllSidecars, isPodOfSet } from "./match.ts";
import { CUSTOM_VERSION_LABEL, KRUISE_NAMESPACE, injectedSets } from "./names.ts";
import type { ReadonlySidecarSet, StringMap } from "./names.ts";
import { planSidecarPods } from "./plan-sidecarset.ts";
import type { SidecarPlan } from "./plan-sidecarset.ts";
import { podRevision } from "./records.ts";
import { sidecarSetRevisions, surplusRevisions } from "./revisions.ts";
import { planSidecarSetStatus } from "./sidecarset-status.ts";
import { flipPod, upgradePod } from "./upgrade.ts";

/** Pods by the sets that they were injected with: `<cluster>/<set>`. */
const SET_INDEX = "sidecarset";

/**
 * Retry interval for a pod that a budget blocks, as for CloneSets; or for one that another client changed in a field
 * that no set watches.
 */
const HELD_RETRY_MS = 1_000;

const EMPTY_STATUS: SidecarSetStatus = { matchedPods: 0, updatedPods: 0, readyPods: 0 };

/** The input of one reconcile. */
interface View {
  set: ReadonlySidecarSet;
  owner: Owner;
  pods: readonly ReadonlyPod[];
  signal: AbortSignal;
}

/** The results of a reconcile's pods. */
interface Outcome {
  written: number;
  missed: number;
}

export function createSidecarSetController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const pods = informers.of(Pod);
  pods.addIndex(SET_INDEX, (pod, cluster) => injectedSets(pod).map((set) => `${cluster}/${set}`));
  const history = createRevisionHistory(deps);
  const podsSeen = createExpectations(pods, clock);
  const statusSeen = createExpectations(informers.of(SidecarSet), clock);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const events = deps.events?.("sidecarset-controller");
  const notUpgradableReported = new Map<string, number>();

  return defineController({
    name: "sidecarset",
    for: SidecarSet,
    watches: [owned(ControllerRevision), watch(Pod, setsOf)],
    writes: [Pod, ControllerRevision, SidecarSet],

    async reconcile(set, { key, log, signal }) {
      // Injected sidecars stay in their pods; the server's garbage collector deletes the history.
      if (set.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: set.metadata.uid ?? "" };
      const waitMs = Math.max(podsSeen.waitMs(owner), history.waitMs(owner), statusSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      // Changes of a batch of pods can be handled together.
      const left = set.status?.observedGeneration === set.metadata.generation ? statusDelay.leftMs(idOfKey(key)) : 0;
      if (left > 0) return { requeueAfterMs: left };

      const revisions = planRevisions(sidecarSetRevisions, set, {
        known: history.of(owner),
        collisionCount: set.status?.collisionCount,
      });
      const view: View = { set, owner, pods: await matchingPods(set, key, signal), signal };
      if (revisions.write) {
        await writeRevision(view, revisions);
        return done; // The revision or the status triggers the next reconcile.
      }
      await nameVersion(view, revisions.update);
      const status = planSidecarSetStatus(set, view.pods, revisions.update.metadata.name, revisions.collisionCount);
      // Pods are annotated with the newest revision, so the status must record it before any pod is changed.
      const isNew =
        set.status?.latestRevision !== status.latestRevision ||
        set.status?.observedGeneration !== status.observedGeneration;
      if (isNew) {
        await writeStatus(view, status);
        return done;
      }
      const plan = planSidecarPods(set, view.pods, clock.now());
      const pass = await attempt(carryOut(view, plan));
      if (pass.written > 0) log.debug("sidecars updated", { pods: plan.upgrade.length, flipped: plan.flip.length });
      if (pass.missed > 0) return { requeueAfterMs: HELD_RETRY_MS };
      if (pass.written > 0) return done; // Changes of the pods trigger the next reconcile.
      const result = await settle(view, status, key, pass.failure !== undefined);
      if (pass.failure === undefined) return result;
      if (isRefused(pass.failure)) return { requeueAfterMs: HELD_RETRY_MS };
      // Thrown after the status is written, so that the reconcile is retried with backoff.
      throw pass.failure;
    },
    forget(key) {
      statusDelay.settled(idOfKey(key));
      notUpgradableReported.delete(idOfKey(key));
    },
  });

  async function settle(view: View, status: SidecarSetStatus, key: ObjectKey, isUrgent: boolean): Promise<Result> {
    const { set, owner, signal } = view;
    if (equalJson(status, set.status)) {
      statusDelay.settled(idOfKey(key));
      await history.remove(owner, surplusRevisions(set, history.of(owner), usedBy(view)), signal);
      return done;
    }
    const leftMs = isUrgent ? 0 : statusDelay.waitMs(idOfKey(key));
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await writeStatus(view, status);
    statusDelay.settled(idOfKey(key));
    return done;
  }

  /** Active pods with the sidecars of this set that it still selects. */
  async function matchingPods(
    set: ReadonlySidecarSet,
    { cluster, name }: ObjectKey,
    signal: AbortSignal,
  ): Promise<ReadonlyPod[]> {
    const candidates = pods
      .by(SET_INDEX, `${cluster}/${name}`)
      .filter((pod) => isActive(pod) && hasAllSidecars(pod, set));
    const labels = new Map<string, StringMap | undefined>();
    const namespaces = set.spec.namespaceSelector
      ? new Set(candidates.map(({ metadata }) => metadata.namespace ?? ""))
      : [];
    for (const namespace of namespaces) labels.set(namespace, await labelsOf({ cluster, name: namespace }, signal));
    return candidates.filter((pod) => isPodOfSet(pod, set, (namespace) => labels.get(namespace))).toSorted(byName);
  }

  async function labelsOf(namespace: ObjectKey, signal: AbortSignal): Promise<StringMap | undefined> {
    try {
      return (await client.get(Namespace, namespace, { signal })).metadata.labels ?? {};
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function writeRevision(view: View, revisions: RevisionPlan): Promise<void> {
    const { set, owner, signal } = view;
    let outcome: "written" | "collision";
    try {
      outcome = await history.write(owner, revisions, signal);
    } catch (error) {
      // If only OpenKruise's CRDs are installed, its namespace is missing.
      if (!isNotFound(error)) throw error;
      await ensureNamespace(owner.cluster, signal);
      outcome = await history.write(owner, revisions, signal);
    }
    // The next attempt uses another hash.
    if (outcome === "collision")
      await writeStatus(view, { ...(set.status ?? EMPTY_STATUS), collisionCount: revisions.collisionCount + 1 });
  }

  async function ensureNamespace(cluster: string, signal: AbortSignal): Promise<void> {
    try {
      await client.create(
        Namespace,
        cluster,
        { apiVersion: "v1", kind: "Namespace", metadata: { name: KRUISE_NAMESPACE } },
        { signal },
      );
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** Users can name versions, including existing ones. */
  async function nameVersion({ set, owner, signal }: View, revision: ReadonlyRevision): Promise<void> {
    const { customVersion } = set.spec;
    if (!customVersion || revision.metadata.labels?.[CUSTOM_VERSION_LABEL] === customVersion) return;
    await unlessChanged(
      client.patch(
        ControllerRevision,
        keyOf(owner.cluster, revision),
        { metadata: { labels: { [CUSTOM_VERSION_LABEL]: customVersion } } },
        { type: "merge", signal },
      ),
    );
  }

  async function writeStatus({ set, owner, signal }: View, status: DeepReadonly<SidecarSetStatus>): Promise<void> {
    const written = await unlessChanged(client.updateStatus(SidecarSet, owner.cluster, { ...set, status }, { signal }));
    if (written) statusSeen.wrote(owner, written);
  }

  /**
   * Returns how many pods got other containers, and how many had conflicts. Conditions do not count: no set watches
   * them.
   */
  async function carryOut(view: View, { flip, upgrade, mark, notUpgradable }: SidecarPlan): Promise<Outcome> {
    const { set, owner } = view;
    const outcome: Outcome = { written: 0, missed: 0 };
    const count = (isWritten: boolean): boolean => {
      outcome[isWritten ? "written" : "missed"]++;
      return isWritten;
    };
    await writeAll("hot upgrades", flip, async (pod) => void count(await endHotUpgrade(view, pod)));
    await writeAll("pod conditions", mark, ({ pod, condition }) => writeCondition(view, pod, condition));
    reportNotUpgradable(set, owner.cluster, notUpgradable);
    let isHeld = false;
    await writeAll("sidecar updates", upgrade, async ({ pod, condition }) => {
      // A pod whose annotations cannot be merged does not block the others; an exhausted budget does.
      if (isHeld) return;
      try {
        if (count(await writePod(view, upgradePod(pod, set, clock.now()))) && condition)
          await writeCondition(view, pod, condition);
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

  async function endHotUpgrade(view: View, pod: ReadonlyPod): Promise<boolean> {
    const { cluster } = view.owner;
    try {
      const isWritten = await writePod(view, flipPod(pod, view.set, clock.now()));
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

  async function writePod({ owner, signal }: View, pod: ReadonlyPod): Promise<boolean> {
    const written = await unlessChanged(client.update(Pod, owner.cluster, pod, { signal }));
    if (written) podsSeen.wrote(owner, written);
    return written !== undefined;
  }

  /** The kubelet writes conditions too, so the patch contains only this one. */
  async function writeCondition(
    { owner, signal }: View,
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

/** A failure is a value until the status is written: a budget may block some pods for long. */
async function attempt(writes: Promise<Outcome>): Promise<Outcome & { failure?: unknown }> {
  try {
    return await writes;
  } catch (error) {
    return { written: 0, missed: 0, failure: error };
  }
}

/** A budget blocks the update of a pod now; others may have been updated. */
function isRefused(failure: unknown): boolean {
  const cause = failure instanceof WriteAllError ? failure.cause : failure;
  return cause instanceof ApiError && cause.status.code === 403;
}

/** Makes the order of pods deterministic. */
function byName({ metadata: a }: ReadonlyPod, { metadata: b }: ReadonlyPod): number {
  return compareText(a.namespace ?? "", b.namespace ?? "") || compareText(a.name, b.name);
}

function usedBy({ set, pods }: View): (revision: ReadonlyRevision) => boolean {
  const used = new Set(pods.map((pod) => podRevision(pod, set.metadata.name)));
  return ({ metadata }) => used.has(metadata.name);
}

/** Maps a pod to its sets, if a field changed that sets watch. */
function setsOf({ cluster, object, old, deleted }: ObjectEvent<Pod>): ObjectKey[] {
  const now = injectedSets(object);
  const before = old ? injectedSets(old) : [];
  if (now.length + before.length === 0) return [];
  if (old && !deleted && !changesSidecars(object, old)) return [];
  return [...new Set([...now, ...before])].map((name) => ({ cluster, name }));
}

function changesSidecars(pod: ReadonlyPod, old: ReadonlyPod): boolean {
  if (
    isReady(pod) !== isReady(old) ||
    pod.status?.phase !== old.status?.phase ||
    pod.metadata.deletionTimestamp !== old.metadata.deletionTimestamp
  )
    return true;
  if (
    !equalJson(pod.metadata.labels, old.metadata.labels) ||
    !equalJson(pod.metadata.annotations, old.metadata.annotations)
  )
    return true;
  return (
    !equalJson(pod.spec.containers, old.spec.containers) ||
    !equalJson(pod.status?.containerStatuses, old.status?.containerStatuses)
  );
}
