/**
 * Makes the copies of a template during a release: each member gets the revision that the release assigns to it, and no
 * more of its pods are updated than the release allows. Pure, except that `divide` may run user-defined rules.
 *
 * The template, the partition and the budget of a copy are one write, so that no member ever has the new template with an
 * older partition. `RELEASE_STEP` on the copy says for which assignment it was made; members return it with their status.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { rulesOfKind } from "../../interpreter/kind-rules.ts";
import type { KindRef } from "../../interpreter/kind-rules.ts";
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
export const hasPartition = (ref: KindRef): boolean => rulesOfKind(ref)?.release?.hasPartition === true;

/** How many pods a member makes unavailable while it updates. */
export function takesDown(template: Template): "budget" | "one" | "all" | "none" {
  const known = rulesOfKind(template)?.release;
  if (known) return known.takesDown(template);
  // Of other workloads it is not known how they update.
  const spec = specOf(template);
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
  const { target, keeps, maxUnavailable, isPaused = false } = member;
  const replicas = Math.min(assigned, mostOf(given, member));
  const copy = replicas < assigned ? withSpec(given, { ...specOf(given), replicas }) : given;
  const isLimited = target !== undefined && target < replicas;
  const partition = keeps === undefined ? (isLimited ? replicas - target : undefined) : Math.min(keeps, replicas);
  if (partition === undefined && maxUnavailable === undefined && !isPaused) return copy;
  return rulesOfKind(copy)?.release?.limit?.(copy, { partition, maxUnavailable, isPaused }) ?? copy;
}
