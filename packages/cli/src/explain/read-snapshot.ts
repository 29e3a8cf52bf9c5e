/** Reads a hub's snapshot through its API. Read-only. */
import { ResourceInterpreterCustomization, ResourceInterpreterWebhookConfiguration } from "@flotilla/karmada";
import { HUB, isNotFound, isForbidden } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { createKindResolver, UnknownKindError } from "@flotilla/client";
import type { Client, KindResolver } from "@flotilla/client";
import { AGGREGATE_TO_PLANNER, PLANNER_ROLE, SNAPSHOT_KINDS } from "@flotilla/flotilla";
import type { FleetSnapshot } from "@flotilla/flotilla";

export interface HubState {
  snapshot: FleetSnapshot;
  customizations: readonly DeepReadonly<ResourceInterpreterCustomization>[];
  webhooks: readonly DeepReadonly<ResourceInterpreterWebhookConfiguration>[];
}

/** Without these it is unknown which other kinds are needed. */
const POLICIES: readonly Kind[] = [SNAPSHOT_KINDS.policies, SNAPSHOT_KINDS.clusterPolicies];

const titleOf = ({ group, plural }: Kind): string => (group === "" ? plural : `${plural}.${group}`);

/** The kinds that every plan reads, and that the role of planners has on every hub. */
const ALWAYS_READ: ReadonlySet<string> = new Set(
  [
    ...(Object.values(SNAPSHOT_KINDS) as readonly Kind[]),
    ResourceInterpreterCustomization as Kind,
    ResourceInterpreterWebhookConfiguration as Kind,
  ].map(titleOf),
);

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
  const resolver = createKindResolver({ client, cluster: HUB });
  const { kinds, unserved } = await resolveAll(resolver, [...selected, ...bound, ...more]);
  const templates = (await Promise.all(kinds.map(async (kind) => list(kind)))).flat();
  check();
  return { snapshot: { ...known, templates, unserved }, customizations, webhooks };
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
  const { kinds, unserved } = await resolveAll(
    createKindResolver({ client, cluster: HUB }),
    more.filter(({ apiVersion, kind }) => !known.has(`${apiVersion}/${kind}`)),
  );
  if (kinds.length + unserved.length === 0) return state;
  const { list, check } = createLister(client, signal);
  const lists = await Promise.all(kinds.map(async (kind) => list(kind)));
  check();
  const { snapshot } = state;
  return {
    ...state,
    snapshot: {
      ...snapshot,
      templates: [...snapshot.templates, ...lists.flat()],
      unserved: [...(snapshot.unserved ?? []), ...unserved],
    },
  };
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
        // Of our own kinds, a hub of an earlier version, or on an existing cluster, may lack some.
        if (isNotFound(error)) return [];
        if (!isForbidden(error)) throw error;
        missing.add(titleOf(kind));
        return [];
      }
    },
    check() {
      if (missing.size === 0) return;
      const others = POLICIES.some((kind) => missing.has(titleOf(kind))) ? ", and the kinds that policies select" : "";
      throw new FlotillaError(
        "Forbidden",
        `you may not list these in all namespaces of the hub: ${[...missing].sort().join(", ")}${others}. ${adviceFor([...missing].sort())}`,
      );
    },
  };
}

/**
 * An account that may read everything that every plan reads has the role, or one like it; the role then lacks the kinds
 * of other teams.
 */
function adviceFor(missing: readonly string[]): string {
  const lacking = missing.filter((title) => !ALWAYS_READ.has(title));
  const extend =
    lacking.length === 0
      ? `a ClusterRole with the label ${AGGREGATE_TO_PLANNER}: "true" adds kinds to it`
      : `it gets kinds that it lacks from a ClusterRole with the label ${AGGREGATE_TO_PLANNER}: "true" that allows get and list of ${lacking.join(", ")}`;
  return lacking.length === missing.length
    ? `If the ClusterRole ${PLANNER_ROLE} is bound to you, ${extend}: ask an administrator to create it. ` +
        `Otherwise ask for a ClusterRoleBinding to ${PLANNER_ROLE}`
    : `Ask an administrator to bind the ClusterRole ${PLANNER_ROLE} to you with a ClusterRoleBinding; ${extend}`;
}

/** A kind that the hub does not serve has no objects; policies may refer to it in advance. */
async function resolveAll(
  resolver: KindResolver,
  refs: readonly KindRef[],
): Promise<{ kinds: Kind[]; unserved: KindRef[] }> {
  const unserved: KindRef[] = [];
  const each = new Map(refs.map((ref) => [`${ref.apiVersion}/${ref.kind}`, ref]));
  const found = await Promise.all(
    [...each.values()].map(async (ref) => {
      try {
        return [await resolver.resolve(ref)];
      } catch (error) {
        if (!(error instanceof UnknownKindError)) throw error;
        unserved.push({ apiVersion: ref.apiVersion, kind: ref.kind });
        return [];
      }
    }),
  );
  return { kinds: found.flat(), unserved };
}
