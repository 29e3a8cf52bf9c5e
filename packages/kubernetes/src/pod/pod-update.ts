/**
 * Validates updates of a pod: images, an earlier deadline, added tolerations, removed scheduling gates; and, while the
 * pod is gated, its node selection. All other fields are immutable.
 */
import { changedFields, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type {
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSpec,
  Toleration,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkAnnotationsKept, checkPodAnnotations } from "./pod-annotations.ts";
import { checkTolerations } from "./pod-scheduling.ts";
import { checkNodeName, checkPod } from "./pod-validation.ts";

type Read<T> = DeepReadonly<T>;

const MAX_INT32 = 2 ** 31 - 1;
const RULE =
  "pod updates may not change fields other than " +
  "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` " +
  "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 " +
  "if it was previously negative)";

export interface PodUpdateOptions {
  /** The scheduler of simulated members sets `nodeName` itself, once; other schedulers send a Binding. */
  mayPlace?: boolean;
  /** The old pod, when it is known to be valid. */
  settled?: Read<Pod> | undefined;
}

export function checkPodUpdate(
  pod: Read<Pod>,
  old: Read<Pod>,
  { mayPlace = false, settled }: PodUpdateOptions = {},
): FieldError[] {
  const errors: FieldError[] = [];
  if (settled && mayPlace && onlySetsNodeName(pod, settled)) {
    checkNodeName(errors, "spec", pod.spec.nodeName);
    return errors;
  }
  checkPod(errors, pod);
  checkImmutableAnnotations(errors, pod, old);
  const { spec } = pod;
  if (checkContainersKept(errors, "spec.containers", spec.containers, old.spec.containers)) return errors;
  if (checkContainersKept(errors, "spec.initContainers", spec.initContainers, old.spec.initContainers)) return errors;
  if (checkDeadline(errors, spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds)) return errors;
  checkTolerationsKept(errors, spec.tolerations ?? [], old.spec.tolerations ?? []);
  checkGatesOnlyGo(errors, spec, old.spec);
  if (!equalJson(spec, old.spec)) checkSettled(errors, spec, old.spec, mayPlace);
  return errors;
}

/**
 * Whether a pod without a node got one and is otherwise identical. Every pod of a simulated member is written once like
 * this: validating one name instead of the whole pod saves a third of that write.
 */
function onlySetsNodeName(pod: Read<Pod>, settled: Read<Pod>): boolean {
  const { spec } = pod;
  const before = settled.spec;
  if (pod.metadata.annotations !== settled.metadata.annotations || before.nodeName || !spec.nodeName) return false;
  for (const key in spec)
    if (key !== "nodeName" && spec[key as keyof PodSpec] !== before[key as keyof PodSpec]) return false;
  for (const key in before) if (!Object.hasOwn(spec, key)) return false;
  return true;
}

/** Annotations that are immutable. */
export function checkImmutableAnnotations(errors: FieldError[], { metadata, spec }: Read<Pod>, old: Read<Pod>): void {
  checkAnnotationsKept(errors, "metadata.annotations", metadata.annotations, old.metadata.annotations);
  checkPodAnnotations(errors, "metadata.annotations", metadata.annotations, spec);
}

/** Returns true when further comparison is pointless. */
function checkContainersKept(
  errors: FieldError[],
  at: string,
  containers: readonly Read<Container>[] = [],
  old: readonly Read<Container>[] = [],
): boolean {
  if (containers.length !== old.length) {
    errors.push(field.forbidden(at, "pod updates may not add or remove containers"));
    return true;
  }
  for (const [index, { image = "" }] of containers.entries()) {
    if (image === "") errors.push(field.required(`${at}[${index}].image`));
    if (image.trim() !== image)
      errors.push(field.invalid(`${at}[${index}].image`, image, "must not have leading or trailing whitespace"));
  }
  return false;
}

function checkDeadline(errors: FieldError[], deadline: number | undefined, old: number | undefined): boolean {
  const path = "spec.activeDeadlineSeconds";
  if (deadline === undefined) {
    if (old !== undefined)
      errors.push(field.invalid(path, null, "must not update from a positive integer to nil value"));
    return false;
  }
  if (deadline < 0 || deadline > MAX_INT32)
    errors.push(field.invalid(path, deadline, `must be between 0 and ${MAX_INT32}, inclusive`));
  else if (old !== undefined && old < deadline)
    errors.push(field.invalid(path, deadline, "must be less than or equal to previous value"));
  else return false;
  return true;
}

function checkTolerationsKept(
  errors: FieldError[],
  tolerations: readonly Read<Toleration>[],
  old: readonly Read<Toleration>[],
): void {
  const kept = old.every((before) =>
    tolerations.some((now) =>
      equalJson({ ...before, tolerationSeconds: undefined }, { ...now, tolerationSeconds: undefined }),
    ),
  );
  if (!kept)
    errors.push(
      field.forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"),
    );
  else checkTolerations(errors, "spec.tolerations", tolerations);
}

function checkGatesOnlyGo(errors: FieldError[], spec: Read<PodSpec>, old: Read<PodSpec>): void {
  const known = new Set((old.schedulingGates ?? []).map(({ name }) => name));
  for (const [index, { name = "" }] of (spec.schedulingGates ?? []).entries()) {
    if (!known.has(name))
      errors.push(
        field.forbidden(
          `spec.schedulingGates[${index}].name`,
          `only deletion is allowed, but found new scheduling gate '${name}'`,
        ),
      );
  }
}

type Fields = Record<string, unknown>;

function setOrDelete(target: Fields, key: string, value: unknown): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

/** Restores the mutable fields and compares the rest. */
function checkSettled(errors: FieldError[], spec: Read<PodSpec>, old: Read<PodSpec>, mayPlace: boolean): void {
  const settled: Fields = { ...spec };
  if (mayPlace && !old.nodeName) delete settled["nodeName"];
  const withImages = (containers: readonly Read<Container>[], from: readonly Read<Container>[] = []): unknown =>
    containers.map((container, index) => {
      const result: Fields = { ...container };
      setOrDelete(result, "image", from[index]?.image);
      return result;
    });
  if (spec.containers) settled["containers"] = withImages(spec.containers, old.containers);
  if (spec.initContainers) settled["initContainers"] = withImages(spec.initContainers, old.initContainers);
  for (const key of ["activeDeadlineSeconds", "schedulingGates", "tolerations"] as const)
    setOrDelete(settled, key, old[key]);
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1)
    settled["terminationGracePeriodSeconds"] = old.terminationGracePeriodSeconds;
  if (old.schedulingGates?.length) checkGated(errors, settled, spec, old);
  if (!equalJson(settled, old)) errors.push(field.forbidden("spec", `${RULE}${changedFields(old, settled, "spec")}`));
}

/** While a pod is gated, its node selection may be narrowed. */
function checkGated(errors: FieldError[], settled: Fields, spec: Read<PodSpec>, old: Read<PodSpec>): void {
  if (!equalJson(spec.nodeSelector, old.nodeSelector)) {
    const kept = Object.entries(old.nodeSelector ?? {}).every(([key, value]) => spec.nodeSelector?.[key] === value);
    if (!kept)
      errors.push(
        field.invalid(
          "spec.nodeSelector",
          spec.nodeSelector,
          "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
        ),
      );
    setOrDelete(settled, "nodeSelector", old.nodeSelector);
  }
  const before = old.affinity?.nodeAffinity;
  const now = spec.affinity?.nodeAffinity;
  if (equalJson(before, now)) return;
  checkNodeAffinityNarrowed(errors, now, before);
  const affinity: Fields = { ...spec.affinity };
  setOrDelete(affinity, "nodeAffinity", before);
  setOrDelete(settled, "affinity", Object.keys(affinity).length === 0 && !old.affinity ? undefined : affinity);
}

function checkNodeAffinityNarrowed(
  errors: FieldError[],
  now: Read<NodeAffinity> | undefined,
  before: Read<NodeAffinity> | undefined,
): void {
  const old = before?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const terms = now?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (old.length === 0) return;
  const at = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  if (old.length !== terms.length) {
    errors.push(
      field.invalid(
        at,
        terms.length === 0 ? null : terms,
        "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
      ),
    );
    return;
  }
  for (const [index, term] of terms.entries()) {
    const former = old[index];
    if (former && !onlyAdds(term, former))
      errors.push(field.invalid(`${at}[${index}]`, term, "only additions are allowed (no mutations or deletions)"));
  }
}

function onlyAdds(term: Read<NodeSelectorTerm>, old: Read<NodeSelectorTerm>): boolean {
  const parts = ["matchExpressions", "matchFields"] as const;
  // A term without requirements matches nothing; adding one would make it match.
  if (parts.every((part) => !old[part]?.length)) return parts.every((part) => !term[part]?.length);
  return parts.every((part) => equalJson((term[part] ?? []).slice(0, old[part]?.length ?? 0), old[part] ?? []));
}
