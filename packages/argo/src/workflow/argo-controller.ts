/**
 * Workflow: runs Argo's step and DAG templates, with one pod per node, on a simulated member.
 *
 * Reads: Workflow, its pods.
 * Writes: Pod, Workflow: its status together with the object, because Argo's CRD has no status subresource. Another
 * client that writes the whole object can remove nodes; pod names are derived from their nodes, so no pod is created
 * twice.
 */
import { createExpectations, ownedBy, Pod, slowStart, writeAll } from "@flotilla/kubernetes";
import type { Owner, ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import { Workflow } from "./workflow-kind.ts";
import type { WorkflowStatus } from "./workflow-types.ts";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { ApiError, isAlreadyExists } from "@flotilla/apimachinery";
import { defineController, done, keyOf, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { planCleanup } from "./cleanup.ts";
import { COMPLETED_LABEL, PHASE_LABEL } from "./names.ts";
import type { ReadonlyWorkflow } from "./names.ts";
import { isOver, planWorkflow, withRejectedPods } from "./plan-argo.ts";
import type { WorkflowPlan } from "./plan-argo.ts";

/** Bad request, too large, invalid: the pod itself is wrong, so a retry cannot help. */
const REJECTED_CODES: ReadonlySet<number | undefined> = new Set([400, 413, 422]);
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && REJECTED_CODES.has(error.status.code);
/** Limit of a node's message in the status. */
const MAX_MESSAGE = 1024;

export function createWorkflowController(
  deps: Pick<WorkloadDependencies, "client" | "informers" | "clock" | "events">,
): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const pods = informers.of(Pod);
  const podsSeen = createExpectations(pods, clock);
  const workflowSeen = createExpectations(informers.of(Workflow), clock);
  const recorder = deps.events?.("workflow-controller");

  return defineController({
    name: "workflow",
    for: Workflow,
    watches: [owned(Pod)],
    writes: [Pod, Workflow],

    async reconcile(workflow, { key, signal }) {
      // The server's garbage collector deletes the pods of a deleted Workflow.
      if (workflow.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: workflow.metadata.uid ?? "" };
      const waitMs = Math.max(podsSeen.waitMs(owner), workflowSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const own = ownedBy(pods, key.cluster, owner.uid);
      if (isOver(workflow.status ?? {})) return cleanUp(workflow, own, key, signal);
      const plan = planWorkflow(workflow, own, clock.now());
      await carryOut(workflow, plan, owner, signal);
      await cleanUpPods(workflow, own, owner, signal);
      return plan.againInMs === undefined ? done : { requeueAfterMs: plan.againInMs };
    },
  });

  /** Creates the pods first: a node without its pod would count as one whose pod was deleted. */
  async function carryOut(
    workflow: ReadonlyWorkflow,
    { status, create, remove }: WorkflowPlan,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<void> {
    const refused = new Map<string, string>();
    await slowStart("pod creations", create, async (pod) => {
      try {
        podsSeen.wrote(owner, await client.create(Pod, owner.cluster, pod, { signal }));
      } catch (error) {
        // A rejection is permanent, so the node ends with it.
        if (isRefusal(error)) refused.set(pod.metadata.name, error.message.slice(0, MAX_MESSAGE));
        // Created in a reconcile whose status was not stored; it still belongs to this node.
        else if (!isAlreadyExists(error)) throw error;
      }
    });
    await deletePods(remove, owner, signal);
    await writeStatus(
      workflow,
      refused.size > 0 ? withRejectedPods(workflow, status, refused, clock.now()) : status,
      owner,
      signal,
    );
  }

  async function writeStatus(
    workflow: ReadonlyWorkflow,
    status: DeepReadonly<WorkflowStatus>,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<void> {
    const labels = {
      ...workflow.metadata.labels,
      [PHASE_LABEL]: status.phase ?? "",
      ...(isOver(status) ? { [COMPLETED_LABEL]: "true" } : {}),
    };
    const metadata = equalJson(labels, workflow.metadata.labels ?? {})
      ? workflow.metadata
      : { ...workflow.metadata, labels };
    if (metadata === workflow.metadata && equalJson(status, workflow.status)) return;
    const written = await unlessChanged(
      client.update(Workflow, owner.cluster, { ...workflow, metadata, status }, { signal }),
    );
    if (!written) return; // Another client wrote it; the next reconcile reads the new state.
    workflowSeen.wrote(owner, written);
    if (status.phase !== workflow.status?.phase) recordPhaseEvent(workflow, status, owner.cluster);
  }

  function recordPhaseEvent(
    workflow: ReadonlyWorkflow,
    { phase = "", message = "" }: DeepReadonly<WorkflowStatus>,
    cluster: string,
  ): void {
    if (phase === "Running")
      recorder?.record(cluster, workflow, { type: "Normal", reason: "WorkflowRunning", message: "Workflow Running" });
    else if (phase === "Succeeded")
      recorder?.record(cluster, workflow, {
        type: "Normal",
        reason: "WorkflowSucceeded",
        message: "Workflow completed",
      });
    else
      recorder?.record(cluster, workflow, {
        type: "Warning",
        reason: "WorkflowFailed",
        message: message || `Workflow ended with ${phase}`,
      });
  }

  /** Labels or deletes finished pods, according to `podGC`. */
  async function cleanUpPods(
    workflow: ReadonlyWorkflow,
    own: readonly ReadonlyPod[],
    owner: Owner,
    signal: AbortSignal,
  ): Promise<void> {
    const { remove, mark } = planCleanup(workflow, own, clock.now());
    await deletePods(remove, owner, signal);
    await writeAll("pod labels", mark, async (pod) => {
      const labels = { ...pod.metadata.labels, [COMPLETED_LABEL]: "true" };
      await unlessChanged(
        client.update(Pod, owner.cluster, { ...pod, metadata: { ...pod.metadata, labels } }, { signal }),
      );
    });
  }

  async function cleanUp(
    workflow: ReadonlyWorkflow,
    own: readonly ReadonlyPod[],
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<Result> {
    const owner = { cluster: key.cluster, uid: workflow.metadata.uid ?? "" };
    await cleanUpPods(workflow, own, owner, signal);
    const { expiresInMs } = planCleanup(workflow, own, clock.now());
    if (expiresInMs === undefined) return done;
    if (expiresInMs > 0) return { requeueAfterMs: expiresInMs };
    await unlessChanged(
      client.delete(Workflow, key, { preconditions: { uid: owner.uid }, propagationPolicy: "Background", signal }),
    );
    return done;
  }

  async function deletePods(doomed: readonly ReadonlyPod[], owner: Owner, signal: AbortSignal): Promise<void> {
    await writeAll("pod deletions", doomed, async (pod) => {
      await unlessChanged(
        client.delete(Pod, keyOf(owner.cluster, pod), { preconditions: { uid: pod.metadata.uid ?? "" }, signal }),
      );
    });
  }
}
