/** `pods/resize`: changes the cpu and memory of a running pod and its containers. All other fields are kept. */
import { MIRROR_POD_ANNOTATION } from "../well-known-names.ts";
import { equalJson, type DeepReadonly, defined } from "@flotilla/base";
import { field } from "@flotilla/apimachinery";
import type { FieldError, SpecPart } from "@flotilla/apimachinery";
import type { Container, Pod, PodSpec, ResourceRequirements } from "@flotilla/apimachinery/facts/core-v1.ts";
import { qosClassOf } from "./pod-prepare.ts";
import { isSidecar } from "./pod-resources.ts";
import { checkPod } from "./pod-validation.ts";

type ReadPod = DeepReadonly<Pod>;
type ReadSpec = DeepReadonly<PodSpec>;
type ReadContainer = DeepReadonly<Container>;
type Resources = DeepReadonly<ResourceRequirements>;
type Amounts = Resources["requests"];

const LISTS = ["containers", "initContainers"] as const;

export const resizePart: SpecPart = {
  take(sent, stored) {
    const now = sent as unknown as Partial<ReadSpec>;
    const before = stored as unknown as ReadSpec;
    // The containers were added or removed: validation reports it.
    if (LISTS.some((list) => (now[list]?.length ?? 0) !== (before[list]?.length ?? 0))) return sent;
    const { resources: _, ...rest } = before;
    const spec: ReadSpec = {
      ...rest,
      containers: withResources(now.containers, before.containers),
      ...defined({
        initContainers: before.initContainers ? withResources(now.initContainers, before.initContainers) : undefined,
      }),
      resources: now.resources,
    };
    return spec;
  },
};

/**
 * The stored containers with the resources that were sent. Renamed containers are kept as sent, so validation rejects
 * them.
 */
function withResources(
  sent: readonly ReadContainer[] = [],
  stored: readonly ReadContainer[] = [],
): readonly ReadContainer[] {
  if (sent.some(({ name }, index) => name !== stored[index]?.name)) return sent;
  return stored.map((container, index) => {
    const { resources: _, resizePolicy: __, ...rest } = container;
    const { resources, resizePolicy } = sent[index] ?? container;
    return { ...rest, resources, resizePolicy };
  });
}

export function checkResize(pod: ReadPod, old: ReadPod): FieldError[] {
  if (Object.hasOwn(old.metadata.annotations ?? {}, MIRROR_POD_ANNOTATION))
    return [field.forbidden("[]", "static pods cannot be resized")];
  if (old.spec.os?.name === "windows") return [field.forbidden("[]", "windows pods cannot be resized")];
  const errors: FieldError[] = [];
  checkPod(errors, pod);
  if ((old.status?.qosClass || qosClassOf(old.spec)) !== qosClassOf(pod.spec))
    errors.push(
      field.invalid("spec", old.status?.qosClass ?? "", "Pod QOS Class may not change as a result of resizing"),
    );
  if (!mayBeResized(old)) errors.push(field.forbidden("spec", "Pod running on node without support for resize"));
  checkPodLevel(errors, pod.spec.resources, old.spec.resources);
  if (old.status?.nodeAllocatableResourceClaimStatuses?.length)
    errors.push(field.forbidden("spec", "pods with node allocatable resource claims cannot be resized"));
  if (!checkSameContainers(errors, pod.spec, old.spec)) return errors;
  checkNothingRemoved(errors, pod.spec, old.spec);
  checkOnlyAmounts(errors, pod.spec, old.spec);
  return errors;
}

/** A node that supports resize reports the resources of its containers. Without a running container this is unknown. */
function mayBeResized({ status }: ReadPod): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running);
  return !running || running.resources !== undefined;
}

const isStated = (resources: Resources | undefined): boolean =>
  Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0;

function checkPodLevel(errors: FieldError[], now: Resources | undefined, before: Resources | undefined): void {
  if (!isStated(now) && !isStated(before)) return;
  if (before && !now) {
    errors.push(field.forbidden("spec.resources", "pod-level resources cannot be removed"));
    return;
  }
  if (before && isRemoved(now?.requests, before.requests))
    errors.push(field.forbidden("spec.resources.requests", "pod-level resource requests cannot be removed"));
  if (before && isRemoved(now?.limits, before.limits))
    errors.push(field.forbidden("spec.resources.limits", "pod-level resource limits cannot be removed"));
  if (
    !equalJson(otherThanCpuAndMemory(now), otherThanCpuAndMemory(before)) ||
    !equalJson(now?.claims ?? [], before?.claims ?? [])
  )
    errors.push(field.forbidden("spec", "only cpu and memory resources are mutable at pod-level"));
}

function checkSameContainers(errors: FieldError[], spec: ReadSpec, old: ReadSpec): boolean {
  const before = errors.length;
  for (const list of LISTS) {
    const containers = spec[list] ?? [];
    const former = old[list] ?? [];
    if (containers.length !== former.length)
      errors.push(field.forbidden(`spec.${list}`, `${list} may not be added or removed on resize`));
    else
      for (const [index, { name }] of former.entries())
        if (containers[index]?.name !== name)
          errors.push(
            field.forbidden(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`),
          );
  }
  return errors.length === before;
}

function checkNothingRemoved(errors: FieldError[], spec: ReadSpec, old: ReadSpec): void {
  for (const list of ["initContainers", "containers"] as const) {
    for (const [index, { resources: before }] of (old[list] ?? []).entries()) {
      const now = spec[list]?.[index]?.resources;
      const at = `spec.${list}[${index}].resources`;
      if (isRemoved(now?.requests, before?.requests))
        errors.push(field.forbidden(`${at}.requests`, "resource requests cannot be removed"));
      if (isRemoved(now?.limits, before?.limits))
        errors.push(field.forbidden(`${at}.limits`, "resource limits cannot be removed"));
    }
  }
}

function checkOnlyAmounts(errors: FieldError[], spec: ReadSpec, old: ReadSpec): void {
  for (const [index, container] of (spec.containers ?? []).entries()) {
    if (!differsInAmounts(container, old.containers[index]))
      errors.push(field.forbidden("spec", "only cpu and memory resources are mutable"));
  }
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const at = `spec.initContainers[${index}]`;
    const before = old.initContainers?.[index];
    if (!differsInAmounts(container, before))
      errors.push(field.forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable"));
    if (isSidecar(container) || equalJson(container, before)) continue;
    const restarts = (container.resizePolicy ?? []).filter(({ restartPolicy }) => restartPolicy === "RestartContainer");
    for (const _ of restarts)
      errors.push(
        field.forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"),
      );
  }
}

/** Whether at most cpu and memory differ. Resource claims cannot be resized, so a container with claims is rejected. */
function differsInAmounts(container: ReadContainer, before: ReadContainer | undefined): boolean {
  if (before?.resources?.claims?.length) return false;
  return equalJson(masked(container), before && masked(before));
}

const masked = (container: ReadContainer): unknown => ({
  ...container,
  resources: otherThanCpuAndMemory(container.resources),
});

function otherThanCpuAndMemory(resources: Resources | undefined): unknown {
  const rest = (amounts: Amounts): unknown => {
    const { cpu: _, memory: __, ...others } = amounts ?? {};
    return others;
  };
  return { requests: rest(resources?.requests), limits: rest(resources?.limits) };
}

function isRemoved(now: Amounts = {}, before: Amounts = {}): boolean {
  return Object.keys(before).some((name) => !Object.hasOwn(now, name));
}
