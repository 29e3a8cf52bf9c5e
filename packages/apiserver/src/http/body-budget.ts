/**
 * The bytes of all request bodies that the server holds, from the first byte until the request is answered.
 *
 * Small bodies have a budget of their own, so that large ones never take their room. When the budget of large bodies is
 * used up, the client that holds the most loses the newest body that it is still sending. Small bodies are rejected when
 * their client holds more than is free: one client has half of the budget at most, two have a third each, and there is
 * always room for the first bodies of another, also when those that are held wait for a slow webhook. Nothing waits here:
 * a client that sends slowly would make the others wait.
 */
import { tooManyRequests } from "@flotilla/apimachinery";
import type { ApiError } from "@flotilla/apimachinery";
import { LARGE_BODY_BYTES } from "../codec/body-limits.ts";

export interface BodyBudget {
  /** A body of a client; `reject` is called at most once, while it is being read. */
  open(client: () => string, reject: (error: ApiError) => void): HeldBody;
  readonly heldBytes: number;
}

export interface HeldBody {
  add(bytes: number): void;
  /** It is complete: from now on it is not rejected. */
  complete(): void;
  /** The request is answered, or its client has disconnected. */
  release(): void;
}

interface Client {
  name: string;
  /** Of its large bodies. */
  bytes: number;
  /** Its large bodies that are not complete, in order of their arrival. */
  reading: Set<Body>;
}

export function createBodyBudget({ large, small }: { large: number; small: number }): BodyBudget {
  const budget = new Budget(large, small);
  return {
    open: (client, reject) => new Body(budget, client, reject),
    get heldBytes() {
      return budget.largeBytes + budget.smallBytes;
    },
  };
}

const rejection = (): ApiError => tooManyRequests("too many request bodies at the same time; try again");

class Budget {
  readonly maxLarge: number;
  readonly maxSmall: number;
  largeBytes = 0;
  smallBytes = 0;
  /** Those that hold a large body. */
  readonly #clients = new Map<string, Client>();
  /** Bytes of small bodies by client. */
  readonly #small = new Map<string, number>();

  constructor(maxLarge: number, maxSmall: number) {
    this.maxLarge = maxLarge;
    this.maxSmall = maxSmall;
  }

  enter(name: string, body: Body): Client {
    let client = this.#clients.get(name);
    if (!client) this.#clients.set(name, (client = { name, bytes: 0, reading: new Set() }));
    client.reading.add(body);
    return client;
  }

  addLarge(client: Client, bytes: number): void {
    client.bytes += bytes;
    this.largeBytes += bytes;
    if (client.bytes === 0 && client.reading.size === 0) this.#clients.delete(client.name);
  }

  addSmall(name: string, bytes: number): void {
    const sum = (this.#small.get(name) ?? 0) + bytes;
    if (sum === 0) this.#small.delete(name);
    else this.#small.set(name, sum);
    this.smallBytes += bytes;
  }

  /** Whether the small bodies of a client take more than is left for the others. */
  isAboveShare(name: string): boolean {
    return (this.#small.get(name) ?? 0) > this.maxSmall - this.smallBytes;
  }

  shrink(): void {
    while (this.largeBytes > this.maxLarge) {
      let most: Client | undefined;
      for (const client of this.#clients.values())
        if (client.reading.size > 0 && client.bytes > (most?.bytes ?? -1)) most = client;
      const newest = most && [...most.reading].at(-1);
      if (!newest) return;
      newest.reject();
    }
  }
}

class Body implements HeldBody {
  readonly #budget: Budget;
  readonly #nameOf: () => string;
  /** Known from the first byte. */
  #name: string | undefined;
  readonly #reject: (error: ApiError) => void;
  #bytes = 0;
  /** Set once the body is large. */
  #client: Client | undefined;
  #isEnded = false;

  constructor(budget: Budget, name: () => string, reject: (error: ApiError) => void) {
    this.#budget = budget;
    this.#nameOf = name;
    this.#reject = reject;
  }

  add(bytes: number): void {
    if (this.#isEnded) return;
    const budget = this.#budget;
    const name = (this.#name ??= this.#nameOf());
    if (!this.#client && this.#bytes + bytes > LARGE_BODY_BYTES) {
      this.#client = budget.enter(name, this);
      budget.addSmall(name, -this.#bytes);
      budget.addLarge(this.#client, this.#bytes);
    }
    this.#bytes += bytes;
    if (this.#client) {
      budget.addLarge(this.#client, bytes);
      if (budget.largeBytes > budget.maxLarge) budget.shrink();
    } else {
      budget.addSmall(name, bytes);
      if (budget.isAboveShare(name)) this.reject();
    }
  }

  complete(): void {
    this.#client?.reading.delete(this);
  }

  release(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.complete();
    if (this.#client) this.#budget.addLarge(this.#client, -this.#bytes);
    else if (this.#name !== undefined) this.#budget.addSmall(this.#name, -this.#bytes);
  }

  reject(): void {
    this.release();
    this.#reject(rejection());
  }
}
