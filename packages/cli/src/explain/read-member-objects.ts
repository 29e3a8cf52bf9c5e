/** Reads the objects that planned changes concern from their members, with the rights of the user. */
import { HUB, isNotFound } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import { resourcePath } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import type { MemberChange } from "@flotilla/flotilla";
import { ask } from "../members/ask.ts";
import type { Asking } from "../members/ask.ts";
import { createDiscovery, typeOfManifest } from "../members/discovery.ts";
import { askEach, reasonOf } from "../members/each-place.ts";
import { findPlaces } from "../members/members-places.ts";
import type { Place } from "../members/members-places.ts";
import type { ServedType } from "../members/served-types.ts";

/** A healthy member responds in a fraction of this. */
const TIMEOUT_MS = 3_000;
/** A plan of more new objects waits no longer for it: a member is asked for one object after the other. */
const MAX_PER_MEMBER = 100;

export interface ReadMemberObjects {
  /** Without those that the member does not have. In a version that the member serves: if possible, the change's. */
  found: ReadonlyMap<MemberChange, DeepReadonly<KubernetesObject>>;
  /** Those that were not looked at, by member. */
  unread: ReadonlyMap<string, { changes: MemberChange[]; reason: string }>;
}

export async function readMemberObjects(
  { client, clock, signal }: { client: Client; clock: Clock; signal: AbortSignal },
  changes: readonly MemberChange[],
): Promise<ReadMemberObjects> {
  const asking = { client, clock, responseTimeoutMs: TIMEOUT_MS, signal };
  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  const byCluster = Map.groupBy(changes, ({ cluster }) => cluster);
  const places = byCluster.size === 0 ? [] : await findPlaces(client, [], signal);
  const found = new Map<MemberChange, DeepReadonly<KubernetesObject>>();
  const unread = new Map(
    [...byCluster].map(([cluster, all]) => [cluster, { changes: [...all], reason: "it is not a member" }]),
  );
  await askEach(
    places.filter(({ name }) => byCluster.has(name)),
    signal,
    async (place) => {
      const left = unread.get(place.name);
      if (!left) return;
      try {
        left.reason = `only ${MAX_PER_MEMBER} objects of a member are checked`;
        for (const change of (byCluster.get(place.name) ?? []).slice(0, MAX_PER_MEMBER)) {
          const { namespace, name } = change.object;
          const type = await typeOfManifest(discovery, place, change.object);
          // A member that does not serve the kind has no such object.
          const object = type && (await readOne(asking, place, { ...type, namespace, name }));
          if (object) found.set(change, object as unknown as DeepReadonly<KubernetesObject>);
          left.changes.shift();
        }
      } catch (error) {
        left.reason = reasonOf(place, error);
        throw error;
      }
    },
  );
  return { found, unread: new Map([...unread].filter(([, left]) => left.changes.length > 0)) };
}

/** Undefined if there is none. */
async function readOne(asking: Asking, place: Place, address: ObjectAddress): Promise<JsonObject | undefined> {
  const { group, version, plural: resource, namespace, name } = address;
  try {
    return await ask(asking, place, resourcePath({ cluster: HUB, group, version, resource, namespace, name }));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

type ObjectAddress = Pick<ServedType, "group" | "version" | "plural"> &
  Pick<MemberChange["object"], "namespace" | "name">;
