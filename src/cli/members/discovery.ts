/**
 * Reads which types a cluster serves, in the order in which it prefers them: from one document per root, or group by
 * group on servers before 1.26.
 */
import type { JsonObject } from "../../base/index.ts";
import { ApiError } from "../../machinery/index.ts";
import { objectOf, objectsOf, textOf, textsOf } from "./json-parts.ts";
import type { Place } from "./places.ts";
import { findTypes } from "./types.ts";
import type { ServedType } from "./types.ts";

const ACCEPT = ["v2", "v2beta1"]
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat("application/json")
  .join(",");

export type AskPath = (path: string, accept?: string) => Promise<JsonObject>;

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

/** The version that the server prefers comes first. */
function versionsOf({ name, versions, preferredVersion }: JsonObject): (readonly [string, string, string])[] {
  const group = textOf(name);
  const preferred = textOf(objectOf(preferredVersion)["version"]);
  const all = objectsOf(versions).map(({ version }) => textOf(version));
  return [...all.filter((version) => version === preferred), ...all.filter((version) => version !== preferred)].map(
    (version) => [group, version, `/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`] as const,
  );
}

/** A group whose own server is down hides nothing of the others. */
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
  /** What a word means at a place; empty when it means nothing there. */
  typesAt(place: Place, word: string): Promise<ServedType[]>;
  /** All that was read so far, for hints. */
  known(): ServedType[];
}

/**
 * Discovery of many clusters. Those that serve the same, as far as the hub knows, are asked once; a cluster that would
 * not have a type by that is asked itself, because a definition may have arrived since the hub looked.
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
        // Whoever looks again later asks again.
        own.delete(place.name);
        throw error;
      },
    );
    own.set(place.name, asked);
    return asked;
  };

  async function typesOf(place: Place): Promise<ServedType[]> {
    if (place.serves === undefined || own.has(place.name)) return readOwn(place);
    // One that could not be asked says nothing about the others.
    const before = shared.get(place.serves);
    const [known] = before ? await Promise.allSettled([before]) : [];
    if (known?.status === "fulfilled") return known.value;
    const asked = readOwn(place);
    shared.set(place.serves, asked);
    return asked;
  }

  return {
    async typesAt(place, word) {
      const found = findTypes(await typesOf(place), word);
      return found.length > 0 ? found : findTypes(await readOwn(place), word);
    },
    known: () => read.flat(),
  };
}
