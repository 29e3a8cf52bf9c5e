/**
 * Turns of the event loop for requests of any size. A thousand requests that arrive together would otherwise begin in one
 * turn of the event loop, and nothing else would run until all of them have: no response of another client, no step of a
 * delivery. Requests begin for a few milliseconds in each turn; those above wait for the next ones, client by client.
 */
import { setImmediate } from "node:timers";
import { tooManyRequests } from "@flotilla/apimachinery";
import { UNAUTHENTICATED_GROUP } from "@flotilla/kubernetes";
import { clientKeyOf } from "../access/client-key.ts";
import { splitCluster } from "../request/router.ts";
import type { ApiRequest } from "../request/request.ts";

/** What begins in one turn: some twenty small requests. A delivery needs about ten turns. */
const TURN_MS = 4;
/** Of one client. More than this would wait for longer than a client does. */
const MAX_WAITING = 4_096;

export interface FairTurns {
  /**
   * Undefined when a request of this client may begin at once; otherwise resolves when it is its turn. Throws 429 when too
   * many wait.
   */
  begin(client: string): Promise<void> | undefined;
  /** The same for a request that has begun, and waited for something else since: it is never rejected. */
  resume(client: string): Promise<void> | undefined;
  readonly waiting: number;
}

export function createFairTurns(nowMs: () => number = () => performance.now()): FairTurns {
  /** In the order of their turns. Clients without waiting requests are absent. */
  const clients = new Map<string, (() => void)[]>();
  let waiting = 0;
  /** When the first request of this turn of the event loop began; unset if none did. */
  let startMs: number | undefined;

  const hasTime = (): boolean => {
    if (startMs === undefined) {
      startMs = nowMs();
      setImmediate(nextTurn);
      return true;
    }
    return nowMs() - startMs < TURN_MS;
  };

  const nextTurn = (): void => {
    startMs = undefined;
    if (waiting > 0) beginNext();
  };

  /** One after the other: microtasks, in which the work of a request begins, run before the tick that they add. */
  const beginNext = (): void => {
    if (!hasTime()) return;
    for (const [client, queue] of clients) {
      clients.delete(client);
      const begin = queue.shift();
      if (queue.length > 0) clients.set(client, queue);
      waiting--;
      begin?.();
      break;
    }
    if (waiting > 0) queueMicrotask(() => process.nextTick(beginNext));
  };

  const resume = (client: string): Promise<void> | undefined => {
    if (waiting === 0 && hasTime()) return undefined;
    // Requests that wait have a turn that is still to come.
    if (startMs === undefined) hasTime();
    waiting++;
    return new Promise((resolve) => {
      const queue = clients.get(client);
      if (queue) queue.push(resolve);
      else clients.set(client, [resolve]);
    });
  };

  return {
    begin(client) {
      if ((clients.get(client)?.length ?? 0) >= MAX_WAITING)
        throw tooManyRequests("too many requests at the same time; try again");
      return resume(client);
    },
    resume,
    get waiting() {
      return waiting;
    },
  };
}

/** As `begin`, for the client of a request. Rejects when the client has disconnected meanwhile. */
export function beginInTurn(turns: FairTurns, request: ApiRequest): Promise<void> | undefined {
  const { user, path, address = "" } = request;
  // Clients without a name differ in their addresses.
  const name = user.groups.includes(UNAUTHENTICATED_GROUP) ? `${user.name}@${address}` : user.name;
  return turns.begin(clientKeyOf(splitCluster(path).cluster, name))?.then(() => request.signal.throwIfAborted());
}
