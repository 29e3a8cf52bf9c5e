/** Field managers. Recorded for every write except for the many objects whose managers are of no use. */
import { field, HUB, invalid, recordUpdate } from "@flotilla/apimachinery";
import type { OtherVersion, OtherVersions } from "@flotilla/apimachinery";
import { formatTime, defined } from "@flotilla/base";
import type { Clock, Json, JsonObject } from "@flotilla/base";
import type { RequestContext } from "../request/context.ts";
import { convertBetween } from "../codec/conversion.ts";
import type { ConversionMemo } from "../codec/conversion.ts";
import { metadataOf } from "../codec/metadata.ts";
import type { ServedVersion } from "../resources/resources.ts";

/**
 * Each apply compares its fields with those of all managers, and each of them repeats the fields that it owns. Updates
 * are already limited to a few managers per object.
 */
const MAX_MANAGERS = 1_000;

/** Throws 422 for an object with too many field managers. */
export function checkManagers({ served: { resource } }: RequestContext, object: JsonObject): JsonObject {
  const { managedFields, name } = metadataOf(object);
  const count = Array.isArray(managedFields) ? managedFields.length : 0;
  if (count <= MAX_MANAGERS) return object;
  const { group, kind } = resource.kind;
  throw invalid(group, kind, typeof name === "string" ? name : "", [
    field.tooMany("metadata.managedFields", count, MAX_MANAGERS),
  ]);
}

function tracksFields(context: RequestContext, stored: Json | undefined): boolean {
  if (!context.byController) return true;
  if (context.cluster.name !== HUB) return untracked(context) !== "others";
  // After an external client has written the object, its managers must stay accurate.
  return stored !== undefined || untracked(context) !== "root";
}

const untracked = ({ served }: RequestContext): "root" | "others" | undefined =>
  served.resource.kind.traits?.untrackedByControllers;

/** `after` with `metadata.managedFields`. `given` is the value that the client sent, if any. */
export function trackFields(
  context: RequestContext,
  clock: Clock,
  manager: string,
  before: JsonObject | undefined,
  after: JsonObject,
  given: Json | undefined,
): JsonObject {
  const { served, subresource } = context;
  const metadata = metadataOf(after);
  const stored = before && metadataOf(before).managedFields;
  const kept = given ?? stored;
  if (!tracksFields(context, stored))
    return stored === undefined ? after : { ...after, metadata: { ...metadata, managedFields: stored } };
  // The main endpoint writes neither a status that has its own subresource nor an immutable spec, so it owns neither.
  const hidesStatus = subresource === undefined && after.status !== undefined && served.subresources.status === true;
  const hidesSpec =
    subresource === undefined && after.spec !== undefined && served.resource.kind.traits?.fixedSpec === true;
  const hidden = [...(hidesStatus ? ["status"] : []), ...(hidesSpec ? ["spec"] : [])];
  const seen = without(after, hidden);
  const recorded = recordUpdate({
    before: before && without(before, hidden),
    after: kept === undefined ? seen : { ...seen, metadata: { ...metadata, managedFields: kept } },
    schema: served.schema,
    manager,
    apiVersion: served.apiVersion,
    subresource,
    time: formatTime(clock.now()),
    builtIn: served.resource.kind.builtIn,
    versions: otherVersions(context),
    beginsRecord: context.cluster.name === HUB && untracked(context) === "root",
  });
  checkManagers(context, recorded);
  return hidden.length === 0
    ? recorded
    : {
        ...recorded,
        ...defined({ spec: hidesSpec ? after.spec : undefined, status: hidesStatus ? after.status : undefined }),
      };
}

const versionsOf = new WeakMap<ServedVersion, OtherVersions>();

/** The versions of a kind as seen from that of a request. Their conversion may throw `ConversionPending`. */
export function otherVersions({ served, conversions }: Pick<RequestContext, "served" | "conversions">): OtherVersions {
  if (conversions) return versionsSeenFrom(served, conversions);
  let versions = versionsOf.get(served);
  if (!versions) versionsOf.set(served, (versions = versionsSeenFrom(served, undefined)));
  return versions;
}

function versionsSeenFrom(served: ServedVersion, memo: ConversionMemo | undefined): OtherVersions {
  const known = new Map<string, OtherVersion>();
  const converted = (object: JsonObject, from: ServedVersion, to: ServedVersion): JsonObject => ({
    ...convertBetween(memo, object, from, to),
    apiVersion: to.apiVersion,
  });
  for (const other of [...served.resource.versions, served.resource.storage])
    known.set(other.apiVersion, {
      schema: other.schema,
      fromRequest: (object) => converted(object, served, other),
      toRequest: (object) => converted(object, other, served),
    });
  return (apiVersion) => known.get(apiVersion);
}

function without(object: JsonObject, fields: readonly string[]): JsonObject {
  if (fields.length === 0) return object;
  const rest = { ...object };
  for (const field of fields) Reflect.deleteProperty(rest, field);
  return rest;
}
