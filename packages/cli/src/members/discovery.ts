/**
 * Reads which types a cluster serves, in its order of preference: from one document per root, or group by group on
 * servers before 1.26.
 */
import type { JsonObject } from "@flotilla/base";
import { ApiError, parseApiVersion } from "@flotilla/apimachinery";
import type { Place } from "./members-places.ts";
import { findNamesakes, findTypes } from "./served-types.ts";
import type { ServedType } from "./served-types.ts";
import { textOf, textsOf, objectOf, objectsOf } from "@flotilla/base";

const ACCEPT = ["v2", "v2beta1"]
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat("application/json")
  .join(",");

type AskPath = (path: string, accept?: string) => Promise<JsonObject>;

export async function readTypes(ask: AskPath): Promise<ServedType[]> {
  const [core, groups] = await Promise.all([ask("/api", ACCEPT), ask("/apis", ACCEPT)]);
  return (
    await Promise.all(
      [core, groups].map(async (answer) =>
        answer["kind"] === "APIGroupDiscoveryList" ? aggregated(answer) : groupByGroup(ask, answer),
      ),
    )
  ).flat();
}

function aggregated({ items }: JsonObject): ServedType[] {
  return objectsOf(items).flatMap(({ metadata, versions }) => {
    const group = textOf(objectOf(metadata)["name"]);
    return objectsOf(versions).flatMap((entry) =>
      objectsOf(entry["resources"]).map(
        (resource) =>
          ({
            group,
            version: textOf(entry["version"]),
            kind: textOf(objectOf(resource["responseKind"])["kind"]),
            plural: textOf(resource["resource"]),
            scope: resource["scope"] === "Namespaced" ? "Namespaced" : "Cluster",
            singular: textOf(resource["singularResource"]),
            shortNames: textsOf(resource["shortNames"]),
            categories: textsOf(resource["categories"]),
            verbs: textsOf(resource["verbs"]),
          }) satisfies ServedType,
      ),
    );
  });
}

async function groupByGroup(ask: AskPath, answer: JsonObject): Promise<ServedType[]> {
  const paths =
    answer["kind"] === "APIVersions"
      ? textsOf(answer["versions"]).map((version) => ["", version, `/api/${encodeURIComponent(version)}`] as const)
      : objectsOf(answer["groups"]).flatMap(versionsOf);
  const lists = await Promise.all(
    paths.map(async ([group, version, path]) => legacyTypes(group, version, await askIfServed(ask, path))),
  );
  return lists.flat();
}

/** The server's preferred version comes first. */
function versionsOf({ name, versions, preferredVersion }: JsonObject): (readonly [string, string, string])[] {
  const group = textOf(name);
  const preferred = textOf(objectOf(preferredVersion)["version"]);
  const all = objectsOf(versions).map(({ version }) => textOf(version));
  return [...all.filter((version) => version === preferred), ...all.filter((version) => version !== preferred)].map(
    (version) => [group, version, `/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`] as const,
  );
}

/** An unavailable aggregated API hides no other group. */
async function askIfServed(ask: AskPath, path: string): Promise<JsonObject> {
  try {
    return await ask(path);
  } catch (error) {
    if (error instanceof ApiError && (error.status.code === 404 || error.status.code === 503)) return {};
    throw error;
  }
}

function legacyTypes(group: string, version: string, { resources }: JsonObject): ServedType[] {
  return objectsOf(resources)
    .filter(({ name }) => !textOf(name).includes("/"))
    .map((resource) => ({
      group,
      version,
      kind: textOf(resource["kind"]),
      plural: textOf(resource["name"]),
      scope: resource["namespaced"] === true ? "Namespaced" : "Cluster",
      singular: textOf(resource["singularName"]),
      shortNames: textsOf(resource["shortNames"]),
      categories: textsOf(resource["categories"]),
      verbs: textsOf(resource["verbs"]),
    }));
}

export interface Discovery {
  /** The types that a word matches at a place; empty if none. */
  typesAt(place: Place, word: string): Promise<ServedType[]>;
  /** The types that the word of TYPE/NAME may mean at a place, in several groups; empty if none. */
  namesakesAt(place: Place, word: string): Promise<ServedType[]>;
  /** All types read so far, for suggestions. */
  known(): ServedType[];
}

/** The type of a manifest at a place: in the manifest's version, or in another one if that is not served there. */
export async function typeOfManifest(
  discovery: Discovery,
  place: Place,
  { apiVersion, kind }: { apiVersion: string; kind: string },
): Promise<ServedType | undefined> {
  const { group, version } = parseApiVersion(apiVersion);
  const find = async (word: string): Promise<ServedType | undefined> =>
    (await discovery.typesAt(place, word)).find((type) => type.group === group && type.kind === kind);
  return (await find(`${kind}.${version}.${group}`)) ?? (await find(group ? `${kind}.${group}` : kind));
}

/**
 * Discovery of many clusters. Clusters that serve the same types, as far as the hub knows, are queried once. A cluster
 * that would lack a type by that is queried itself, because its CRD may be newer than the hub's information.
 */
export function createDiscovery(ask: (place: Place, path: string, accept?: string) => Promise<JsonObject>): Discovery {
  const shared = new Map<string, Promise<ServedType[]>>();
  const own = new Map<string, Promise<ServedType[]>>();
  const read: ServedType[][] = [];

  const readOwn = (place: Place): Promise<ServedType[]> => {
    const known = own.get(place.name);
    if (known) return known;
    const asked = readTypes((path, accept) => ask(place, path, accept)).then(
      (types) => {
        read.push(types);
        return types;
      },
      (error: unknown) => {
        // A later lookup queries again.
        own.delete(place.name);
        throw error;
      },
    );
    own.set(place.name, asked);
    return asked;
  };

  async function typesOf(place: Place): Promise<ServedType[]> {
    if (place.serves === undefined || own.has(place.name)) return readOwn(place);
    // A failed query does not affect the other clusters.
    const before = shared.get(place.serves);
    const [known] = before ? await Promise.allSettled([before]) : [];
    if (known?.status === "fulfilled") return known.value;
    const asked = readOwn(place);
    shared.set(place.serves, asked);
    return asked;
  }

  async function lookUp(place: Place, search: (types: ServedType[]) => ServedType[]): Promise<ServedType[]> {
    const found = search(await typesOf(place));
    return found.length > 0 ? found : search(await readOwn(place));
  }

  return {
    typesAt: (place, word) => lookUp(place, (types) => findTypes(types, word)),
    namesakesAt: (place, word) => lookUp(place, (types) => findNamesakes(types, word)),
    known: () => read.flat(),
  };
}
