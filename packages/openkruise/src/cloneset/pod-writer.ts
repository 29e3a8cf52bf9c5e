/**
 * Executes the planned changes of a CloneSet's pods and claims, emits events for them, and records the expectations for
 * the informers.
 */
import { PersistentVolumeClaim, Pod, podTemplateOf, slowStart, writeAll } from "@flotilla/kubernetes";
import type { Expectations, Owner, ReadonlyClaim, ReadonlyPod, RevisionPlan } from "@flotilla/kubernetes";
import { messageOf } from "@flotilla/base";
import type { Clock, Random } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { isNamespaceTerminating } from "@flotilla/apimachinery";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import { markForDelete } from "../pod/specified-delete.ts";
import { createWritePod } from "../in-place/write-pod.ts";
import type { PodStep } from "../in-place/write-pod.ts";
import { chooseInstanceIds, claimsOfPod, instanceIdOf } from "./claims.ts";
import { makePod } from "./new-pods.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";
import type { ScalePlan } from "./scale.ts";
import { inPlaceSteps } from "./update.ts";
import type { UpdateAction, UpdatePlan } from "./update.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

/** Pods created per reconcile; a set of thousands takes turns with the others. */
const MAX_CREATED_PER_PASS = 500;

/** A CloneSet with its pods, claims and revisions. */
export interface Scene {
  cloneSet: ReadonlyCloneSet;
  owner: Owner;
  /** All pods of the CloneSet, and the active ones. */
  pods: readonly ReadonlyPod[];
  active: readonly ReadonlyPod[];
  claims: readonly ReadonlyClaim[];
  revisions: RevisionPlan;
  signal: AbortSignal;
}

export interface WriterDependencies {
  client: Client;
  podsSeen: Expectations;
  claimsSeen: Expectations;
  clock: Clock;
  random: Random;
  gates: FeatureGates;
  record(owner: Owner, cloneSet: ReadonlyCloneSet, event: RecordedEvent): void;
  /** A disruption budget may block the update of a pod; called before each update, only with the gate. */
  mayUpdate(cluster: string, pod: ReadonlyPod): Promise<boolean>;
}

export interface PodWriter {
  scale(scene: Scene, plan: ScalePlan): Promise<void>;
  /** `held`: a budget blocked the update of a pod and all following ones. */
  update(scene: Scene, plan: UpdatePlan): Promise<"updated" | "held">;
  /** Pods that no longer match the selector continue to run without an owner. */
  release(scene: Pick<Scene, "owner" | "signal">, pods: readonly ReadonlyPod[]): Promise<void>;
  clearClaims(
    scene: Pick<Scene, "cloneSet" | "owner" | "signal">,
    remove: readonly ReadonlyClaim[],
    handOver: readonly ReadonlyClaim[],
  ): Promise<void>;
}

export function createPodWriter({
  client,
  podsSeen,
  claimsSeen,
  clock,
  random,
  gates,
  record,
  mayUpdate,
}: WriterDependencies): PodWriter {
  const writePod = createWritePod({ client, podsSeen });
  const write = ({ owner, signal }: Pick<Scene, "owner" | "signal">, step: PodStep): Promise<ReadonlyPod | undefined> =>
    writePod(owner, step, signal);

  /** Runs a write and emits an event for the outcome; a failure is rethrown. */
  const withEvents = async <T>(
    { owner, cloneSet }: Pick<Scene, "owner" | "cloneSet">,
    action: Promise<T>,
    failed: { reason: string; message(why: string): string },
    done?: { reason: string; message: string },
  ): Promise<T> => {
    try {
      const result = await action;
      if (done && result !== undefined) record(owner, cloneSet, { type: "Normal", ...done });
      return result;
    } catch (error) {
      // Events cannot be created in a terminating namespace either.
      if (!isNamespaceTerminating(error))
        record(owner, cloneSet, { type: "Warning", reason: failed.reason, message: failed.message(messageOf(error)) });
      throw error;
    }
  };

  async function create(scene: Scene, pod: ReadonlyPod, existing: ReadonlySet<string>): Promise<void> {
    const { cloneSet, owner, signal } = scene;
    for (const claim of claimsOfPod(cloneSet, instanceIdOf(pod)).values()) {
      if (existing.has(claim.metadata.name)) continue;
      const failed = {
        reason: "FailedCreate",
        message: (why: string) => `failed to create pvc: ${why}, pvc: ${claim.metadata.name}`,
      };
      claimsSeen.wrote(
        owner,
        await withEvents(scene, client.create(PersistentVolumeClaim, owner.cluster, claim, { signal }), failed),
      );
    }
    const { name } = pod.metadata;
    const failed = { reason: "FailedCreate", message: (why: string) => `failed to create pod: ${why}, pod: ${name}` };
    podsSeen.wrote(
      owner,
      await withEvents(scene, client.create(Pod, owner.cluster, pod, { signal }), failed, {
        reason: "SuccessfulCreate",
        message: `succeed to create pod ${name}`,
      }),
    );
  }

  async function remove(scene: Scene, pod: ReadonlyPod): Promise<void> {
    const { cloneSet, owner, claims, signal } = scene;
    const { name, uid = "" } = pod.metadata;
    const failed = { reason: "FailedDelete", message: (why: string) => `failed to delete pod ${name}: ${why}` };
    await withEvents(
      scene,
      unlessChanged(client.delete(Pod, keyOf(owner.cluster, pod), { preconditions: { uid }, signal })),
      failed,
    );
    record(owner, cloneSet, { type: "Normal", reason: "SuccessfulDelete", message: `succeed to delete pod ${name}` });
    podsSeen.deleted(owner, pod);
    for (const claim of claims.filter((item) => instanceIdOf(item) === instanceIdOf(pod)))
      await removeClaim(scene, claim, "failed to delete pvc");
  }

  async function removeClaim(
    { cloneSet, owner, signal }: Pick<Scene, "cloneSet" | "owner" | "signal">,
    claim: ReadonlyClaim,
    failure: string,
  ): Promise<void> {
    const failed = { reason: "FailedDelete", message: (why: string) => `${failure} ${claim.metadata.name}: ${why}` };
    await withEvents(
      { owner, cloneSet },
      unlessChanged(
        client.delete(PersistentVolumeClaim, keyOf(owner.cluster, claim), {
          preconditions: { uid: claim.metadata.uid ?? "" },
          signal,
        }),
      ),
      failed,
    );
    claimsSeen.deleted(owner, claim);
  }

  async function act(scene: Scene, action: UpdateAction, revision: string): Promise<void> {
    if (action.do === "prepare") {
      await write(scene, action.step);
      return;
    }
    const { name } = action.pod.metadata;
    if (action.do === "recreate") {
      const failed = {
        reason: "FailedUpdatePodReCreate",
        message: (why: string) =>
          `failed to patch pod specified-delete ${name} for update(revision ${revision}): ${why}`,
      };
      await withEvents(scene, write(scene, { pod: action.pod, after: markForDelete(action.pod) }), failed, {
        reason: "SuccessfulUpdatePodReCreate",
        message: `successfully patch pod ${name} specified-delete for update(revision ${revision})`,
      });
      return;
    }
    const steps = inPlaceSteps(action.spec, { gates, nowMs: clock.now() });
    const update = async (): Promise<ReadonlyPod | undefined> => {
      const closed = await write(scene, { pod: action.pod, after: steps.close(action.pod) });
      if (!closed) return undefined;
      const { pod: after, resize } = steps.start(closed);
      return write(scene, { pod: closed, after, resize });
    };
    const failed = {
      reason: "FailedUpdatePodInPlace",
      message: (why: string) => `failed to update pod ${name} in-place(revision ${revision}): ${why}`,
    };
    await withEvents(scene, update(), failed, {
      reason: "SuccessfulUpdatePodInPlace",
      message: `successfully update pod ${name} in-place(revision ${revision})`,
    });
  }

  return {
    async scale(scene, plan) {
      const { cloneSet, claims, revisions } = scene;
      const { current, update } = revisions;
      const wanted = Math.min(plan.createCurrent + plan.createUpdate, MAX_CREATED_PER_PASS);
      const ids = wanted > 0 ? chooseInstanceIds(wanted, scene, random) : [];
      const created = ids.map((id, index) => {
        const revision = index < plan.createCurrent ? current : update;
        return makePod(
          cloneSet,
          { revision: revision.metadata.name, template: podTemplateOf(revision), id },
          gates,
          clock.now(),
        );
      });
      const existing = new Set(claims.map(({ metadata }) => metadata.name));
      await slowStart("pod creations", created, (pod) => create(scene, pod, existing));
      await writeAll("pod deletions", plan.remove, (pod) => remove(scene, pod));
      await writeAll("lifecycle changes", plan.prepare, async (step) => void (await write(scene, step)));
    },

    async update(scene, plan) {
      await writeAll("pod refreshes", plan.refresh, async (step) => void (await write(scene, step)));
      if (!gates.isOn("PodUnavailableBudgetUpdateGate")) {
        await writeAll("pod updates", plan.actions, (action) => act(scene, action, plan.targetRevision));
        return "updated";
      }
      for (const action of plan.actions) {
        const pod = action.do === "prepare" ? action.step.pod : action.pod;
        if (!(await mayUpdate(scene.owner.cluster, pod))) return "held";
        await act(scene, action, plan.targetRevision);
      }
      return "updated";
    },

    async release(target, pods) {
      await writeAll("pod releases", pods, async (pod) => {
        const ownerReferences = pod.metadata.ownerReferences?.filter(({ uid }) => uid !== target.owner.uid) ?? [];
        await write(target, { pod, after: { ...pod, metadata: { ...pod.metadata, ownerReferences } } });
      });
    },

    async clearClaims(scene, claims, handOver) {
      await writeAll("claim owner updates", handOver, async (claim) => {
        const failed = {
          reason: "FailedUpdate",
          message: (why: string) => `failed to update PVC ${claim.metadata.name}: ${why}`,
        };
        const written = await withEvents(
          scene,
          unlessChanged(client.update(PersistentVolumeClaim, scene.owner.cluster, claim, { signal: scene.signal })),
          failed,
        );
        if (written) claimsSeen.wrote(scene.owner, written);
      });
      await writeAll("claim deletions", claims, (claim) => removeClaim(scene, claim, "failed to clean up PVC"));
    },
  };
}
