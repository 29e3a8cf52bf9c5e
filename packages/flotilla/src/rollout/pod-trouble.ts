/**
 * Pods of a member's copy that cannot start, or restart again and again. Only pods of the revision of the copy count, and
 * of these only what happened since they have it: an in-place update keeps the pod, its last failure and its restarts. Pure.
 */
import { compareQuantities, tryParseQuantity } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Pod } from "@flotilla/kubernetes";
import { IN_PLACE_STATE_ANNOTATION } from "@flotilla/openkruise";
import { rulesOfKind } from "../interpreter/kind-rules.ts";

type Copy = DeepReadonly<KubernetesObject>;
type ReadonlyPod = DeepReadonly<Pod>;
type ContainerStatus = NonNullable<NonNullable<ReadonlyPod["status"]>["containerStatuses"]>[number];

/** What a kubelet says of a container that does not start by itself. */
const STUCK: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "CrashLoopBackOff",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);
const IMAGE_REASONS: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
]);
/** The label of the controllers that have ControllerRevisions; OpenKruise's may be the hash alone. */
const REVISION_LABEL = "controller-revision-hash";

/** Stands for the name of a resource. */
const QUANTITY = "\0quantity";

export interface PodsQuestion {
  /** The object as the hub sent it, overrides included. */
  readonly copy: Copy;
  /** The revision that the member's controller updates pods to, where its status has it. */
  readonly updateRevision?: string | undefined;
  readonly maxRestarts: number;
}

export function podTrouble(
  pods: readonly ReadonlyPod[],
  question: PodsQuestion,
): { pods: number; message: string } | undefined {
  let count = 0;
  let message: string | undefined;
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp !== undefined || !isOwnedBy(pod, question.copy) || !hasRevision(pod, question))
      continue;
    const found = troubleOf(pod, question.maxRestarts);
    if (found === undefined) continue;
    count++;
    message ??= `pod ${pod.metadata.name}: ${found}`;
  }
  return message === undefined ? undefined : { pods: count, message };
}

function isOwnedBy({ metadata }: ReadonlyPod, copy: Copy): boolean {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  return rulesOfKind(copy)?.release?.ownsPodOf?.(copy, controller) ?? true;
}

function hasRevision(pod: ReadonlyPod, { copy, updateRevision }: PodsQuestion): boolean {
  const label = pod.metadata.labels?.[REVISION_LABEL];
  if (updateRevision !== undefined && label !== undefined)
    return label === updateRevision || updateRevision.endsWith(`-${label}`);
  const { spec } = copy as { spec?: unknown };
  const template = isObject(spec) && isObject(spec["template"]) ? spec["template"] : {};
  return isIn(template["spec"], pod.spec) && isIn(template["metadata"], pod.metadata);
}

/**
 * Whether a pod has what its template says. Admission on the member may have added to it: fields, and items of lists. A
 * server writes a quantity in another form.
 */
function isIn(wanted: unknown, found: unknown, key = ""): boolean {
  if (wanted === found || wanted === null || wanted === undefined) return true;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found)) return wanted.length === 0;
    return wanted.every(isObject)
      ? wanted.every((item) => found.some((each) => isIn(item, each)))
      : wanted.length === found.length && wanted.every((item, index) => isIn(item, found[index]));
  }
  if (isObject(wanted)) {
    const observed = isObject(found) ? found : {};
    const isResources = key === "limits" || key === "requests";
    return Object.entries(wanted).every(([name, value]) => isIn(value, observed[name], isResources ? QUANTITY : name));
  }
  if (key !== QUANTITY) return false;
  const [a, b] = [wanted, found].map((value) => tryParseQuantity(String(value)));
  return a !== undefined && b !== undefined && compareQuantities(a, b) === 0;
}

function troubleOf(pod: ReadonlyPod, maxRestarts: number): string | undefined {
  const { spec, status } = pod;
  if (status?.phase === "Failed") return status.reason ?? "Failed";
  const changedMs = changedInPlaceMs(pod);
  const images = new Map([...(spec.initContainers ?? []), ...spec.containers].map(({ name, image }) => [name, image]));
  for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    if (changedMs !== undefined && isOfBefore(container, images.get(container.name), changedMs)) continue;
    const { name, state, restartCount, ready } = container;
    const reason = state?.waiting?.reason;
    if (reason !== undefined && STUCK.has(reason))
      return `container ${name}: ${reason}${state?.waiting?.message ? ` (${state.waiting.message.slice(0, 200)})` : ""}`;
    // Of a pod that was updated in place it is not known how many restarts were before.
    if (changedMs === undefined && !ready && restartCount > maxRestarts)
      return `container ${name} restarted ${restartCount} times`;
  }
  return undefined;
}

/** When the pod was last updated in place; undefined for a pod that has the template it was created from. */
function changedInPlaceMs({ metadata }: ReadonlyPod): number | undefined {
  const text = metadata.annotations?.[IN_PLACE_STATE_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const state: unknown = JSON.parse(text);
    const time = isObject(state) ? state["updateTimestamp"] : undefined;
    const atMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
    return Number.isNaN(atMs) ? undefined : atMs;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether the kubelet still reports the container from before the update: another image, or an end before it. */
function isOfBefore({ state, lastState }: ContainerStatus, image: string | undefined, changedMs: number): boolean {
  const { reason = "", message } = state?.waiting ?? {};
  if (IMAGE_REASONS.has(reason))
    return message !== undefined && image !== undefined && message !== "" && !message.includes(image);
  if (reason !== "CrashLoopBackOff") return false;
  const ended = Date.parse(lastState?.terminated?.finishedAt ?? "");
  return !(ended > changedMs);
}
