/**
 * Workflow: runs Argo's step and DAG templates, with one pod per node, on a simulated member.
 *
 * Reads: Workflow, its pods.
 * Writes: Pod, Workflow: its status together with the object, because Argo's CRD has no status subresource. Another
 * client that writes the whole object can remove nodes; pod names are derived from their nodes, so no pod is created
 * twice.
 */
import { ownedBy, Pod } from "@flotilla/kubernetes";
import type { Owner, ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import { Workflow } from "./workflow-kind.ts";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, owned } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { planCleanup } from "./cleanup.ts";
import type { ReadonlyWorkflow } from "./workflow-names.ts";
import { isOver, planWorkflow, withRejectedPods } from "./plan-argo.ts";
import type { WorkflowPlan } from "./plan-argo.ts";
import { createWorkflowWriter } from "./workflow-writer.ts";

export function createWorkflowController(
  deps: Pick<WorkloadDependencies, "client" | "informers" | "clock" | "events">,
): Controller<ObjectKey> {
  const { informers, clock } = deps;
  const pods = informers.of(Pod);
  const writer = createWorkflowWriter(deps);

  return defineController({
    name: "workflow",
    for: Workflow,
    watches: [owned(Pod)],
    writes: [Pod, Workflow],

    async reconcile(workflow, { key, signal }) {
      // The server's garbage collector deletes the pods of a deleted Workflow.
      if (workflow.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: workflow.metadata.uid ?? "" };
      const waitMs = writer.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const own = ownedBy(pods, key.cluster, owner.uid);
      if (isOver(workflow.status ?? {})) return cleanUp(workflow, own, owner, signal);
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
    const refused = await writer.createPods(create, owner, signal);
    await writer.deletePods(remove, owner, signal);
    const next = refused.size > 0 ? withRejectedPods(workflow, status, refused, clock.now()) : status;
    await writer.writeStatus(workflow, next, owner, signal);
  }

  /** Labels or deletes finished pods, according to `podGC`. */
  async function cleanUpPods(
    workflow: ReadonlyWorkflow,
    own: readonly ReadonlyPod[],
    owner: Owner,
    signal: AbortSignal,
  ): Promise<void> {
    const { remove, mark } = planCleanup(workflow, own, clock.now());
    await writer.deletePods(remove, owner, signal);
    await writer.markCompleted(mark, owner, signal);
  }

  async function cleanUp(
    workflow: ReadonlyWorkflow,
    own: readonly ReadonlyPod[],
    owner: Owner,
    signal: AbortSignal,
  ): Promise<Result> {
    await cleanUpPods(workflow, own, owner, signal);
    const { expiresInMs } = planCleanup(workflow, own, clock.now());
    if (expiresInMs === undefined) return done;
    if (expiresInMs > 0) return { requeueAfterMs: expiresInMs };
    await writer.deleteWorkflow(workflow, owner, signal);
    return done;
  }
}
