/** Iterates over all objects of a kind. They are read in pages, so that few are in memory at once. */
import { omitZero } from "@flotilla/base";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client, ListOptions } from "./client.ts";

/** A work may be half a megabyte large. */
const PAGE_SIZE = 100;

export async function* eachObject<T extends KubernetesObject>(
  client: Pick<Client, "list">,
  kind: Kind<T>,
  options: ListOptions,
): AsyncGenerator<DeepReadonly<T>> {
  let next: string | undefined;
  do {
    const page = await client.list(kind, {
      ...options,
      limit: options.limit ?? PAGE_SIZE,
      ...omitZero({ continue: next }),
    });
    yield* page.items;
    next = page.continue;
  } while (next);
}
