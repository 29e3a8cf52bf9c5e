/** What a created or changed ManifestWork changes on its member. Pure: strategies and delete options decide. */
import { parseApiVersion, objectTitle } from "@flotilla/apimachinery";
import type { ManifestWork } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { manifestsOf, refOf } from "../../ocm/work/manifests.ts";
import type { Manifest } from "../../ocm/work/manifests.ts";
import { deliveredObject, optionsOf } from "../../ocm/work/manifest-options.ts";
import type { ManifestOptions } from "../../ocm/work/manifest-options.ts";
import { isOwned } from "../../ocm/work/ownership.ts";
import { compareFields } from "../../fields/field-changes.ts";
import type { MemberChange } from "../plan-fleet.ts";

type Work = DeepReadonly<ManifestWork>;
type Object = Manifest["object"];

export interface WorkChanges {
  changes: MemberChange[];
  /** Changes of manifests that the member does not get. */
  notes: string[];
}

/** `resourceOf` names the resource of a kind, such as `deployments`; undefined for a kind that is not known. */
export function planWorkChanges(
  before: Work | undefined,
  after: Work,
  resourceOf: (object: Object) => string | undefined,
): WorkChanges {
  const planned: WorkChanges = { changes: [], notes: [] };
  if (after.metadata.deletionTimestamp !== undefined) return planned;
  const cluster = after.metadata.namespace ?? "";
  const [old, next] = [byIdentity(before), byIdentity(after)];

  const deliveredBy = (work: Work, object: Object): Object =>
    deliveredObject(object, optionsFor(work, object, resourceOf));
  for (const [id, object] of next) {
    const strategy = strategyOf(after, object, resourceOf);
    const had = old.get(id);
    if (strategy === "ReadOnly") continue;
    const change = { cluster, object: refOf(object) };
    if (!had) {
      planned.changes.push({ ...change, action: "create", fields: [] });
      continue;
    }
    const { fields, more } = compareFields(deliveredBy(before ?? after, had), deliveredBy(after, object));
    if (fields.length === 0) continue;
    if (strategy === "CreateOnly")
      planned.notes.push(`${objectTitle(object)} on ${cluster} stays: its update strategy is CreateOnly`);
    else planned.changes.push({ ...change, action: "update", fields, more: more > 0 ? more : undefined });
  }

  for (const [id, object] of old) {
    if (next.has(id)) continue;
    const { group } = parseApiVersion(object.apiVersion);
    const { namespace, name } = object.metadata;
    const identifier = { group, resource: resourceOf(object) ?? "", namespace, name };
    const change = { cluster, object: refOf(object), action: "delete" as const, fields: [] };
    planned.changes.push(
      isOwned(identifier, after.spec.deleteOption)
        ? change
        : { ...change, note: "it keeps running there: the deleteOption of the work orphans it" },
    );
  }
  return planned;
}

const strategyOf = (work: Work, object: Object, resourceOf: (object: Object) => string | undefined): string =>
  optionsFor(work, object, resourceOf)?.updateStrategy?.type ?? "Update";

/** How the work applies an object. */
export function optionsFor(
  work: Work,
  object: Object,
  resourceOf: (object: Object) => string | undefined,
): ManifestOptions | undefined {
  const { group, version } = parseApiVersion(object.apiVersion);
  const { namespace, name } = object.metadata;
  const meta = { ordinal: 0, group, version, kind: object.kind, resource: resourceOf(object) ?? "", namespace, name };
  return optionsOf(meta, work.spec.manifestConfigs);
}

/** The manifest of an object; undefined if the work cannot apply one. */
export function manifestOf(
  work: Work,
  { apiVersion, kind, namespace, name }: MemberChange["object"],
): Manifest | undefined {
  const id = identityOf({ apiVersion, kind, metadata: { namespace, name } });
  return appliedOf(work).find(({ object }) => identityOf(object) === id);
}

/** The manifests that can be applied. */
const appliedOf = (work: Work | undefined): Manifest[] =>
  (work ? manifestsOf(work) : []).filter(({ problem }) => problem === undefined);

const byIdentity = (work: Work | undefined): Map<string, Object> =>
  new Map(appliedOf(work).map(({ object }) => [identityOf(object), object]));

/** Another API version is only another view of the same object. */
const identityOf = ({ apiVersion, kind, metadata: { namespace = "", name } }: Object): string =>
  `${parseApiVersion(apiVersion).group}/${kind}/${namespace}/${name}`;
