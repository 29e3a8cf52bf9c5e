/**
 * Argo Workflow. Its CRD has no status subresource, so a member's progress is kept when its copy is updated.
 *
 * Statuses are not aggregated onto the template: there the status is part of the object, so every step of the workflow
 * would create a new generation of the template and so a write to every member. The binding has the members' statuses.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type Json, type JsonObject, omitZero, textOf } from "@flotilla/base";
import { podDependencies, templateReplicas, timeIn, withSpecField } from "@flotilla/kubernetes";
import type { KindInterpreter, PodTemplateShape } from "@flotilla/kubernetes";

export interface WorkflowSpec extends Pick<
  NonNullable<PodTemplateShape["spec"]>,
  "affinity" | "nodeSelector" | "tolerations" | "volumes" | "imagePullSecrets" | "serviceAccountName"
> {
  parallelism?: number;
  suspend?: boolean;
  executor?: { serviceAccountName?: string };
  volumeClaimTemplates?: { metadata?: { name?: string } }[];
}
interface Workflow extends KubernetesObject {
  spec?: WorkflowSpec;
  status?: JsonObject;
}

const FINISHED = new Set(["Succeeded", "Failed", "Error"]);
const UNHEALTHY = new Set(["", "Error", "Failed"]);

export const workflowInterpreter: KindInterpreter<Workflow> = {
  group: "argoproj.io",
  kind: "Workflow",
  timeToLive: {
    path: ["spec", "ttlStrategy"],
    endedAt: (status) => (FINISHED.has(textOf(status["phase"])) ? timeIn(status, "finishedAt") : undefined),
    seconds: secondsToLive,
  },
  isFinished: ({ phase }) => FINISHED.has(textOf(phase)),
  replicas({ spec }) {
    const { affinity, nodeSelector, tolerations } = spec ?? {};
    return templateReplicas(spec?.parallelism ?? 1, {
      spec: {
        affinity,
        nodeSelector,
        tolerations,
      },
    });
  },
  reviseReplicas: (workflow, replicas) => withSpecField(workflow, "parallelism", replicas),
  retain(desired, observed) {
    const suspend = observed.spec?.suspend;
    return {
      ...(suspend === undefined ? desired : withSpecField(desired, "suspend", suspend)),
      ...omitZero({ status: observed.status }),
    };
  },
  isHealthy: ({ status }) => isObject(status) && !UNHEALTHY.has(textOf(status["phase"])),
  dependencies: ({ metadata, spec }) => workflowDependencies(spec, metadata.namespace),
};

/** As for a single Workflow; those of several members succeed together. */
function secondsToLive(strategy: Json, statuses: readonly JsonObject[]): number | undefined {
  if (!isObject(strategy)) return undefined;
  const hasSucceeded = statuses.every(({ phase }) => phase === "Succeeded");
  const seconds =
    strategy[hasSucceeded ? "secondsAfterSuccess" : "secondsAfterFailure"] ?? strategy["secondsAfterCompletion"];
  return typeof seconds === "number" ? seconds : undefined;
}

/** The dependencies of a workflow outside its steps. */
export function workflowDependencies(
  spec: Readonly<Record<string, unknown>> | undefined,
  namespace: string | undefined,
): ReturnType<typeof podDependencies> {
  const { volumes, imagePullSecrets, serviceAccountName, executor, volumeClaimTemplates } = (spec ??
    {}) as WorkflowSpec;
  const found = podDependencies(
    {
      spec: {
        volumes,
        imagePullSecrets,
        serviceAccountName: serviceAccountName || undefined,
      },
    },
    namespace,
  );
  const known = new Set(found.map(({ kind, name }) => `${kind}/${name}`));
  const add = (kind: string, name: Json | undefined): void => {
    if (typeof name !== "string" || name === "" || known.has(`${kind}/${name}`)) return;
    known.add(`${kind}/${name}`);
    found.push({ apiVersion: "v1", kind, namespace: namespace || undefined, name });
  };
  add("ServiceAccount", executor?.serviceAccountName);
  for (const { metadata } of volumeClaimTemplates ?? []) add("PersistentVolumeClaim", metadata?.name);
  return found;
}
