/**
 * The Works of gates that run something on members: a Job, or an ImagePullJob that pulls the images of the release on every
 * node. The usual delivery creates them, also on members that pull. Pure.
 */
import { fnv1a32 } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { executionNamespace, WORK_FINALIZER } from "@flotilla/karmada";
import type { Work } from "@flotilla/karmada";
import { countOf } from "@flotilla/kubernetes";
import type { FleetRollout, GateStatus } from "../kinds/fleet-rollout.ts";
import type { GateSpec } from "../kinds/strategy-fields.ts";
import type { Verdict } from "./read-answers.ts";

/** On Works of gates: the FleetRollout, as namespace/name. */
const GATE_OF = "flotilla.dev/gate-of";

type Gate = Pick<GateStatus, "wave" | "when" | "index">;

export function planGateWorks(
  rollout: DeepReadonly<FleetRollout>,
  gate: Gate,
  spec: DeepReadonly<GateSpec>,
  clusters: readonly string[],
): Work[] {
  const name = gateName(rollout, gate);
  const namespace = rollout.metadata.namespace ?? "";
  if (spec.job) {
    const cluster = spec.job.cluster ?? clusters[0];
    if (cluster === undefined) return [];
    const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name, namespace }, spec: spec.job.template as Json };
    return [workOf(rollout, name, cluster, [job])];
  }
  const images = imagesOf(rollout.spec.template);
  return clusters.map((cluster) =>
    workOf(
      rollout,
      name,
      cluster,
      images.map((image, index) => ({
        apiVersion: "apps.kruise.io/v1alpha1",
        kind: "ImagePullJob",
        metadata: { name: `${name}-${index}`, namespace },
        spec: {
          image,
          parallelism: spec.images?.parallelism ?? 1,
          completionPolicy: { type: "Always", activeDeadlineSeconds: 1200, ttlSecondsAfterFinished: 300 },
        },
      })),
    ),
  );
}

/** Another object's Work may have the name; what members say of it is not the answer of this gate. */
export const isWorkOf = ({ metadata }: DeepReadonly<FleetRollout>, work: DeepReadonly<Work>): boolean =>
  work.metadata.annotations?.[GATE_OF] === `${metadata.namespace}/${metadata.name}`;

const gateName = ({ metadata }: DeepReadonly<FleetRollout>, { wave, when, index }: Gate): string =>
  `gate-${metadata.name.slice(-40).replace(/^[^a-z0-9]+/, "")}-${fnv1a32(`${metadata.uid}/${wave}/${when}/${index}`).toString(16)}`;

function workOf(
  rollout: DeepReadonly<FleetRollout>,
  name: string,
  cluster: string,
  manifests: readonly JsonObject[],
): Work {
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      name: `${rollout.metadata.namespace}-${name}`.slice(0, 253),
      namespace: executionNamespace(cluster),
      labels: { [GATE_OF]: String(fnv1a32(`${rollout.metadata.namespace}/${rollout.metadata.name}`)) },
      annotations: { [GATE_OF]: `${rollout.metadata.namespace}/${rollout.metadata.name}` },
      finalizers: [WORK_FINALIZER],
    },
    spec: { workload: { manifests: [...manifests] } },
  };
}

/** The images of the containers of a pod template, each once. */
function imagesOf(part: unknown): string[] {
  const spec = isObject(part) && isObject(part["spec"]) ? part["spec"] : {};
  const containers = ["initContainers", "containers"].flatMap((field) => {
    const list = spec[field];
    return Array.isArray(list) ? list : [];
  });
  return [
    ...new Set(
      containers.flatMap((container) =>
        isObject(container) && typeof container["image"] === "string" ? [container["image"]] : [],
      ),
    ),
  ];
}

/** What the members say of what a gate runs on them. */
export function readWorks(gate: DeepReadonly<GateSpec>, works: readonly (DeepReadonly<Work> | undefined)[]): Verdict {
  if (works.length === 0) return { state: "Open", message: "there is nothing to run", isFailure: false };
  let done = 0;
  let all = 0;
  for (const work of works) {
    const failed = work?.status?.conditions?.find(
      ({ type, status, reason }) => type === "Applied" && status === "False" && reason === "AppliedFailed",
    );
    if (failed) return { state: "Failed", message: failed.message, isFailure: true };
    const manifests = work?.spec.workload?.manifests?.length ?? 1;
    all += manifests;
    for (const { status } of work?.status?.manifestStatuses ?? []) {
      if (!isObject(status)) continue;
      if (gate.job) {
        const conditions = Array.isArray(status["conditions"]) ? status["conditions"] : [];
        const has = (type: string): boolean =>
          conditions.some((one) => isObject(one) && one["type"] === type && one["status"] === "True");
        if (
          has("Failed") ||
          (countOf(status["failed"]) > 0 && status["completionTime"] === undefined && has("FailureTarget"))
        )
          return { state: "Failed", message: "the Job failed", isFailure: true };
        if (has("Complete") || status["completionTime"] !== undefined) done++;
      } else {
        if (countOf(status["failed"]) > 0 && countOf(status["active"]) === 0)
          return {
            state: "Failed",
            message: `images cannot be pulled on ${countOf(status["failed"])} nodes`,
            isFailure: true,
          };
        if (
          status["completionTime"] !== undefined ||
          (countOf(status["desired"]) > 0 && countOf(status["succeeded"]) >= countOf(status["desired"]))
        )
          done++;
      }
    }
  }
  const value = `${done}/${all}`;
  return done >= all
    ? { state: "Open", value, isFailure: false }
    : { state: "Closed", value, message: gate.job ? "the Job runs" : "images are being pulled", isFailure: false };
}
