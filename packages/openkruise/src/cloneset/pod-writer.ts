/**
 * Executes the planned changes of a CloneSet's pods, emits events for them, and waits until a write is visible in the
 * informers.
 */
import { createExpectations, Pod, podTemplateOf, slowStart, writeAll } from "@flotilla/kubernetes";
import type { Owner, ReadonlyPod } from "@flotilla/kubernetes";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { markForDelete } from "../pod/specified-delete.ts";
import { createWritePod } from "../in-place/write-pod.ts";
import type { PodStep } from "../in-place/write-pod.ts";
import type { ClaimWriter } from "./claim-writer.ts";
import { chooseInstanceIds, claimsOfPod, instanceIdOf } from "./cloneset-claims.ts";
import { makePod } from "./new-pods.ts";
import type { ScalePlan } from "./plan-scale.ts";
import type { Scene } from "./scene.ts";
import { inPlaceSteps } from "./update.ts";
import type { UpdateAction, UpdatePlan } from "./update.ts";
import type { WriteWithEvent } from "./write-with-event.ts";
import type { FeatureGates } from "../api/feature-gates.ts";
import type { KruiseDependencies } from "../api/kruise-definition.ts";

/** Pods created per reconcile; a set of thousands takes turns with the others. */
const MAX_CREATED_PER_PASS = 500;

export interface PodWriterDependencies extends KruiseDependencies {
  gates: FeatureGates;
  claims: ClaimWriter;
  recorder: EventRecorder | undefined;
  writeWithEvent: WriteWithEvent;
}

export interface PodWriter {
  /** How long the writes of this owner need at most to become visible; 0 if they are. */
  waitMs(owner: Owner): number;
  scale(scene: Scene, plan: ScalePlan): Promise<void>;
  /** `held`: a budget blocked the update of a pod and all following ones. */
  update(scene: Scene, plan: UpdatePlan): Promise<"updated" | "held">;
  /** Pods that no longer match the selector continue to run without an owner. */
  release(scene: Pick<Scene, "owner" | "signal">, pods: readonly ReadonlyPod[]): Promise<void>;
}

export function createPodWriter(deps: PodWriterDependencies): PodWriter {
  const { client, informers, clock, random, gates, claims, writeWithEvent } = deps;
  const podsSeen = createExpectations(informers.of(Pod), clock);
  const writePod = createWritePod({ client, podsSeen });
  /** A disruption budget may block the update of a pod; called before each update, only with the gate. */
  const mayUpdate = deps.mayUpdatePod ?? (() => Promise.resolve(true));
  const write = ({ owner, signal }: Pick<Scene, "owner" | "signal">, step: PodStep): Promise<ReadonlyPod | undefined> =>
    writePod(owner, step, signal);

  async function create(scene: Scene, pod: ReadonlyPod, existing: ReadonlySet<string>): Promise<void> {
    const { cloneSet, owner, signal } = scene;
    for (const claim of claimsOfPod(cloneSet, instanceIdOf(pod)).values())
      if (!existing.has(claim.metadata.name)) await claims.create(scene, claim);
    const { name } = pod.metadata;
    const failed = { reason: "FailedCreate", message: (why: string) => `failed to create pod: ${why}, pod: ${name}` };
    podsSeen.wrote(
      owner,
      await writeWithEvent(scene, client.create(Pod, owner.cluster, pod, { signal }), failed, {
        reason: "SuccessfulCreate",
        message: `succeed to create pod ${name}`,
      }),
    );
  }

  async function remove(scene: Scene, pod: ReadonlyPod): Promise<void> {
    const { owner, signal } = scene;
    const { name, uid = "" } = pod.metadata;
    const failed = { reason: "FailedDelete", message: (why: string) => `failed to delete pod ${name}: ${why}` };
    await writeWithEvent(
      scene,
      unlessChanged(client.delete(Pod, keyOf(owner.cluster, pod), { preconditions: { uid }, signal })),
      failed,
    );
    deps.recorder?.record(owner.cluster, scene.cloneSet, {
      type: "Normal",
      reason: "SuccessfulDelete",
      message: `succeed to delete pod ${name}`,
    });
    podsSeen.deleted(owner, pod);
    for (const claim of scene.claims.filter((item) => instanceIdOf(item) === instanceIdOf(pod)))
      await claims.remove(scene, claim);
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
      await writeWithEvent(scene, write(scene, { pod: action.pod, after: markForDelete(action.pod) }), failed, {
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
    await writeWithEvent(scene, update(), failed, {
      reason: "SuccessfulUpdatePodInPlace",
      message: `successfully update pod ${name} in-place(revision ${revision})`,
    });
  }

  return {
    waitMs: (owner) => podsSeen.waitMs(owner),

    async scale(scene, plan) {
      const { cloneSet, revisions } = scene;
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
      const existing = new Set(scene.claims.map(({ metadata }) => metadata.name));
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
  };
}
