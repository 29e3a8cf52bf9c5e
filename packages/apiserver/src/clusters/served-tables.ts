/**
 * What each logical cluster serves: the resource table of its profile, until the cluster has CRDs of its own. Clusters
 * with equal CRDs share tables again, and every resource is shared by the content of its CRD.
 */
import { createHash } from "node:crypto";
import type { Kind } from "@flotilla/apimachinery";
import { required } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { objectIn } from "../codec/render.ts";
import {
  CRD_GROUP,
  CRD_PLURAL,
  conditionOf,
  foreignResource,
  resourceOfDefinition,
  withAcceptedNames,
} from "../resources/definition.ts";
import type { Definition } from "../resources/definition.ts";
import { createResourceTable, prefixOf } from "../resources/resources.ts";
import type { Resource, ResourceTable } from "../resources/resources.ts";
import type { Cache, CachedEntry } from "../store/cache.ts";
import { isMarker } from "./objects.ts";
import type { ProfileLayer } from "./profiles.ts";

export interface ServedTables {
  /** The table of a cluster with the CRDs that are stored now; the same one as long as they serve the same. */
  tableOf(cluster: string, profile: ProfileLayer): ResourceTable;
  /** The resource that a CRD serves in clusters of a profile; shared by content. */
  resourceOf(definition: DeepReadonly<Definition>, profile: ProfileLayer): Resource;
}

export function createServedTables(cache: Cache, knownKinds: readonly Kind[]): ServedTables {
  const known = new Map(knownKinds.map((kind) => [`${kind.plural}.${kind.group}`, kind]));
  const resources = new WeakCache<Resource>();
  const tables = new WeakCache<ResourceTable>();

  const resourceOf = (
    given: DeepReadonly<Definition>,
    { hasForeignKinds, podsAreTemplates }: ProfileLayer,
    id = contentId(given),
  ): Resource => {
    const ours = known.get(given.metadata.name);
    if (hasForeignKinds) return resources.get(`foreign ${id}`, () => foreignResource(withAcceptedNames(given), ours));
    // Controllers calculate with objects of our kinds, and with templates of any kind.
    const hasLongIntegers = !ours && !podsAreTemplates;
    return resources.get(hasLongIntegers ? `exact ${id}` : id, () =>
      resourceOfDefinition(withAcceptedNames(given), ours, hasLongIntegers),
    );
  };

  /**
   * Identifies the resource served by the CRD of an entry by its content; undefined for a CRD that is not established.
   */
  const contentIds = new WeakMap<CachedEntry, string | undefined>();

  const tableOf = (name: string, profile: ProfileLayer): ResourceTable => {
    const definitions = profile.table.resource(CRD_GROUP, CRD_PLURAL);
    const own = definitions ? cache.list(prefixOf(definitions, name)) : [];
    if (!definitions || own.length === 0) return profile.table;
    const served = new Map(
      profile.table.resources.map((resource) => [`${resource.name.resource}.${resource.name.group}`, resource]),
    );
    const signature = createHash("sha256").update(profile.name);
    for (const entry of own) {
      const definitionName = entry.key.slice(entry.key.lastIndexOf("/") + 1);
      const resource = servedBy(entry);
      if (resource) served.set(definitionName, resource);
      else served.delete(definitionName);
      signature.update(`\n${definitionName} ${resource ? idOf(resource) : "-"}`);
    }
    return tables.get(signature.digest("base64url"), () => createResourceTable([...served.values()]));

    function servedBy(entry: CachedEntry): Resource | undefined {
      if (isMarker(entry)) return undefined;
      const definition = objectIn(
        entry,
        required(definitions, "the kind CustomResourceDefinition").storage,
      ) as unknown as DeepReadonly<Definition>;
      // Schemas are large, and every write of one CRD reads all CRDs of its cluster, so each content is parsed once.
      if (!contentIds.has(entry))
        contentIds.set(
          entry,
          conditionOf(definition, "Established")?.status === "True" ? contentId(definition) : undefined,
        );
      const id = contentIds.get(entry);
      return id === undefined ? undefined : resourceOf(definition, profile, id);
    }
  };

  return { tableOf, resourceOf: (definition, profile) => resourceOf(definition, profile) };
}

function contentId(definition: DeepReadonly<Definition>): string {
  return createHash("sha256")
    .update(JSON.stringify(withAcceptedNames(definition).spec))
    .digest("base64url");
}

/** A number for each live resource, so that a table's signature need not repeat its content. */
const ids = new WeakMap<Resource, number>();
let lastId = 0;
function idOf(resource: Resource): number {
  let id = ids.get(resource);
  if (id === undefined) ids.set(resource, (id = ++lastId));
  return id;
}

/** Values shared by their key while they are referenced. */
class WeakCache<T extends object> {
  readonly #values = new Map<string, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (!this.#values.get(key)?.deref()) this.#values.delete(key);
  });

  get(key: string, make: () => T): T {
    const shared = this.#values.get(key)?.deref();
    if (shared) return shared;
    const value = make();
    this.#values.set(key, new WeakRef(value));
    this.#gone.register(value, key);
    return value;
  }
}
