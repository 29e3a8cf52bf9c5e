/**
 * Requests in a template of the hub that members do not carry out, although the template is valid: a raised partition of
 * a kind that does not roll pods back, and pods to delete that are not pods of the workload. The writer receives a warning.
 * Which members have a pod is asked later (`named-pods.ts`): a write does not wait for members.
 */
import { HUB } from "@flotilla/apimachinery";
import type { AdmissionStep, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { letThrough } from "@flotilla/openkruise";
import { podsToDeleteOf } from "../pods-to-delete/named-pods.ts";
import { rulesOfGroupKind, rulesOfKind } from "../../interpreter/kind-rules.ts";
import { specOf } from "../../interpreter/release-reach.ts";

type Template = DeepReadonly<KubernetesObject>;

/** Partitions are compared as the pods that they let through of this many. */
const NOMINAL_PODS = 100_000;
const MAX_NAMED = 5;

export const templateRequests: AdmissionStep = {
  name: "TemplateRequests",
  for: ({ group, kind, foreign }) => {
    const rules = foreign ? undefined : rulesOfGroupKind({ group, kind });
    return rules?.keepsUpdated !== undefined || rules?.podsToDelete !== undefined;
  },
  on: ["CREATE", "UPDATE"],
  matches: ({ cluster, subresource, byController }) => cluster === HUB && subresource === undefined && !byController,
  check({ object, oldObject, warn }) {
    const raised = oldObject && raisedPartition(oldObject, object);
    if (raised !== undefined)
      warn(
        `${raised}: raising it does not roll pods back, because a ${object.kind} keeps pods that have the ` +
          "release; release the previous template to replace them",
      );
    const named = rulesOfKind(object)?.podsToDelete;
    if (!named) return;
    const { name } = object.metadata;
    const prefix = named.podPrefix(name);
    const before = new Set(oldObject && podsToDeleteOf(oldObject));
    const others = podsToDeleteOf(object).filter((pod) => !pod.startsWith(prefix) && !before.has(pod));
    if (others.length > 0) {
      const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : "";
      warn(
        `spec.${named.path.join(".")}: ${others.slice(0, MAX_NAMED).join(", ")}${more} cannot be a pod ` +
          `of ${object.kind} ${name}: the names of its pods begin with ${prefix}`,
      );
    }
  },
};

/** The path of a partition that keeps more pods back than before, with the same release. */
function raisedPartition(before: Template, next: Template): string | undefined {
  const parts = rulesOfKind(next)?.keepsUpdated;
  const [old, own] = [specOf(before), specOf(next)];
  if (!parts?.every((part) => equalJson(old[part] ?? null, own[part] ?? null))) return undefined;
  const last = partitionsOf(old);
  for (const [path, partition] of partitionsOf(own))
    if (kept(partition) > kept(last.get(path))) return `spec.updateStrategy.${path}`;
  return undefined;
}

/** By path. A UnitedDeployment has one for each subset. */
function partitionsOf(spec: Record<string, unknown>): Map<string, unknown> {
  const strategy = isObject(spec["updateStrategy"]) ? spec["updateStrategy"] : {};
  const rolling = isObject(strategy["rollingUpdate"]) ? strategy["rollingUpdate"] : {};
  const manual = isObject(strategy["manualUpdate"]) ? strategy["manualUpdate"] : {};
  const subsets = isObject(manual["partitions"]) ? manual["partitions"] : {};
  return new Map<string, unknown>([
    ["partition", strategy["partition"]],
    ["rollingUpdate.partition", rolling["partition"]],
    ...Object.entries(subsets).map(([name, value]): [string, unknown] => [`manualUpdate.partitions.${name}`, value]),
  ]);
}

const kept = (partition: unknown): number =>
  typeof partition === "number" || typeof partition === "string"
    ? NOMINAL_PODS - letThrough(partition, NOMINAL_PODS)
    : 0;
