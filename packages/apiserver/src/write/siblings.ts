/**
 * Pods of one controller are equal except for their names. Parts that equal the controller's previous pod are replaced
 * by references to the same objects: a spec that is shared as a whole has already been validated, and the parsed form
 * of a thousand pods holds their containers, volumes and tolerations once. That takes a third off the heap of a pod
 * that an informer holds (`docs/performance.md`).
 */
import { controllerOf, shareParts } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { RequestContext } from "../request/context.ts";
import { metadataOf } from "../codec/metadata.ts";

/** Controllers that create at the same time. After an eviction the controller's next pod costs as much as its first. */
const MAX_OWNERS = 512;

export class Siblings {
  /** The newest pod of each controller, least recently used controller first. */
  readonly #newest = new Map<string, JsonObject>();

  /**
   * An object of the same controller that was validated and stored; undefined for kinds that are not created in large
   * numbers.
   */
  of(context: RequestContext, object: JsonObject): JsonObject | undefined {
    const owner = ownerOf(context, object);
    return owner === undefined ? undefined : this.#newest.get(owner);
  }

  /** Called with an object that passed all checks and is not modified any more. */
  remember(context: RequestContext, object: JsonObject): void {
    const owner = ownerOf(context, object);
    if (owner === undefined) return;
    this.#newest.delete(owner);
    this.#newest.set(owner, object);
    if (this.#newest.size > MAX_OWNERS) for (const oldest of this.#newest.keys().take(1)) this.#newest.delete(oldest);
  }
}

function ownerOf({ cluster, served, namespace }: RequestContext, object: JsonObject): string | undefined {
  if (served.resource.kind.kind !== "Pod" || !served.resource.kind.builtIn) return undefined;
  const owner = controllerOf(object as unknown as KubernetesObject);
  return owner && `${cluster.name}/${namespace ?? ""}/${owner.uid}`;
}

/** The object with the parts of its sibling wherever they are equal. */
export function sharedWith(sibling: JsonObject, object: JsonObject): JsonObject {
  const shared: JsonObject = { ...object };
  for (const key in object) if (key !== "metadata") shared[key] = shareParts(object[key] ?? null, sibling[key]);
  const metadata: JsonObject = { ...metadataOf(object) };
  const known = metadataOf(sibling);
  // Also strings: two equal strings take memory twice.
  for (const key in metadata)
    metadata[key] = metadata[key] === known[key] ? (known[key] ?? null) : shareParts(metadata[key] ?? null, known[key]);
  shared.metadata = metadata;
  return shared;
}
