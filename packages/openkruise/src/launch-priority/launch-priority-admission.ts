/**
 * Container launch priority: containers of a pod start one after the other, those with the higher priority first.
 *
 * The annotation `apps.kruise.io/container-launch-priority: Ordered` requests the order of the list, the variable
 * `KRUISE_CONTAINER_PRIORITY` any other order. Every container then gets a variable that no kubelet can resolve before
 * the controller beside this file allows it.
 */
import { Pod } from "@flotilla/kubernetes";
import type { Admission } from "@flotilla/apimachinery";
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { deniedByWebhook, safeEncode } from "@flotilla/apimachinery";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isPodInScope } from "../api/webhook-scope.ts";
import type { KruiseWebhookOptions } from "../api/kruise-definition.ts";
import { BARRIER_VARIABLE, LAUNCH_PRIORITY_ANNOTATION, PRIORITY_VARIABLE, barrierKey, barrierName } from "./barrier.ts";

/** Runs after the admissions that add containers: all of them take part. */
export function createLaunchPriorityAdmission(options: KruiseWebhookOptions): Admission<Pod> {
  return {
    name: "LaunchPriority",
    for: Pod,
    on: ["CREATE"],
    mutate(review) {
      const { object, subresource } = review;
      if (subresource !== undefined) return object;
      const priorities = launchPriorities(object);
      return priorities && isPodInScope(review, options) && options.isInstalled(review.read)
        ? withBarrier(object, priorities, () => safeEncode(review.newUid().slice(0, 5)))
        : object;
    },
  };
}

/** One priority per container, or undefined if they may all start at once. */
export function launchPriorities({ metadata, spec }: ReadonlyPod): number[] | undefined {
  const containers = spec.containers ?? [];
  if (containers.length <= 1) return undefined;
  if (metadata.annotations?.[LAUNCH_PRIORITY_ANNOTATION] === "Ordered") return containers.map((_, index) => 0 - index);
  const priorities = containers.map(priorityOf);
  return priorities.every((priority) => priority === priorities[0]) ? undefined : priorities;
}

const MAX_INT64 = 2n ** 63n;

function priorityOf({ env = [] }: DeepReadonly<Container>): number {
  const text = env.findLast(({ name }) => name === PRIORITY_VARIABLE);
  if (!text) return 0;
  const value = text.value ?? "";
  if (!/^[+-]?\d+$/.test(value))
    throw deniedByWebhook("mpod.kb.io", 500, `strconv.Atoi: parsing ${JSON.stringify(value)}: invalid syntax`);
  const number = BigInt(value.replace("+", ""));
  if (number >= MAX_INT64 || number < -MAX_INT64)
    throw deniedByWebhook("mpod.kb.io", 500, `strconv.Atoi: parsing ${JSON.stringify(value)}: value out of range`);
  return Number(number);
}

/** Leaves room for the suffix in a name of at most 63 characters, as in Kubernetes' generated names. */
const MAX_GENERATED_PREFIX = 58;

function withBarrier(pod: ReadonlyPod, priorities: readonly number[], suffix: () => string): ReadonlyPod {
  // The barrier is named after the pod, so a generated name must be chosen now.
  const name = pod.metadata.name || `${(pod.metadata.generateName ?? "").slice(0, MAX_GENERATED_PREFIX)}${suffix()}`;
  const containers = pod.spec.containers.map((container, index) => {
    const configMapKeyRef = { name: barrierName(name), key: barrierKey(priorities[index] ?? 0) };
    return {
      ...container,
      env: [...(container.env ?? []), { name: BARRIER_VARIABLE, valueFrom: { configMapKeyRef } }],
    };
  });
  return { ...pod, metadata: { ...pod.metadata, name }, spec: { ...pod.spec, containers } };
}
