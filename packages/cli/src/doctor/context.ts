/**
 * What checks may use: the hub, its members through it, this machine. Lists are read once for all checks, page by page.
 */
import { ApiError, HUB, isNotFound } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { Cluster } from "@flotilla/karmada";
import { FlotillaError } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { eachObject } from "@flotilla/client";
import type { Client, ListOptions } from "@flotilla/client";
import type { KubeconfigAccess } from "../command.ts";
import type { LocalEnvironment } from "./local-environment.ts";

export interface DoctorContext {
  client: Client;
  /** The hub's address. */
  server: string;
  /** The kubeconfig and context that were used. */
  access: KubeconfigAccess;
  /** The data directory, if it is on this machine; unset: the user may not know anything about it. */
  data: string | undefined;
  clock: Clock;
  /** Aborted at the check's time limit. */
  signal: AbortSignal;
  /** Members to check; undefined means all. */
  only: ReadonlySet<string> | undefined;
  localEnvironment: LocalEnvironment;
  lists: HubLists;
  /** The names of the checks that run. */
  checks: ReadonlySet<string>;
}

/** The hub's objects by kind. Lists that several checks use are read once. */
export interface HubLists {
  /** All objects of a kind; empty for a kind that the hub does not serve. Throws if listing is forbidden. */
  all<T extends KubernetesObject>(kind: Kind<T>): Promise<readonly DeepReadonly<T>[]>;
  /** The first page of a selection; not cached. */
  some<T extends KubernetesObject>(
    kind: Kind<T>,
    selection: Omit<ListOptions, "cluster">,
  ): Promise<readonly DeepReadonly<T>[]>;
}

/** A work may be half a megabyte in size. */
const PAGE = 100;
/** More objects of a kind are not checked, and the check reports so. */
const MAX_OBJECTS = 100_000;

interface ListsOptions {
  client: Client;
  signal: AbortSignal;
  /** Reduces each object before it is kept: one page may be large, a hundred thousand objects may not. */
  slim<T extends KubernetesObject>(kind: Kind<T>, object: DeepReadonly<T>): DeepReadonly<T>;
}

export function createHubLists({ client, signal, slim }: ListsOptions): HubLists {
  const kept = new Map<string, Promise<readonly DeepReadonly<KubernetesObject>[]>>();

  async function read<T extends KubernetesObject>(kind: Kind<T>): Promise<readonly DeepReadonly<T>[]> {
    const objects: DeepReadonly<T>[] = [];
    try {
      for await (const object of eachObject(client, kind, { cluster: HUB, limit: PAGE, signal })) {
        objects.push(slim(kind, object));
        if (objects.length > MAX_OBJECTS)
          throw new FlotillaError(
            "TooMany",
            `there are more than ${MAX_OBJECTS} ${kind.plural}, the limit of this check`,
          );
      }
    } catch (error) {
      if (isNotFound(error)) return []; // Not served, so there are none.
      if (error instanceof ApiError && error.status.code === 403)
        throw new FlotillaError("Forbidden", `you are not allowed to list ${kind.plural}`, { cause: error });
      throw error;
    }
    return objects;
  }

  return {
    all<T extends KubernetesObject>(kind: Kind<T>) {
      const id = `${kind.group}/${kind.plural}`;
      let list = kept.get(id);
      if (!list) {
        list = read(kind);
        kept.set(id, list);
      }
      return list as unknown as Promise<readonly DeepReadonly<T>[]>;
    },
    async some(kind, selection) {
      return (
        await client.list(kind, {
          cluster: HUB,
          ...selection,
          limit: selection.limit ?? PAGE,
          signal: selection.signal ?? signal,
        })
      ).items;
    },
  };
}

/** Whether a hub is on this machine, where its data directory can be checked. */
export const isHere = (server: string): boolean => /^https?:\/\/(?:127\.|localhost\b|\[::1\])/.test(server);

/** The selected members, by name. */
export async function membersIn({
  lists,
  only,
}: Pick<DoctorContext, "lists" | "only">): Promise<DeepReadonly<Cluster>[]> {
  const clusters = await lists.all(Cluster);
  return clusters
    .filter(({ metadata }) => !only || only.has(metadata.name))
    .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name, "en", { numeric: true }));
}
