/** Queries a hub for completion values: members, namespaces, types, names of objects. Read-only and limited in size. */
import { Cluster } from "@flotilla/karmada";
import { ManagedCluster } from "@flotilla/ocm";
import { HUB } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import { queryText, resourcePath } from "@flotilla/client";
import { ask } from "../members/ask.ts";
import type { Asking } from "../members/ask.ts";
import { readTypes } from "../members/discovery.ts";
import { hubPlace, proxyPath, readNames } from "../members/members-places.ts";
import type { Place } from "../members/members-places.ts";
import { findType, idOf } from "../members/served-types.ts";
import type { ServedType } from "../members/served-types.ts";
import type { Candidate, Wanted } from "./offer-completions.ts";

/** More candidates would not be read. */
const MAX_NAMES = 500;
/** If no member is named, at most this many are queried for object names. */
const MAX_MEMBERS = 8;
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/** `fallback` is the namespace of a command line without -n. */
export async function hubValues(
  { completes, typed, line }: Wanted,
  asking: Asking,
  fallback: string,
): Promise<Candidate[]> {
  const namespace = line.flags.get("namespace")?.at(-1) ?? fallback;
  const clusters = readNames([...(line.flags.get("clusters") ?? []), ...(line.flags.get("from") ?? [])]);
  switch (completes) {
    case "namespace":
      return (await namesAt(asking, hubPlace, { group: "", version: "v1", resource: "namespaces" })).map(plain);
    case "cluster":
      return (await memberNames(asking)).map(plain);
    case "clusters":
      return inList(typed, await memberNames(asking)).map(plain);
    case "type":
      return inList(typed, (await typesOf(asking)).flatMap(wordsFor)).map(plain);
    case "name":
      return nameCandidates(asking, line.args[0] ?? "", namespace, clusters, "");
    case "resource": {
      const slash = typed.indexOf("/");
      if (slash >= 0)
        return nameCandidates(asking, typed.slice(0, slash), namespace, clusters, typed.slice(0, slash + 1));
      return inList(typed, (await typesOf(asking)).flatMap(wordsFor)).map(plain);
    }
    case "pod":
      if (typed.includes("/")) return hubValues({ completes: "resource", typed, before: "", line }, asking, fallback);
      return objectNames(
        asking,
        { group: "", version: "v1", resource: "pods" },
        namespace,
        clusters.length > 0 ? clusters : (await memberNames(asking)).slice(0, MAX_MEMBERS),
      );
    default:
      return [];
  }
}

const plain = (value: string): Candidate => ({ value });

/** `a,b,c` is completed at its last part; entries of the list are not offered again. */
function inList(typed: string, values: readonly string[]): string[] {
  const done = typed.slice(0, typed.lastIndexOf(",") + 1);
  const taken = new Set(done.split(","));
  return values.filter((value) => !taken.has(value)).map((value) => done + value);
}

async function memberNames(asking: Asking): Promise<string[]> {
  const registrations = await Promise.allSettled(
    [Cluster, ManagedCluster].map(({ group, storageVersion, plural }) =>
      namesAt(asking, hubPlace, { group, version: storageVersion, resource: plural }),
    ),
  );
  // A user who may list only Clusters or only ManagedClusters gets those.
  return [...new Set(registrations.flatMap((face) => (face.status === "fulfilled" ? face.value : [])))].toSorted(
    (a, b) => a.localeCompare(b, "en", { numeric: true }),
  );
}

async function typesOf(asking: Asking): Promise<ServedType[]> {
  return (await readTypes((path, accept) => ask(asking, hubPlace, path, accept))).filter(({ verbs }) =>
    verbs.includes("get"),
  );
}

/** Plural names, with the group where the name alone is ambiguous. */
function wordsFor(type: ServedType, _index: number, all: readonly ServedType[]): string[] {
  const first = findType(all, type.plural);
  if (first === type) return [type.plural];
  return first && idOf(first) === idOf(type) ? [] : [idOf(type)];
}

async function nameCandidates(
  asking: Asking,
  word: string,
  namespace: string,
  clusters: readonly string[],
  before: string,
): Promise<Candidate[]> {
  const type = findType(await typesOf(asking), word);
  if (!type) return [];
  const { group, version, plural, scope } = type;
  const where = [{ group, version, resource: plural }, scope === "Namespaced" ? namespace : undefined] as const;
  const found = await objectNames(asking, ...where, clusters);
  // Kinds that the hub has no objects of, such as pods, are read from members.
  const names =
    found.length > 0 || clusters.length > 0
      ? found
      : await objectNames(asking, ...where, (await memberNames(asking)).slice(0, MAX_MEMBERS));
  return names.map(({ value, says }) => ({ value: before + value, says }));
}

interface Collection {
  group: string;
  version: string;
  resource: string;
}

/** Names on the hub or on members, each with its cluster. */
async function objectNames(
  asking: Asking,
  collection: Collection,
  namespace: string | undefined,
  clusters: readonly string[],
): Promise<Candidate[]> {
  const where = { ...collection, namespace };
  if (clusters.length === 0) return (await namesAt(asking, hubPlace, where)).map(plain);
  const places = clusters.slice(0, MAX_MEMBERS).map((name): Place => ({ name, prefix: proxyPath(name), mode: "push" }));
  const found = await Promise.allSettled(
    places.map(async (place) => (await namesAt(asking, place, where)).map((value) => [value, place.name] as const)),
  );
  // A member that does not respond does not hide the names of the others.
  const byName = Map.groupBy(
    found.flatMap((each) => (each.status === "fulfilled" ? each.value : [])),
    ([value]) => value,
  );
  return Array.from(byName, ([value, pairs]) => ({
    value,
    says: `on ${pairs.map(([, cluster]) => cluster).join(", ")}`,
  }));
}

async function namesAt(asking: Asking, place: Place, where: Collection & { namespace?: string }): Promise<string[]> {
  const { items } = await ask(
    asking,
    place,
    `${resourcePath({ cluster: HUB, ...where })}${queryText({ limit: String(MAX_NAMES) })}`,
    METADATA_ONLY,
  );
  return (Array.isArray(items) ? items : []).flatMap((item) =>
    isObject(item) && isObject(item["metadata"]) && typeof item["metadata"]["name"] === "string"
      ? [item["metadata"]["name"]]
      : [],
  );
}
