/** Completion and validation of ContainerRecreateRequest, as in OpenKruise's webhook. */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import { change, deniedByWebhook, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { isActive, Node, Pod } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isHub, kruiseAdmission } from "../api/webhook.ts";
import { SIDECAR_TERMINATED } from "../pod/sidecar-terminated.ts";
import { ContainerRecreateRequest } from "./containerrecreaterequest-kind.ts";
import type { ReadonlyRecreateRequest } from "./containerrecreaterequest-kind.ts";
import { ACTIVE_LABEL, NODE_NAME_LABEL, POD_UID_LABEL, UNREADY_ACQUIRED } from "./recreate-names.ts";

type Container = ReadonlyRecreateRequest["spec"]["containers"][number];

const NAME = "containerrecreaterequest";
const MIN_DEADLINE_SECONDS = 3;

const refuse = (problem: string, code = 400): Error => deniedByWebhook(`m${NAME}.kb.io`, code, problem);

/** The hub only propagates it: the pod is on a member. */
function complete(request: ReadonlyRecreateRequest, review: Review<ContainerRecreateRequest>): ReadonlyRecreateRequest {
  if (review.oldObject) {
    checkUnchanged(request, review.oldObject);
    return request;
  }
  checkSpec(request);
  if (isHub(review)) return request;
  const filled = change(fill(request, {}), "spec", (spec) =>
    change(fill(spec, { strategy: {} }), "strategy", (strategy) => fill(strategy ?? {}, { failurePolicy: "Fail" })),
  );
  const { namespace } = request.metadata;
  const pod = review.read.get(Pod, namespace, request.spec.podName);
  if (!pod) throw refuse(`no found Pod named ${request.spec.podName}`);
  if (!isActive(pod) && !pod.status?.conditions?.some(({ type }) => type === SIDECAR_TERMINATED))
    throw refuse("not allowed to recreate containers in an inactive Pod");
  const { nodeName } = pod.spec;
  if (!nodeName) throw refuse("not allowed to recreate containers in a pending Pod");
  if (!review.read.get(Node, undefined, nodeName))
    throw refuse(`failed to get Node ${nodeName}: Node "${nodeName}" not found`);
  return withPod(filled, pod, nodeName);
}

function checkUnchanged(request: ReadonlyRecreateRequest, old: ReadonlyRecreateRequest): void {
  if (!equalJson(request.spec, old.spec)) throw refuse("spec of ContainerRecreateRequest is immutable", 403);
  for (const label of [POD_UID_LABEL, NODE_NAME_LABEL])
    if ((request.metadata.labels?.[label] ?? "") !== (old.metadata.labels?.[label] ?? ""))
      throw refuse(`not allowed to update immutable label ${label}`, 403);
  const since = old.metadata.annotations?.[UNREADY_ACQUIRED];
  if (since && request.metadata.annotations?.[UNREADY_ACQUIRED] !== since)
    throw refuse(`not allowed to update immutable annotation ${UNREADY_ACQUIRED}`, 403);
}

function checkSpec({ spec }: ReadonlyRecreateRequest): void {
  const { podName, containers = [], strategy = {}, activeDeadlineSeconds } = spec;
  if (!podName) throw refuse("podName can not be empty");
  if (containers.length === 0) throw refuse("containers list can not be null");
  if (activeDeadlineSeconds !== undefined && activeDeadlineSeconds < MIN_DEADLINE_SECONDS)
    throw refuse(`activeDeadlineSeconds can not be less than ${MIN_DEADLINE_SECONDS}s`);
  for (const field of ["terminationGracePeriodSeconds", "unreadyGracePeriodSeconds"] as const)
    if ((strategy[field] ?? 0) < 0) throw refuse(`${field} must be non-negative integer`);
  const { failurePolicy = "" } = strategy;
  if (!["", "Fail", "Ignore"].includes(failurePolicy)) throw refuse(`unknown failurePolicy ${failurePolicy}`);
}

function withPod(request: ReadonlyRecreateRequest, pod: ReadonlyPod, nodeName: string): ReadonlyRecreateRequest {
  const { metadata, spec } = request;
  return {
    ...request,
    metadata: {
      ...metadata,
      labels: {
        ...metadata.labels,
        [ACTIVE_LABEL]: "true",
        [NODE_NAME_LABEL]: nodeName,
        [POD_UID_LABEL]: pod.metadata.uid ?? "",
      },
    },
    spec: {
      ...spec,
      strategy: {
        ...spec.strategy,
        terminationGracePeriodSeconds:
          spec.strategy?.terminationGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds,
      },
      containers: spec.containers.map((container) => withContext(container, pod)),
    },
  };
}

function withContext(container: Container, pod: ReadonlyPod): DeepReadonly<Container> {
  const { name } = container;
  if (container.preStop ?? container.ports ?? container.statusContext)
    throw refuse("preStop, ports, statusContext in container are ready-only fields");
  const specified = pod.spec.containers.find((one) => one.name === name);
  if (!specified) throw refuse(`container ${name} not found in Pod`);
  const status = pod.status?.containerStatuses?.find((one) => one.name === name);
  if (!status) throw refuse(`not found ${name} containerStatus in Pod Status`);
  if (!status.containerID)
    throw refuse(`no containerID in ${name} containerStatus, maybe the container has not been initialized`);
  const { exec, httpGet, tcpSocket } = specified.lifecycle?.preStop ?? {};
  return {
    ...container,
    preStop: specified.lifecycle?.preStop && { exec, httpGet, tcpSocket },
    ports: httpGet ? specified.ports : undefined,
    statusContext: { containerID: status.containerID, restartCount: status.restartCount },
  };
}

export const containerRecreateRequestRules = (): AnyAdmission[] => [
  kruiseAdmission(ContainerRecreateRequest, {
    name: NAME,
    code: 400,
    tables: { v1alpha1: "apps-kruise-v1alpha1" },
    complete,
    check: () => [],
  }),
];
