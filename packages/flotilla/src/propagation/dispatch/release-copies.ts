/**
 * Makes the copies of a template during a release: each member gets the revision that the release assigns to it, and no
 * more of its pods are updated than the release allows. Pure, except that `divide` may run user-defined rules.
 *
 * The template, the partition and the budget of a copy are one write, so that no member ever has the new template with an
 * older partition. `RELEASE_STEP` on the copy says for which assignment it was made; members return it with their status.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, objectOf } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { withPartition } from "@flotilla/openkruise";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { RELEASE_STEP } from "../../flotilla-names.ts";
import { withReleasedPart } from "../templates/released-part.ts";

type Template = DeepReadonly<KubernetesObject>;

/** What a release assigns to a member. */
export interface MemberRelease {
  /** Names the revision. */
  readonly revision: string;
  /** What is released: see `releasedPart`. */
  readonly part: Json;
  /** How many pods may run it; unset means all. */
  readonly target?: number | undefined;
  /** Pods that do not get it, because they have a newer revision and keep that; instead of `target`. */
  readonly keeps?: number | undefined;
  /** The pods of the member for which this was assigned. */
  readonly size?: number | undefined;
  /** The pods that the member may make unavailable; unset means as the template says. */
  readonly maxUnavailable?: number | undefined;
  /** The member's own update is paused. */
  readonly isPaused?: boolean | undefined;
  /** The text of RELEASE_STEP; unset for the revision that was there before releases were recorded. */
  readonly step?: string | undefined;
}

export interface TemplateRelease {
  of(cluster: string): MemberRelease;
}

/** Undefined: no release is recorded, and the template applies as it is. `pending`: one is about to be recorded. */
export type ReleaseOf = (template: Template) => TemplateRelease | "pending" | undefined;

export async function releaseCopies(
  template: Template,
  shares: readonly Share[],
  release: TemplateRelease,
  divide: Interpreter["divide"],
): Promise<Map<string, Template>> {
  const assigned = new Map(shares.map(({ cluster }) => [cluster, release.of(cluster)]));
  const parts = new Map(Array.from(assigned.values()).map(({ revision, part }) => [revision, part]));
  const divided = new Map<string, ReadonlyMap<string, Template>>();
  for (const [revision, part] of parts) divided.set(revision, await divide(withReleasedPart(template, part), shares));
  const copies = new Map<string, Template>();
  for (const { cluster, replicas } of shares) {
    const member = assigned.get(cluster);
    const copy = member && divided.get(member.revision)?.get(cluster);
    if (member && copy) copies.set(cluster, withStep(limited(copy, member, replicas), member.step));
  }
  return copies;
}

function withStep(copy: Template, step: string | undefined): Template {
  if (step === undefined) return copy;
  return {
    ...copy,
    metadata: { ...copy.metadata, annotations: { ...copy.metadata.annotations, [RELEASE_STEP]: step } },
  };
}

const specOf = (copy: Template): JsonObject => {
  const { spec } = copy as { spec?: unknown };
  return isObject(spec) ? spec : {};
};
const withSpec = (copy: Template, spec: JsonObject): Template => ({ ...copy, spec }) as unknown as Template;

/** Whether part of a member's pods can have another revision than the rest. */
export function hasPartition({ apiVersion, kind }: Pick<Template, "apiVersion" | "kind">): boolean {
  const { group } = parseApiVersion(apiVersion);
  return (
    (group === "apps.kruise.io" && (kind === "CloneSet" || kind === "StatefulSet")) ||
    (group === "apps" && kind === "StatefulSet")
  );
}

/** How many pods a member makes unavailable while it updates. */
export function takesDown(template: Template): "budget" | "one" | "all" | "none" {
  const { group } = parseApiVersion(template.apiVersion);
  const spec = specOf(template);
  if (group === "apps" && template.kind === "StatefulSet") return "one";
  if (group === "apps" && template.kind === "Deployment")
    return objectOf(spec["strategy"])["type"] === "Recreate" ? "all" : "budget";
  const isKnown =
    (group === "apps" && template.kind === "DaemonSet") ||
    (group === "apps.kruise.io" && ["CloneSet", "StatefulSet", "DaemonSet"].includes(template.kind));
  if (isKnown) return "budget";
  // Of other workloads it is not known how they update.
  return isObject(spec["template"]) && isObject(spec["selector"]) ? "all" : "none";
}

/**
 * A member of which all pods have the revision, and no more may, starts new pods with it: it gets more pods with the
 * assignment that keeps them on the revision before.
 */
function mostOf(copy: Template, { target, keeps, size }: MemberRelease): number {
  const isFull = keeps === undefined && target !== undefined && size !== undefined && size <= target;
  return isFull && hasPartition(copy) ? target : Number.POSITIVE_INFINITY;
}

/** The copy with the partition, the budget and the pause of its assignment. */
function limited(given: Template, member: MemberRelease, assigned: number): Template {
  const { target, keeps, maxUnavailable, isPaused } = member;
  const replicas = Math.min(assigned, mostOf(given, member));
  const copy = replicas < assigned ? withSpec(given, { ...specOf(given), replicas }) : given;
  const isLimited = target !== undefined && target < replicas;
  const partition = keeps === undefined ? (isLimited ? replicas - target : undefined) : Math.min(keeps, replicas);
  if (partition === undefined && maxUnavailable === undefined && !isPaused) return copy;
  const { group } = parseApiVersion(copy.apiVersion);
  const spec = specOf(copy);
  const set: JsonObject = {};
  if (maxUnavailable !== undefined) set["maxUnavailable"] = maxUnavailable;
  if (group === "apps.kruise.io" && copy.kind === "CloneSet") {
    const strategy = objectOf(spec["updateStrategy"]);
    const isFlat = copy.apiVersion.endsWith("/v1alpha1");
    if (isPaused) set["paused"] = true;
    const limits = isFlat
      ? { ...strategy, ...set }
      : { ...strategy, rollingUpdate: { ...objectOf(strategy["rollingUpdate"]), ...set } };
    const updateStrategy = partition === undefined ? limits : withPartition(limits, partition, copy.apiVersion);
    return withSpec(copy, { ...spec, updateStrategy: updateStrategy as unknown as Json });
  }
  if (copy.kind === "Deployment" && group === "apps") {
    const strategy = objectOf(spec["strategy"]);
    const next: JsonObject = { ...spec };
    if (isPaused) next["paused"] = true;
    if (maxUnavailable !== undefined && strategy["type"] !== "Recreate")
      next["strategy"] = {
        ...strategy,
        type: "RollingUpdate",
        rollingUpdate: { ...objectOf(strategy["rollingUpdate"]), maxUnavailable },
      };
    return withSpec(copy, next);
  }
  const isKruise = group === "apps.kruise.io";
  if ((group !== "apps" && !isKruise) || (copy.kind !== "StatefulSet" && copy.kind !== "DaemonSet")) return copy;
  const strategy = objectOf(spec["updateStrategy"]);
  if (strategy["type"] === "OnDelete") return copy;
  // A native StatefulSet has its maxUnavailable behind a gate.
  if (!isKruise && copy.kind === "StatefulSet") delete set["maxUnavailable"];
  if (isPaused && isKruise) set["paused"] = true;
  if (partition !== undefined && hasPartition(copy)) set["partition"] = partition;
  return withSpec(copy, {
    ...spec,
    updateStrategy: {
      ...strategy,
      type: "RollingUpdate",
      rollingUpdate: { ...objectOf(strategy["rollingUpdate"]), ...set },
    },
  });
}
