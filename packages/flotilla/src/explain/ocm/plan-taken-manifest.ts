/**
 * Corrects the planned creation of a ManifestWork's manifest by an object that its member already has: the work takes it
 * over, unless a policy of the hub propagates it. Pure.
 */
import { omitZero } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import type { ManifestWork } from "@flotilla/ocm";
import { references } from "../../delivery/references-ownership.ts";
import { compareFields } from "../../fields/field-changes.ts";
import { IgnoreFieldsError } from "../../ocm/work/ignore-fields.ts";
import { planApply } from "../../ocm/work/plan-apply.ts";
import { projectOn } from "../project-on.ts";
import type { ExistingChange } from "../plan-existing.ts";
import type { MemberChange } from "../plan-fleet.ts";
import { manifestOf, optionsFor } from "./plan-work-changes.ts";

type Object = DeepReadonly<KubernetesObject>;

/** `note`: why the member's object stays as it is. */
type TakenChange = Exclude<ExistingChange, { outcome: "none" }> | { outcome: "none"; note: string };

/** The holder of a work that is not applied yet. */
const NEW: OwnerReference = {
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "AppliedManifestWork",
  name: "new",
  uid: "",
};

/** `observed` is the member's object. */
export async function planTakenManifest(
  work: DeepReadonly<ManifestWork>,
  change: MemberChange,
  observed: Object,
  resourceOf: (object: Object) => string | undefined,
): Promise<TakenChange> {
  const manifest = manifestOf(work, change.object);
  if (!manifest) return { outcome: "change", change };
  const { cluster } = change;
  const ownership = references({ reference: NEW, isHeld: true, isDelivered: false });
  try {
    const options = optionsFor(work, manifest.object, resourceOf);
    const { mode, exact = [], retain } = planApply(manifest, options, ownership);
    const conflict = ownership.conflictWith(observed, manifest.object, { cluster, mode });
    if (conflict !== undefined) return { outcome: "conflict", message: `${cluster}: ${conflict}` };
    if (mode === "create-only")
      return { outcome: "none", note: `${cluster} keeps the object that it has: its update strategy is CreateOnly` };
    const sent = retain ? await retain(manifest.object, observed) : manifest.object;
    const has = { ...(projectOn(sent, observed) as object), ...pick(observed, exact) };
    const { fields, more } = compareFields(has, { ...sent, ...pick(sent, exact) });
    if (fields.length === 0)
      return { outcome: "none", note: `${cluster} has it with these values; the work takes it over` };
    const note = "the work takes over the object that exists there";
    return { outcome: "change", change: { ...change, action: "update", fields, ...omitZero({ more }), note } };
  } catch (error) {
    if (!(error instanceof IgnoreFieldsError)) throw error;
    return { outcome: "conflict", message: `${cluster}: ${error.message}` };
  }
}

const pick = (object: Object, fields: readonly string[]): object =>
  Object.fromEntries(Object.entries(object).filter(([field]) => fields.includes(field)));
