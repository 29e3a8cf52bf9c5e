/** The clusters that a command reads: members, through the hub's cluster proxy, and the hub itself on request. */
import { Cluster, RESPONDING } from "@flotilla/karmada";
import { findCondition, HUB, isForbidden } from "@flotilla/apimachinery";
import { didYouMean, FlotillaError, UsageError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { eachObject, find, resourcePath } from "@flotilla/client";
import type { Client } from "@flotilla/client";

export interface Place {
  readonly name: string;
  /** The prefix of its API paths, below the hub's address. */
  readonly prefix: string;
  readonly mode: "hub" | "push" | "pull";
  /** Why the hub reports it as not ready. */
  readonly unready?: string;
  /** Equal for clusters that serve the same types, as far as the hub knows; undefined when unknown. */
  readonly serves?: string;
}

const PAGE = 500;

export const clusterFlags = {
  clusters: {
    type: "string",
    short: "C",
    value: "A,B",
    repeated: true,
    completes: "clusters",
    description: "only these members; may be repeated (default: all)",
  },
} as const;

/** The member's part of a path: `/apis/cluster.karmada.io/v1alpha1/clusters/oslo/proxy`. */
export function proxyPath(cluster: string): string {
  return resourcePath({
    cluster: HUB,
    group: Cluster.group,
    version: Cluster.storageVersion,
    resource: Cluster.plural,
    name: cluster,
    subresource: "proxy",
  });
}

export const hubPlace: Place = { name: HUB, prefix: "", mode: "hub" };

/** `--clusters a,b --clusters c`, each once. */
export function readNames(given: readonly string[]): string[] {
  return [
    ...new Set(
      given
        .flatMap((names) => names.split(","))
        .map((name) => name.trim())
        .filter((name) => name !== ""),
    ),
  ];
}

/** All members sorted by name, or the named ones. Throws `UsageError` for an unknown one. */
export async function findPlaces(client: Client, names: readonly string[], signal: AbortSignal): Promise<Place[]> {
  const places =
    names.length > 0
      ? await Promise.all(names.map((name) => findPlace(client, name, signal)))
      : (await listClusters(client, signal)).map(placeOf);
  return places.sort(byName);
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name.localeCompare(b.name, "en", { numeric: true });

async function findPlace(client: Client, name: string, signal: AbortSignal): Promise<Place> {
  try {
    const cluster = await find(client, Cluster, { cluster: HUB, name }, { signal });
    if (cluster) return placeOf(cluster);
  } catch (error) {
    // A user who may access a member need not be allowed to read its Cluster on the hub.
    if (isForbidden(error)) return { name, prefix: proxyPath(name), mode: "push" };
    throw error;
  }
  if (name === HUB)
    throw new UsageError(
      "the hub is not a member; use 'flotilla get --hub' or 'flotilla describe' to show its objects",
    );
  throw new UsageError(
    `member '${name}' not found${didYouMean(name, await knownNames(client, signal))}; run 'flotilla status' to list the members`,
  );
}

async function listClusters(client: Client, signal: AbortSignal): Promise<DeepReadonly<Cluster>[]> {
  try {
    return await Array.fromAsync(eachObject(client, Cluster, { cluster: HUB, limit: PAGE, signal }));
  } catch (error) {
    if (isForbidden(error))
      throw new FlotillaError(
        "Forbidden",
        "you are not allowed to list the members of the hub; name the members that you may access with --clusters",
        { cause: error },
      );
    throw error;
  }
}

/** For a suggestion only: a user who may not list members gets none. */
async function knownNames(client: Client, signal: AbortSignal): Promise<string[]> {
  try {
    return (await listClusters(client, signal)).map(({ metadata }) => metadata.name);
  } catch (error) {
    if (error instanceof FlotillaError) return [];
    throw error;
  }
}

function unreadyOf(conditions: Conditions): string | undefined {
  const failed = ["Ready", RESPONDING]
    .map((type) => findCondition(conditions, type))
    .find((condition) => condition !== undefined && condition.status !== "True");
  return failed && (failed.message || failed.reason || "it is not ready");
}

type Conditions = NonNullable<DeepReadonly<Cluster>["status"]>["conditions"];

/** The place of a member. */
export function placeOf({ metadata: { name }, spec, status }: DeepReadonly<Cluster>): Place {
  const enablements = status?.apiEnablements;
  return {
    name,
    prefix: proxyPath(name),
    mode: spec.syncMode === "Pull" ? "pull" : "push",
    unready: unreadyOf(status?.conditions),
    serves: enablements !== undefined && enablements.length > 0 ? JSON.stringify(enablements) : undefined,
  };
}
