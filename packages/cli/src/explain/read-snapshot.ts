/** Reads a hub's snapshot through its API. Read-only. */
import { ResourceInterpreterCustomization, ResourceInterpreterWebhookConfiguration } from "@flotilla/karmada";
import { HUB } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { createKindResolver, UnknownKindError } from "@flotilla/client";
import type { Client, KindResolver } from "@flotilla/client";
import { PLANNER_ROLE, SNAPSHOT_KINDS } from "@flotilla/flotilla";
import type { FleetSnapshot } from "@flotilla/flotilla";
import { isForbidden } from "../members/members-places.ts";

export interface HubState {
  snapshot: FleetSnapshot;
  customizations: readonly DeepReadonly<ResourceInterpreterCustomization>[];
  webhooks: readonly DeepReadonly<ResourceInterpreterWebhookConfiguration>[];
}

/** Without these it is unknown which other kinds are needed. */
const POLICIES: readonly Kind[] = [SNAPSHOT_KINDS.policies, SNAPSHOT_KINDS.clusterPolicies];

interface KindRef {
  readonly apiVersion: string;
  readonly kind: string;
}

/** `more` lists kinds to read besides those that policies and bindings name. */
export async function readHub(client: Client, more: readonly KindRef[], signal: AbortSignal): Promise<HubState> {
  const { list, check } = createLister(client, signal);
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
  check();
  return { snapshot: { ...known, templates }, customizations, webhooks };
}

/** What the interpreter of a hub needs. */
export async function readCustomizations(
  client: Client,
  signal: AbortSignal,
): Promise<Pick<HubState, "customizations">> {
  const { list, check } = createLister(client, signal);
  const customizations = await list(ResourceInterpreterCustomization);
  check();
  return { customizations };
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
  const { list, check } = createLister(client, signal);
  const lists = await Promise.all(kinds.map(async (kind) => list(kind)));
  check();
  return { ...state, snapshot: { ...state.snapshot, templates: [...state.snapshot.templates, ...lists.flat()] } };
}

/**
 * Lists kinds in all namespaces. A list that the user may not read is empty, and `check` then throws one error with all
 * of them: users would request one permission after the other.
 */
function createLister(
  client: Client,
  signal: AbortSignal,
): { list<T extends KubernetesObject>(kind: Kind<T>): Promise<readonly DeepReadonly<T>[]>; check(): void } {
  const missing = new Set<string>();
  return {
    async list(kind) {
      try {
        return (await client.list(kind, { cluster: HUB, signal })).items;
      } catch (error) {
        if (!isForbidden(error)) throw error;
        missing.add(kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`);
        return [];
      }
    },
    check() {
      if (missing.size === 0) return;
      const others = POLICIES.some((kind) => missing.has(`${kind.plural}.${kind.group}`))
        ? ", and the kinds that policies select"
        : "";
      throw new FlotillaError(
        "Forbidden",
        `you may not list these in all namespaces of the hub: ${[...missing].sort().join(", ")}${others}. Ask an administrator to bind the ClusterRole ${PLANNER_ROLE} to you with a ClusterRoleBinding; kinds that it lacks can be added to it`,
      );
    },
  };
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
