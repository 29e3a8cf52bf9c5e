/**
 * Reads of kinds whose objects are synthesized by code: they are returned as if they were stored, so that selectors,
 * tables and formats work the same.
 */
import type { ObjectSource, SourceQuery } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { notFound } from "@flotilla/apimachinery";
import type { CachedEntry } from "../store/cache.ts";
import { keyOf } from "../resources/resources.ts";
import type { RequestContext } from "../request/context.ts";
import { metadataOf } from "../codec/metadata.ts";
import { encodeObject, ordered, viewOfWritten } from "../codec/render.ts";

type Where = Pick<RequestContext, "cluster" | "served" | "namespace" | "name" | "query" | "warn" | "signal">;

/** Throws 404 when the object does not exist. */
export async function synthesizedEntry(context: Where, source: ObjectSource): Promise<CachedEntry> {
  const { cluster, served, namespace, name = "" } = context;
  const object = await source.get(cluster.name, namespace, name, queryOf(context));
  if (!object) throw notFound(served.resource.name, name);
  return entryOf(context, object);
}

export async function synthesizedEntries(context: Where, source: ObjectSource): Promise<CachedEntry[]> {
  const objects = await source.list(context.cluster.name, context.namespace, queryOf(context));
  return objects.map((object) => entryOf(context, object));
}

const queryOf = ({ query, warn, signal }: Where): SourceQuery => ({
  labelSelector: query.get("labelSelector") ?? "",
  warn,
  signal,
});

/** An entry that is not stored. Revision 0: it has no resourceVersion, because it was never written. */
function entryOf({ cluster, served }: Pick<Where, "cluster" | "served">, made: JsonObject): CachedEntry {
  const object = ordered(made);
  const { name, namespace } = metadataOf(object) as { name: string; namespace?: string };
  return {
    key: keyOf(served.resource, cluster.name, namespace, name),
    revision: 0,
    get value() {
      return encodeObject(object);
    },
    memo: viewOfWritten(served, object, false).view,
  };
}
