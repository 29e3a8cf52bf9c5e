/** Reads a hub's snapshot through its API. Read-only. */
import { ResourceInterpreterCustomization, ResourceInterpreterWebhookConfiguration } from "@flotilla/karmada";
import { HUB } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { createKindResolver, UnknownKindError } from "@flotilla/client";
import type { Client, KindResolver } from "@flotilla/client";
import { SNAPSHOT_KINDS } from "@flotilla/flotilla";
import type { FleetSnapshot } from "@flotilla/flotilla";

export interface HubState {
  snapshot: FleetSnapshot;
  customizations: readonly DeepReadonly<ResourceInterpreterCustomization>[];
  webhooks: readonly DeepReadonly<ResourceInterpreterWebhookConfiguration>[];
}

interface KindRef {
  readonly apiVersion: string;
  readonly kind: string;
}

/** `more` lists kinds to read besides those that policies and bindings name. */
export async function readHub(client: Client, more: readonly KindRef[], signal: AbortSignal): Promise<HubState> {
  const list = async <T extends KubernetesObject>(kind: Kind<T>): Promise<readonly DeepReadonly<T>[]> =>
    (await client.list(kind, { cluster: HUB, signal })).items;
  const names = Object.keys(SNAPSHOT_KINDS) as (keyof typeof SNAPSHOT_KINDS)[];
  const lists = await Promise.all(names.map(async (name) => [name, await list(SNAPSHOT_KINDS[name] as Kind)] as const));
  const known = Object.fromEntries(lists) as unknown as Omit<FleetSnapshot, "templates">;
  const [customizations, webhooks] = await Promise.all([
    list(ResourceInterpreterCustomization),
    list(ResourceInterpreterWebhookConfiguration),
  ]);
  const selected = [...known.policies, ...known.clusterPolicies].flatMap(({ spec }) => spec.resourceSelectors);
  const bound = [...known.bindings, ...known.clusterBindings].map(({ spec }) => spec.resource);
  const kinds = await servedKinds(createKindResolver({ client, cluster: HUB }), [...selected, ...bound, ...more]);
  const templates = (await Promise.all(kinds.map(async (kind) => list(kind)))).flat();
  return { snapshot: { ...known, templates }, customizations, webhooks };
}

/** The state with the objects of more kinds; kinds that were already read are not read again. */
export async function readMore(
  client: Client,
  state: HubState,
  more: readonly KindRef[],
  signal: AbortSignal,
): Promise<HubState> {
  const known = new Set(state.snapshot.templates.map(({ apiVersion, kind }) => `${apiVersion}/${kind}`));
  const kinds = await servedKinds(
    createKindResolver({ client, cluster: HUB }),
    more.filter(({ apiVersion, kind }) => !known.has(`${apiVersion}/${kind}`)),
  );
  if (kinds.length === 0) return state;
  const lists = await Promise.all(kinds.map(async (kind) => (await client.list(kind, { cluster: HUB, signal })).items));
  return { ...state, snapshot: { ...state.snapshot, templates: [...state.snapshot.templates, ...lists.flat()] } };
}

/** A kind that the hub does not serve has no objects; policies may refer to it in advance. */
async function servedKinds(resolver: KindResolver, refs: readonly KindRef[]): Promise<Kind[]> {
  const each = new Map(refs.map((ref) => [`${ref.apiVersion}/${ref.kind}`, ref]));
  const found = await Promise.all(
    [...each.values()].map(async (ref) => {
      try {
        return [await resolver.resolve(ref)];
      } catch (error) {
        if (error instanceof UnknownKindError) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}
