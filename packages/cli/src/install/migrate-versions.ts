/**
 * Rewrites objects that are stored in a version that is no longer the one to store, so that a later release may drop the
 * old version: a definition lists every version that objects may be stored in, until a client removes it from the list.
 */
import { dynamicKind, HUB, isConflict, isNotFound } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { eachObject } from "@flotilla/client";
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import type { InstallTools } from "./apply-install.ts";

const PAGE = 100;

/** Definitions with objects in another version than the one to store. Pure. */
export function planMigrations(
  definitions: readonly DeepReadonly<CustomResourceDefinition>[],
  names: ReadonlySet<string>,
): { definition: DeepReadonly<CustomResourceDefinition>; storage: string }[] {
  return definitions.flatMap((definition) => {
    const storage = definition.spec.versions.find((version) => version.storage)?.name;
    const stored = definition.status?.storedVersions ?? [];
    return names.has(definition.metadata.name) && storage !== undefined && stored.some((version) => version !== storage)
      ? [{ definition, storage }]
      : [];
  });
}

/** Returns the number of objects that were rewritten. */
export async function migrateVersions(names: ReadonlySet<string>, tools: InstallTools): Promise<number> {
  const { client, signal } = tools;
  const { items } = await client.list(CustomResourceDefinition, { cluster: HUB, signal });
  let rewritten = 0;
  for (const { definition, storage } of planMigrations(items, names)) {
    const { group, names: named, scope } = definition.spec;
    const kind = dynamicKind({
      group,
      version: storage,
      kind: named.kind,
      plural: named.plural,
      scope: scope === "Cluster" ? "Cluster" : "Namespaced",
    });
    for await (const object of eachObject(client, kind, { cluster: HUB, limit: PAGE, signal })) {
      tools.progress(`storing ${definition.metadata.name} in ${storage}: ${++rewritten} objects`);
      // A write that changes nothing stores the object again; one that was changed or deleted meanwhile is stored anyway.
      await client.update(kind, HUB, object, { signal }).catch((error: unknown) => {
        if (!isConflict(error) && !isNotFound(error)) throw error;
      });
    }
    await client.patch(
      CustomResourceDefinition,
      { cluster: HUB, name: definition.metadata.name },
      { status: { storedVersions: [storage] } },
      { type: "merge", subresource: "status", signal },
    );
  }
  return rewritten;
}
