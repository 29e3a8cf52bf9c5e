/**
 * Every object of a kind, one after the other. They are read page by page, so that however many there are, few are in
 * memory at once.
 */
import type { Kind, KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { Client, ListOptions } from "./client.ts";

/** A work may have half a megabyte. */
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
      ...(next && { continue: next }),
    });
    yield* page.items;
    next = page.continue;
  } while (next);
}
