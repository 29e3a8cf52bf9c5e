/**
 * The quota of the store: all current values are in memory, so a store without a limit ends with the process.
 *
 * Above the quota nothing may be created, and nothing may grow. Deletions and updates that shrink an object are always
 * accepted. A small reserve lets existing objects grow a little: Leases, conditions, and the marks of a deletion.
 */
import { insufficientStorage } from "@flotilla/apimachinery";

/** More than a status condition or the record of a field manager. */
const SMALL_GROWTH_BYTES = 4 * 1024;
/** The reserve for small growth, as a part of the quota; the last part before it is reported. */
const RESERVE = 1 / 16;

export interface StoreQuota {
  /** Unset without a quota. */
  readonly limitBytes?: number;
  /** Whether larger objects are rejected, or soon will be. */
  isNearlyFull(): boolean;
  /** Throws 507 for a write that the quota does not allow. `before` is the size of the replaced value; 0 for none. */
  check(before: number, after: number): void;
}

/** `limitBytes` of 0 means no quota. */
export function createStoreQuota(store: { readonly bytes: number }, limitBytes = 0): StoreQuota {
  if (limitBytes === 0) return { isNearlyFull: () => false, check() {} };
  return {
    limitBytes,
    isNearlyFull: () => store.bytes >= limitBytes * (1 - RESERVE),
    check(before, after) {
      const growth = after - before;
      if (growth <= 0) return;
      const isSmall = before > 0 && growth <= SMALL_GROWTH_BYTES;
      if (store.bytes + growth > limitBytes * (isSmall ? 1 + RESERVE : 1))
        throw insufficientStorage(
          `the store of this server is full: its objects have ${store.bytes} of ${limitBytes} bytes; delete objects, or start it with a larger --store-quota`,
        );
    },
  };
}
