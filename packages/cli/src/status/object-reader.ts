/** Reads objects of the hub page by page, and counts them by kind. */
import { HUB, isNotFound, isForbidden } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { eachObject } from "@flotilla/client";
import type { Client } from "@flotilla/client";

interface Where {
  namespace?: string | undefined;
  fieldSelector?: string;
}

export interface ObjectReader {
  /**
   * Passes on every object and resolves with their number, without those for which `see` returns `"not asked"`. A kind
   * that is not served or may not be listed has none.
   */
  each<T extends KubernetesObject>(
    kind: Kind<T>,
    see: (object: DeepReadonly<T>) => unknown,
    where?: Where,
  ): Promise<number>;
  all<T extends KubernetesObject>(kind: Kind<T>, where?: Where): Promise<DeepReadonly<T>[]>;
  /** Objects that were read, by kind. */
  readonly counts: Map<string, number>;
  /** The plural names of kinds that the user may not list. */
  readonly notShown: ReadonlySet<string>;
  /** Kinds that the hub does not serve. */
  readonly notServed: ReadonlySet<string>;
}

export function createObjectReader(client: Client, signal: AbortSignal): ObjectReader {
  const counts = new Map<string, number>();
  const notShown = new Set<string>();
  const notServed = new Set<string>();

  const each: ObjectReader["each"] = async (kind, see, where = {}) => {
    let count = 0;
    try {
      for await (const object of eachObject(client, kind, { cluster: HUB, ...where, signal })) {
        if (see(object) !== "not asked") count += 1;
      }
      counts.set(kind.kind, (counts.get(kind.kind) ?? 0) + count);
    } catch (error) {
      if (isForbidden(error)) notShown.add(kind.plural);
      else if (isNotFound(error)) notServed.add(kind.kind);
      else throw error;
    }
    return count;
  };
  return {
    each,
    async all<T extends KubernetesObject>(kind: Kind<T>, where?: Where) {
      const found: DeepReadonly<T>[] = [];
      await each(kind, (object) => void found.push(object), where);
      return found;
    },
    counts,
    notShown,
    notServed,
  };
}
