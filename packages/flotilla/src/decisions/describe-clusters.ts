/** The clusters of a binding in a decision: `{"member1": 5, "member2": 3}`; resources without replicas have `true`. */
import type { JsonObject } from "@flotilla/base";

export function describeClusters(
  clusters: readonly { readonly name: string; readonly replicas?: number | undefined }[] | undefined,
): JsonObject {
  return Object.fromEntries((clusters ?? []).map(({ name, replicas }) => [name, replicas ?? true]));
}
