/**
 * Since when a member's copy has its pod template. A member that has not got the copy still counts its pods as updated,
 * because for it they are: on the hub they are pods of an earlier release. Dispatch records the generation of the
 * template with which the pods of a copy changed, and aggregate counts no updated pods in older reports. OpenKruise's
 * rollouts have a digest of the release instead (`counted-release.ts`). Pure.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { TEMPLATE_GENERATION } from "@flotilla/karmada";
import type { Work } from "@flotilla/karmada";
import { UPDATED_COUNTERS } from "@flotilla/openkruise";
import { equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { PODS_SINCE } from "../../flotilla-names.ts";

type Copy = DeepReadonly<KubernetesObject>;

/** Marks pods that changed without a new template, by an override: a report of the same generation may be older. */
const WITHIN = "+";

/** The annotation of the next Work; undefined if the pods of its copy have not changed since the first one. */
export function podsSince(copy: Copy, generation: number, before: DeepReadonly<Work> | undefined): string | undefined {
  const last = before?.spec.workload?.manifests?.[0] as Copy | undefined;
  if (!last || parseApiVersion(copy.apiVersion).group === "apps.kruise.io") return undefined;
  const [pods, lastPods] = [podTemplateOf(copy), podTemplateOf(last)];
  if (!pods) return undefined;
  if (!lastPods || equalJson(pods, lastPods)) return before?.metadata.annotations?.[PODS_SINCE];
  const isWithin = last.metadata.annotations?.[TEMPLATE_GENERATION] === String(generation);
  return `${generation}${isWithin ? WITHIN : ""}`;
}

function podTemplateOf(copy: Copy): object | undefined {
  const { spec } = copy as { spec?: { template?: unknown } };
  return isObject(spec?.template) ? spec.template : undefined;
}

/** The reported status without updated pods, if its report is from before the pods of the copy changed. */
export function withoutOlderPods(
  { metadata }: DeepReadonly<Work>,
  status: Json | undefined,
  isApplied: boolean,
): Json | undefined {
  const since = metadata.annotations?.[PODS_SINCE];
  if (since === undefined || !isObject(status)) return status;
  const counters = UPDATED_COUNTERS.filter((field) => typeof status[field] === "number");
  const { resourceTemplateGeneration: reported, generation, observedGeneration } = status;
  if (counters.length === 0 || typeof reported !== "number") return status;
  const first = Number.parseInt(since, 10);
  // Of the copy with the new pods, the member's controller may have observed nothing yet.
  const isUnobserved =
    typeof generation === "number" && typeof observedGeneration === "number" && observedGeneration < generation;
  const isOlder = reported < first || (reported === first && (isUnobserved || (since.endsWith(WITHIN) && !isApplied)));
  return isOlder ? { ...status, ...Object.fromEntries(counters.map((field) => [field, 0])) } : status;
}
