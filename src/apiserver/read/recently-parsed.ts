/**
 * Which objects are kept in their parsed form beside their bytes: those that were written or read last, because who is told of a
 * write, or writes again, comes soon; and those that a reader in this process holds on to, for as long as it does.
 *
 * A WeakRef alone would do both, but V8 moves whatever one names to its old generation, where only a full collection finds it
 * again: with one per write a burst of creates spent a fifth more CPU time, most of it in the garbage collector.
 */
import type { JsonObject } from "../../base/index.ts";

/** The parsed form of an entry in one version. */
export interface Parsed {
  /** Among the last ones. */
  recent?: JsonObject | undefined;
  /** A reader in this process was handed it; all such readers get the same one. */
  shared?: WeakRef<JsonObject>;
}

const KEPT = 256;
/** Of its bytes; the parsed form takes a few times as much. Larger ones are read too seldom to be worth the memory. */
const MAX_KEPT_BYTES = 32 * 1024;

const last: Parsed[] = [];
let oldest = 0;

export const parsedIn = (holder: Parsed): JsonObject | undefined => holder.recent ?? holder.shared?.deref();

/** Keeps what the holder has until enough others came after it. */
export function keepRecent(holder: Parsed, byteLength: number): void {
  if (byteLength > MAX_KEPT_BYTES) {
    if (holder.recent) holder.shared ??= new WeakRef(holder.recent);
    holder.recent = undefined;
    return;
  }
  const dropped = last[oldest];
  if (dropped && dropped !== holder) dropped.recent = undefined;
  last[oldest] = holder;
  oldest = (oldest + 1) % KEPT;
}

/** Somebody may hold on to the object of the holder. */
export function shareParsed(holder: Parsed, object: JsonObject): void {
  if (holder.shared?.deref() !== object) holder.shared = new WeakRef(object);
}
