/** Deletes the Endpoints of a deleted Service: a later Service of the same name must not lead to the old addresses. */
import type { CacheEvent } from "../store/cache.ts";
import type { Housekeeping } from "../background/housekeeping.ts";
import { metadataOf } from "../codec/metadata.ts";
import { isMarker } from "../clusters/objects.ts";
import { textOf } from "../codec/text.ts";
import { SERVICES_PREFIX } from "./service-holdings.ts";

const ENDPOINTS_PREFIX = "/core/endpoints/";

/** Receives every event of the store. */
export function createEndpointsRemoval(housekeeping: Pick<Housekeeping, "enqueue" | "find" | "remove">): {
  observe(event: CacheEvent): void;
} {
  return {
    observe({ entry, previous }) {
      const key = (entry ?? previous)?.key ?? "";
      if (!key.startsWith(SERVICES_PREFIX) || (entry && !isMarker(entry))) return;
      housekeeping.enqueue(`endpoints of ${key}`, async () => {
        const endpointsKey = ENDPOINTS_PREFIX + key.slice(SERVICES_PREFIX.length);
        const endpoints = housekeeping.find(key) ? undefined : housekeeping.find(endpointsKey);
        if (endpoints) await housekeeping.remove(endpointsKey, textOf(metadataOf(endpoints.object).uid), undefined);
      });
    },
  };
}
