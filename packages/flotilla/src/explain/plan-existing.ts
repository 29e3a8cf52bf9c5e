/**
 * Corrects a planned change by an object that the member already has: one that Flotilla did not create stays as it is,
 * unless the policy lets the hub take it over. Writes nothing.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { Namespace } from "@flotilla/kubernetes";
import { ApiError, findCondition, gvkOf } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { isUnmanaged, mayAdopt, ownerOf } from "../propagation/execute/apply-policy.ts";
import { servesAsItIs } from "../propagation/members/foreign-copies.ts";
import { inServedVersion } from "../delivery/served-kinds.ts";
import { marks } from "../delivery/marks-ownership.ts";
import { compareFields } from "../fields/field-changes.ts";
import { isStamp } from "./explain-bookkeeping.ts";
import { APPLIED_FAILED } from "../flotilla-names.ts";
import { worksOf } from "./plan-fleet.ts";
import { projectOn } from "./project-on.ts";
import type { MemberChange, PlannedWorks } from "./plan-fleet.ts";

type Manifest = DeepReadonly<KubernetesObject>;

/** What really happens: another change, nothing (and what the member keeps), or an object that keeps the copy away. */
export type ExistingChange =
  | { outcome: "change"; change: MemberChange }
  | { outcome: "none"; kept: string }
  | { outcome: "conflict"; message: string };

/**
 * Whether the member may have an object of that name which is not ours: there is no copy, or it is not applied, or it
 * is a namespace, of which the member's own counts as applied.
 */
export function mayCollide(plan: PlannedWorks, change: MemberChange): boolean {
  const { apiVersion, kind } = change.object;
  if (change.action === "create" || (apiVersion === "v1" && kind === Namespace.kind)) return true;
  const applied = findCondition(worksOf(plan, change).before?.status?.conditions, "Applied");
  // What an unreachable member has is deleted when it is back.
  return applied?.status === "False" && (change.action === "update" || applied.reason === APPLIED_FAILED);
}

/** `observed` is the member's object. */
export function planExisting(plan: PlannedWorks, change: MemberChange, observed: Manifest): ExistingChange {
  const { before, after: work } = worksOf(plan, change);
  if (change.action === "delete" && before)
    return marks({ owner: ownerOf(before) }).hasDelivered(observed)
      ? { outcome: "change", change }
      : { outcome: "none", kept: "the object, which the hub does not manage there" };
  const manifest = work?.spec.workload?.manifests?.[0] as unknown as Manifest | undefined;
  if (!work || !manifest) return { outcome: "change", change: { ...change, note: change.note ?? "it exists there" } };
  const { cluster } = change;
  if (isUnmanaged(manifest, cluster)) return { outcome: "change", change };
  const ownership = marks({ owner: ownerOf(work), adopt: mayAdopt(manifest) });
  const conflict = ownership.conflictWith(observed, manifest, { cluster, mode: "apply" });
  if (conflict !== undefined && servesAsItIs(manifest))
    return {
      outcome: "none",
      kept: `the existing ${manifest.kind === Namespace.kind ? "namespace" : "definition"} as it is`,
    };
  if (conflict !== undefined) return { outcome: "conflict", message: `${conflict}; ${adoptHint(change)}` };
  if (change.action !== "create") return { outcome: "change", change };
  const sent = asObserved(manifest, observed);
  if (sent instanceof ApiError) return { outcome: "conflict", message: `${cluster}: ${sent.message}` };
  const { fields, more } = compareFields(projectOn(sent, observed), sent, isStamp);
  const isTaken = !ownership.hasDelivered(observed);
  if (!isTaken && fields.length === 0 && servesAsItIs(manifest))
    return { outcome: "none", kept: "its copy, which is the same" };
  return {
    outcome: "change",
    change: {
      ...change,
      action: "update",
      fields,
      more: more > 0 ? more : undefined,
      note: [change.note, ...(isTaken ? ["the hub takes over the object that exists there"] : [])]
        .filter(Boolean)
        .join("; "),
    },
  };
}

/** The copy in the version in which the member has the object, or why the member cannot get it. */
export function asObserved(manifest: Manifest, observed: Manifest): Manifest | ApiError {
  try {
    return inServedVersion(manifest, { storageVersion: gvkOf(observed).version });
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function adoptHint({ cluster, object: { kind, namespace, name } }: MemberChange): string {
  const where = namespace === undefined ? "" : ` -n ${namespace}`;
  return `'flotilla adopt ${kind.toLowerCase()}/${name}${where} --from ${cluster}' brings it under hub management as it runs`;
}
