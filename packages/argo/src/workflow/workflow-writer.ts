/**
 * Writes a Workflow and its pods, emits its events, and waits until a write is visible in the informers.
 *
 * Writes: Pod, Workflow.
 */
import { ApiError, isAlreadyExists } from "@flotilla/apimachinery";
import { equalJson, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import { createExpectations, Pod, slowStart, writeAll } from "@flotilla/kubernetes";
import type { Owner, ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import { COMPLETED_LABEL, PHASE_LABEL } from "./workflow-names.ts";
import type { ReadonlyWorkflow } from "./workflow-names.ts";
import { isOver } from "./plan-argo.ts";
import { Workflow } from "./workflow-kind.ts";
import type { WorkflowStatus } from "./workflow-types.ts";

type Status = DeepReadonly<WorkflowStatus>;

/** Bad request, too large, invalid: the pod itself is wrong, so a retry cannot help. */
const REJECTED_CODES: ReadonlySet<number | undefined> = new Set([400, 413, 422]);
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && REJECTED_CODES.has(error.status.code);
/** Limit of a node's message in the status. */
const MAX_MESSAGE = 1024;

export interface WorkflowWriter {
  /** How long the writes of this owner need at most to become visible; 0 if they are. */
  waitMs(owner: Owner): number;
  /** Returns the messages of rejected pods, by name. A rejection is permanent, so the node ends with it. */
  createPods(pods: readonly ReadonlyPod[], owner: Owner, signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  deletePods(pods: readonly ReadonlyPod[], owner: Owner, signal: AbortSignal): Promise<void>;
  markCompleted(pods: readonly ReadonlyPod[], owner: Owner, signal: AbortSignal): Promise<void>;
  /** Writes the status and the labels that Argo derives from it. */
  writeStatus(workflow: ReadonlyWorkflow, status: Status, owner: Owner, signal: AbortSignal): Promise<void>;
  deleteWorkflow(workflow: ReadonlyWorkflow, owner: Owner, signal: AbortSignal): Promise<void>;
}

export function createWorkflowWriter({
  client,
  informers,
  clock,
  events,
}: Pick<WorkloadDependencies, "client" | "informers" | "clock" | "events">): WorkflowWriter {
  const podsSeen = createExpectations(informers.of(Pod), clock);
  const workflowSeen = createExpectations(informers.of(Workflow), clock);
  const recorder = events?.("workflow-controller");

  return {
    waitMs: (owner) => Math.max(podsSeen.waitMs(owner), workflowSeen.waitMs(owner)),

    async createPods(pods, owner, signal) {
      const refused = new Map<string, string>();
      await slowStart("pod creations", pods, async (pod) => {
        try {
          podsSeen.wrote(owner, await client.create(Pod, owner.cluster, pod, { signal }));
        } catch (error) {
          if (isRefusal(error)) refused.set(pod.metadata.name, error.message.slice(0, MAX_MESSAGE));
          // Created in a reconcile whose status was not stored; it still belongs to this node.
          else if (!isAlreadyExists(error)) throw error;
        }
      });
      return refused;
    },

    async deletePods(pods, { cluster }, signal) {
      await writeAll("pod deletions", pods, async (pod) => {
        const preconditions = { uid: pod.metadata.uid ?? "" };
        await unlessChanged(client.delete(Pod, keyOf(cluster, pod), { preconditions, signal }));
      });
    },

    async markCompleted(pods, { cluster }, signal) {
      await writeAll("pod labels", pods, async (pod) => {
        const labels = { ...pod.metadata.labels, [COMPLETED_LABEL]: "true" };
        await unlessChanged(client.update(Pod, cluster, { ...pod, metadata: { ...pod.metadata, labels } }, { signal }));
      });
    },

    async writeStatus(workflow, status, owner, signal) {
      const metadata = withPhaseLabels(workflow, status);
      if (metadata === workflow.metadata && equalJson(status, workflow.status)) return;
      const written = await unlessChanged(
        client.update(Workflow, owner.cluster, { ...workflow, metadata, status }, { signal }),
      );
      if (!written) return; // Another client wrote it; the next reconcile reads the new state.
      workflowSeen.wrote(owner, written);
      if (status.phase !== workflow.status?.phase) recorder?.record(owner.cluster, workflow, phaseEvent(status));
    },

    async deleteWorkflow(workflow, { cluster, uid }, signal) {
      await unlessChanged(
        client.delete(Workflow, keyOf(cluster, workflow), {
          preconditions: { uid },
          propagationPolicy: "Background",
          signal,
        }),
      );
    },
  };
}

/** The same object if the labels are right. */
function withPhaseLabels({ metadata }: ReadonlyWorkflow, status: Status): ReadonlyWorkflow["metadata"] {
  const labels = {
    ...metadata.labels,
    [PHASE_LABEL]: status.phase ?? "",
    ...defined({ [COMPLETED_LABEL]: isOver(status) ? "true" : undefined }),
  };
  return equalJson(labels, metadata.labels ?? {}) ? metadata : { ...metadata, labels };
}

function phaseEvent({ phase = "", message = "" }: Status): RecordedEvent {
  if (phase === "Running") return { type: "Normal", reason: "WorkflowRunning", message: "Workflow Running" };
  if (phase === "Succeeded") return { type: "Normal", reason: "WorkflowSucceeded", message: "Workflow completed" };
  return { type: "Warning", reason: "WorkflowFailed", message: message || `Workflow ended with ${phase}` };
}
