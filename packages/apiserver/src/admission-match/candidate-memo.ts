/** Remembers which webhooks or policies match, so that rules are not evaluated for each write. */
import type { ServedVersion } from "../resources/resources.ts";
import type { RequestTarget } from "./match-rules.ts";

/** One per version of a cluster's configuration. Subresources are those that a kind has, so the memo is bounded. */
export class CandidateMemo<T> {
  readonly #known = new WeakMap<ServedVersion, Map<string, T | undefined>>();

  of(target: RequestTarget, find: () => T | undefined): T | undefined {
    let byOperation = this.#known.get(target.served);
    if (!byOperation) this.#known.set(target.served, (byOperation = new Map()));
    const key = `${target.operation} ${target.subresource ?? ""}`;
    if (!byOperation.has(key)) byOperation.set(key, find());
    return byOperation.get(key);
  }
}
