/**
 * Runs controllers until nothing is pending, without sleeping: turns the event loop until every queue is idle, every
 * informer has synced and the server has notified all watchers, for several turns in a row.
 *
 * Work that waits for the clock (a retry, `requeueAfterMs`) does not count as pending: advance the fake clock, then
 * call it again.
 */
import { FlotillaError } from "@flotilla/base";

/** An event passes from the store through the watch and the informer to the queue in fewer turns than this. */
const QUIET_TURNS = 10;
/** A controller that is still busy after this many turns is assumed to loop. */
const MAX_TURNS = 20_000;

interface CanBeQuiet {
  isQuiet(): boolean;
}

export interface UntilQuietOptions {
  managers: readonly (CanBeQuiet & { busy(): string[] })[];
  /** The store or the API server. */
  server?: CanBeQuiet;
  /** Other background work: status writers, other informers. */
  others?: readonly CanBeQuiet[];
  maxTurns?: number;
}

export async function reconcileUntilQuiet({
  managers,
  server,
  others = [],
  maxTurns = MAX_TURNS,
}: UntilQuietOptions): Promise<void> {
  // The cheapest first: one that is busy spares asking the rest.
  const parts: CanBeQuiet[] = [...(server ? [server] : []), ...others, ...managers];
  let quietTurns = 0;
  for (let turns = 0; turns < maxTurns; turns++) {
    quietTurns = parts.every((part) => part.isQuiet()) ? quietTurns + 1 : 0;
    if (quietTurns > QUIET_TURNS) return;
    await new Promise((resolve) => void setImmediate(resolve));
  }
  const busy = managers.flatMap((manager) => manager.busy());
  if (server && !server.isQuiet()) busy.push("the server has not delivered everything");
  if (others.some((part) => !part.isQuiet())) busy.push("something besides the managers is at work");
  throw new FlotillaError(
    "NotQuiet",
    `still busy after ${maxTurns} turns of the event loop: ${busy.join("; ") || "quiet now and then, but never for long"}`,
  );
}
