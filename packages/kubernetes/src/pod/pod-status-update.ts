/** Defaults and validates a pod's status updates by the kubelet. */
import type { DeepReadonly } from "@flotilla/base";
import {
  change,
  checkText,
  checkUnchanged,
  dnsSubdomainProblems,
  field,
  fill,
  labelKeyProblems,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { Container, ContainerStatus, Pod, PodSpec, PodStatus } from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkAddress } from "../networking/addresses.ts";
import { checkImmutableAnnotations } from "./pod-update.ts";

type Read<T> = DeepReadonly<T>;

/**
 * Defaults fields that older kubelets omit: the quality of service class, the list of addresses, and the observed
 * generation.
 */
export function completePodStatus(pod: Read<Pod>, old: Read<Pod> | undefined): Read<Pod> {
  return change(pod, "status", (status) => {
    let result: Read<PodStatus> = withAddresses(status);
    if (!old?.status) return result;
    result = fill(result, {
      qosClass: old.status.qosClass,
      observedGeneration: old.status.observedGeneration || undefined,
    });
    return withObservedGenerations(result, old.status);
  });
}

/** The single address is the first of the list; where they differ, the single one wins. */
function withAddresses(status: Read<PodStatus>): Read<PodStatus> {
  const { podIP, podIPs = [] } = status;
  const first = podIPs[0]?.ip;
  if (podIP && podIP !== first) return { ...status, podIPs: [{ ip: podIP }] };
  return !podIP && first !== undefined ? { ...status, podIP: first } : status;
}

function withObservedGenerations(status: Read<PodStatus>, old: Read<PodStatus>): Read<PodStatus> {
  if (
    !status.conditions?.some(({ observedGeneration }) => !observedGeneration) ||
    !old.conditions?.some(({ observedGeneration }) => observedGeneration)
  )
    return status;
  const known = Map.groupBy(old.conditions, ({ type }) => type);
  const conditions = status.conditions.map((condition) => {
    const observedGeneration = known.get(condition.type)?.shift()?.observedGeneration;
    return condition.observedGeneration || !observedGeneration ? condition : { ...condition, observedGeneration };
  });
  return { ...status, conditions };
}

const SYSTEM_CONDITIONS = new Set(["PodScheduled", "Ready", "Initialized"]);

export function checkPodStatus(pod: Read<Pod>, old: Read<Pod>): FieldError[] {
  const errors: FieldError[] = [];
  checkImmutableAnnotations(errors, pod, old);
  const status: Read<PodStatus> = pod.status ?? {};
  const before: Read<PodStatus> = old.status ?? {};
  for (const [index, { type = "", observedGeneration = 0 }] of (status.conditions ?? []).entries()) {
    if (observedGeneration < 0)
      errors.push(
        field.invalid(
          `status.conditions[${index}].observedGeneration`,
          observedGeneration,
          "must be a non-negative integer",
        ),
      );
    if (!SYSTEM_CONDITIONS.has(type))
      errors.push(...checkText(`status.conditions[${index}].Type`, type, labelKeyProblems));
  }
  checkNominatedNode(
    errors,
    status.nominatedNodeName ?? "",
    before.nominatedNodeName ?? "",
    Boolean(old.spec.nodeName),
  );
  if ((status.observedGeneration ?? 0) < 0)
    errors.push(
      field.invalid("status.observedGeneration", status.observedGeneration, "must be a non-negative integer"),
    );
  errors.push(...checkUnchanged("status.qosClass", status.qosClass ?? "", before.qosClass ?? ""));
  checkStates(
    errors,
    "status.containerStatuses",
    status.containerStatuses,
    before.containerStatuses,
    old.spec,
    old.spec.containers ?? [],
  );
  checkStates(
    errors,
    "status.initContainerStatuses",
    status.initContainerStatuses,
    before.initContainerStatuses,
    old.spec,
    old.spec.initContainers ?? [],
  );
  checkStates(
    errors,
    "status.ephemeralContainerStatuses",
    status.ephemeralContainerStatuses,
    before.ephemeralContainerStatuses,
    old.spec,
    [],
  );
  checkAddresses(errors, "status.podIPs", status.podIPs, before.podIPs);
  if (status.hostIPs?.length && (status.hostIP ?? "") !== status.hostIPs[0]?.ip)
    errors.push(field.invalid("status.hostIPs[0].ip", status.hostIPs[0]?.ip, "must be equal to `hostIP`"));
  checkAddresses(errors, "status.hostIPs", status.hostIPs, before.hostIPs);
  return errors;
}

function checkNominatedNode(errors: FieldError[], name: string, old: string, isBound: boolean): void {
  if (name === old || name === "") return;
  errors.push(...checkText("status.nominatedNodeName", name, dnsSubdomainProblems));
  if (isBound)
    errors.push(field.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node"));
}

/** A container that terminated permanently does not run again. */
function checkStates(
  errors: FieldError[],
  at: string,
  statuses: readonly Read<ContainerStatus>[] = [],
  old: readonly Read<ContainerStatus>[] = [],
  spec: Read<PodSpec>,
  containers: readonly Read<Container>[],
): void {
  if (!old.some(({ state }) => state?.terminated)) return;
  const restartsTogether = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === "RestartAllContainers"),
  );
  if (restartsTogether && at !== "status.ephemeralContainerStatuses") return;
  for (const [index, { name, state }] of old.entries()) {
    if (!state?.terminated || !statuses.some((status) => status.name === name && !status.state?.terminated)) continue;
    const container = containers.find((candidate) => candidate.name === name);
    if (!container || !mayRestart(container, spec, state.terminated.exitCode ?? 0))
      errors.push(field.forbidden(`${at}[${index}].state`, "may not be transitioned to non-terminated state"));
  }
}

function mayRestart(
  { restartPolicy, restartPolicyRules }: Read<Container>,
  spec: Read<PodSpec>,
  exitCode: number,
): boolean {
  for (const { action, exitCodes } of restartPolicyRules ?? []) {
    const listed = exitCodes?.values?.includes(exitCode) ?? false;
    if (exitCodes && listed === (exitCodes.operator === "In") && action === "Restart") return true;
  }
  const policy = restartPolicy ?? spec.restartPolicy;
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

function checkAddresses(
  errors: FieldError[],
  at: string,
  addresses: readonly { readonly ip?: string }[] = [],
  old: readonly { readonly ip?: string }[] = [],
): void {
  const known = old.map(({ ip = "" }) => ip);
  for (const [index, { ip = "" }] of addresses.entries()) errors.push(...checkAddress(`${at}[${index}]`, ip, known));
  const families = new Set(addresses.map(({ ip = "" }) => ip.includes(":")));
  if (addresses.length > 1 && (families.size !== addresses.length || addresses.length > 2))
    errors.push(field.invalid(at, addresses, "may specify no more than one IP for each IP family"));
}
