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
/**
 * Of all clients together, which begin within some seconds: clients without a name are as many as their addresses. A
 * client has at most as many as are free beside it, so that some are left for the next one.
 */
const MAX_WAITING_IN_ALL = 16_384;

export interface FairTurns {
  /** Whether a request of any client may begin at once: none waits. `begin` says the same, by the name of its client. */
  tryBegin(): boolean;
  /**
   * Undefined when a request of this user of a client may begin at once; otherwise resolves when it is its turn. Throws 429
   * when too many wait, of the client or of all.
   */
  begin(client: string, user: string): Promise<void> | undefined;
  /** The same for a request that has begun, and waited for something else since: it is never rejected. */
  resume(client: string, user: string): Promise<void> | undefined;
  readonly waiting: number;
}

/** The users of a client take turns as well: users of others may send requests to a logical cluster. */
interface Client {
  users: Turns<(() => void)[]>;
  waiting: number;
}

/** Those with waiting requests, in the order of their turns. */
class Turns<T extends Client | (() => void)[]> extends Map<string, T> {
  of(name: string, make: () => T): T {
    let found = this.get(name);
    if (!found) this.set(name, (found = make()));
    return found;
  }

  /** Takes from the first, which then is the last, or absent when it has nothing left. */
  next(take: (from: T) => (() => void) | undefined): (() => void) | undefined {
    for (const [name, found] of this) {
      this.delete(name);
      const taken = take(found);
      if ((Array.isArray(found) ? found.length : found.waiting) > 0) this.set(name, found);
      return taken;
    }
    return undefined;
  }
}

export function createFairTurns(nowMs: () => number = () => performance.now()): FairTurns {
  const clients = new Turns<Client>();
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
    const begin = clients.next((client) => {
      client.waiting--;
      return client.users.next((queue) => queue.shift());
    });
    waiting--;
    begin?.();
    if (waiting > 0) queueMicrotask(() => process.nextTick(beginNext));
  };

  const tryBegin = (): boolean => waiting === 0 && hasTime();

  const resume = (name: string, user: string): Promise<void> | undefined => {
    if (tryBegin()) return undefined;
    // Requests that wait have a turn that is still to come.
    if (startMs === undefined) hasTime();
    waiting++;
    return new Promise((resolve) => {
      const client = clients.of(name, () => ({ users: new Turns(), waiting: 0 }));
      client.waiting++;
      client.users.of(user, () => []).push(resolve);
    });
  };

  return {
    tryBegin,
    begin(name, user) {
      if ((clients.get(name)?.waiting ?? 0) >= Math.min(MAX_WAITING, MAX_WAITING_IN_ALL - waiting))
        throw tooManyRequests("too many requests at the same time; try again");
      return resume(name, user);
    },
    resume,
    get waiting() {
      return waiting;
    },
  };
}

/** As `begin`, for the client of a request. Rejects when the client has disconnected meanwhile. */
export function beginInTurn(turns: FairTurns, request: ApiRequest): Promise<void> | undefined {
  if (turns.tryBegin()) return undefined;
  const { user, path, address = "" } = request;
  // Clients without a name differ in their addresses.
  const name = user.groups.includes(UNAUTHENTICATED_GROUP) ? `${user.name}@${address}` : user.name;
  return turns.begin(clientKeyOf(splitCluster(path).cluster, name), name)?.then(() => request.signal.throwIfAborted());
}
