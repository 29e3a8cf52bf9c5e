/** RuntimeClass: the overhead of a pod's runtime in addition to its containers, and the nodes that support it. */
import { Pod, RuntimeClass } from "@flotilla/kubernetes";
import { refusal } from "@flotilla/apimachinery";
import type { AdmissionStep, Review } from "@flotilla/apimachinery";
import type { Toleration } from "@flotilla/apimachinery/facts/core-v1.ts";
import { equalJson, omitEmpty } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { writesObject } from "./writes-object.ts";

type ReadPod = DeepReadonly<Pod>;
type ReadToleration = DeepReadonly<Toleration>;

type ReadClass = DeepReadonly<RuntimeClass>;

export const runtimeClass: AdmissionStep<Pod> = {
  name: "RuntimeClass",
  for: Pod,
  on: ["CREATE"],
  matches: writesObject,
  complete(review) {
    const found = classOf(review);
    return found ? withScheduling(withOverhead(review, found), found, review) : review.object;
  },
  check(review) {
    if (review.object.spec.overhead && !classOf(review)?.overhead)
      throw refusal(review, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  },
};

function classOf(review: Review<Pod>): ReadClass | undefined {
  const { runtimeClassName } = review.object.spec;
  if (runtimeClassName === undefined) return undefined;
  const found = review.read.get(RuntimeClass, undefined, runtimeClassName);
  if (!found) throw refusal(review, `pod rejected: RuntimeClass ${JSON.stringify(runtimeClassName)} not found`);
  return found;
}

function withOverhead(review: Review<Pod>, { overhead }: ReadClass): ReadPod {
  const { object: pod } = review;
  if (!overhead) return pod;
  const { podFixed = {} } = overhead;
  if (Object.keys(pod.spec.overhead ?? {}).length > 0 && !equalJson(pod.spec.overhead, podFixed))
    throw refusal(review, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  return { ...pod, spec: { ...pod.spec, overhead: podFixed } };
}

function withScheduling(pod: ReadPod, { scheduling }: ReadClass, review: Review<Pod>): ReadPod {
  if (!scheduling) return pod;
  const nodeSelector = { ...pod.spec.nodeSelector };
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    const own = Object.hasOwn(nodeSelector, key) ? nodeSelector[key] : undefined;
    if (own !== undefined && own !== value)
      throw refusal(
        review,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      );
    nodeSelector[key] = value;
  }
  const tolerations = merged([...(pod.spec.tolerations ?? []), ...(scheduling.tolerations ?? [])]);
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...omitEmpty({ nodeSelector, tolerations }),
    },
  };
}

/** Drops tolerations that another one covers. */
function merged(all: readonly ReadToleration[]): ReadToleration[] {
  const kept: ReadToleration[] = [];
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      kept.some((other) => covers(other, toleration)) ||
      all.slice(index + 1).some((other) => !equalJson(other, toleration) && covers(other, toleration));
    if (!isCovered) kept.push(toleration);
  }
  return kept;
}

function covers(wider: ReadToleration, toleration: ReadToleration): boolean {
  if (equalJson(wider, toleration)) return true;
  if ((toleration.key ?? "") !== (wider.key ?? "") && !(!wider.key && wider.operator === "Exists")) return false;
  if (wider.effect && toleration.effect !== wider.effect) return false;
  if (
    wider.effect === "NoExecute" &&
    wider.tolerationSeconds !== undefined &&
    (toleration.tolerationSeconds === undefined || toleration.tolerationSeconds > wider.tolerationSeconds)
  )
    return false;
  if (wider.operator === "Exists") return true;
  const isEqual = (operator: string | undefined): boolean => operator === undefined || operator === "Equal";
  return isEqual(wider.operator) && isEqual(toleration.operator) && (toleration.value ?? "") === (wider.value ?? "");
}
