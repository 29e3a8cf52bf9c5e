/**
 * The pod of a node: its construction, and the node phase that follows from it. There is no executor beside the main
 * container, because nothing runs in it that could be observed.
 */
import { DEFAULT_CONTAINER_ANNOTATION } from "@flotilla/kubernetes";
import { defined } from "@flotilla/base";
import { controllerReference } from "@flotilla/apimachinery";
import type { Pod, ReadonlyPod } from "@flotilla/kubernetes";
import type { WorkflowNodePhase } from "./workflow-types.ts";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import {
  COMPLETED_LABEL,
  MAIN_CONTAINER,
  NODE_ID_ANNOTATION,
  NODE_NAME_ANNOTATION,
  WORKFLOW_LABEL,
  nodeIdOf,
  podNameOf,
} from "./workflow-names.ts";
import type { ReadonlyTemplate, ReadonlyWorkflow } from "./workflow-names.ts";
import { WorkflowProblem } from "./variables.ts";

/** Fields that a pod takes from its template, or else from the Workflow. */
export const POD_FIELDS = [
  "nodeSelector",
  "tolerations",
  "affinity",
  "serviceAccountName",
  "automountServiceAccountToken",
  "priorityClassName",
  "schedulerName",
  "securityContext",
  "hostAliases",
  "hostNetwork",
  "dnsPolicy",
  "dnsConfig",
  "imagePullSecrets",
] as const;

/** `template` has its variables substituted. */
export function makeNodePod(
  workflow: ReadonlyWorkflow,
  nodeName: string,
  template: ReadonlyTemplate,
): DeepReadonly<Pod> {
  const { name, namespace } = workflow.metadata;
  const spec = workflow.spec as unknown as JsonObject;
  const own = template as unknown as JsonObject;
  const fields = POD_FIELDS.flatMap((field): [string, Json][] => {
    const value = own[field] ?? spec[field];
    return value === undefined ? [] : [[field, value]];
  });
  const volumes = [spec["volumes"], own["volumes"]].flatMap((list) => (Array.isArray(list) ? list : []));
  const { podPriorityClassName: priority } = spec;
  const common = spec["podMetadata"] as DeepReadonly<ReadonlyTemplate["metadata"]>;
  const activeDeadlineSeconds =
    template.activeDeadlineSeconds === undefined ? undefined : Number(template.activeDeadlineSeconds);
  if (Number.isNaN(activeDeadlineSeconds))
    throw new WorkflowProblem(`activeDeadlineSeconds '${template.activeDeadlineSeconds ?? ""}' is not a number`);
  const pod: JsonObject = {
    ...defined({ priorityClassName: priority }),
    ...Object.fromEntries(fields),
    restartPolicy: "Never",
    containers: [{ ...(template.container as unknown as JsonObject), name: MAIN_CONTAINER }],
    ...defined({
      initContainers: own["initContainers"],
      volumes: volumes.length > 0 ? volumes : undefined,
      activeDeadlineSeconds,
    }),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: podNameOf(name, nodeName, template.name ?? ""),
      namespace,
      labels: { ...common?.labels, ...template.metadata?.labels, [WORKFLOW_LABEL]: name, [COMPLETED_LABEL]: "false" },
      annotations: {
        ...common?.annotations,
        ...template.metadata?.annotations,
        [DEFAULT_CONTAINER_ANNOTATION]: MAIN_CONTAINER,
        [NODE_ID_ANNOTATION]: nodeIdOf(name, nodeName),
        [NODE_NAME_ANNOTATION]: nodeName,
      },
      ownerReferences: [controllerReference(workflow)],
    },
    spec: pod as unknown as DeepReadonly<Pod>["spec"],
  };
}

/** The node phase and message of a pod. */
export function phaseOfPod({ metadata, status }: ReadonlyPod): { phase: WorkflowNodePhase; message: string } {
  if (status?.phase === "Succeeded") return { phase: "Succeeded", message: "" };
  if (status?.phase === "Failed") return { phase: "Failed", message: failureOf({ metadata, status }) };
  if (metadata.deletionTimestamp) return { phase: "Error", message: "pod deleted" };
  if (status?.phase === "Running") return { phase: "Running", message: "" };
  const waiting = status?.containerStatuses?.find(({ state }) => state?.waiting)?.state?.waiting;
  const refused = status?.conditions?.find(({ type, status: value }) => type === "PodScheduled" && value === "False");
  const message = waiting
    ? [waiting.reason, waiting.message].filter(Boolean).join(": ")
    : refused
      ? [refused.reason, refused.message].filter(Boolean).join(": ")
      : "";
  return { phase: "Pending", message };
}

function failureOf({ status }: Pick<ReadonlyPod, "metadata" | "status">): string {
  if (status?.message) return status.message;
  for (const { name, state } of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const { terminated } = state ?? {};
    if (terminated && terminated.exitCode !== 0)
      return `${name}: ${terminated.reason || "Error"} (exit code ${terminated.exitCode ?? 0})${terminated.message ? `: ${terminated.message}` : ""}`;
  }
  return status?.reason ?? "pod failed";
}

/** The exit code of the main container, as in the node's outputs. */
export function exitCodeOf({ status }: ReadonlyPod): string | undefined {
  const code = status?.containerStatuses?.find(({ name }) => name === MAIN_CONTAINER)?.state?.terminated?.exitCode;
  return code === undefined ? undefined : String(code);
}
