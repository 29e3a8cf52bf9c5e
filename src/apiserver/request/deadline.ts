/** How long a request may take. Watches and connections into a cluster are not counted in. */
import type { Clock } from "../../base/index.ts";
import { ApiError } from "../../machinery/index.ts";

const REQUEST_MS = 60_000;
/** A write that takes longer has failed for all that its client can tell. */
const WRITE_MS = 34_000;

export function longest(method: string): number {
  return method === "GET" || method === "HEAD" ? REQUEST_MS : WRITE_MS;
}

/** The answer to a request whose time is over. What it began may still come to its end. */
export function requestTimedOut(): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "Timeout: request did not complete within the allotted timeout",
    reason: "Timeout",
    details: {},
    code: 504,
  });
}

/** What the work comes to, or 504 when it takes longer. */
export function withinTime<T>(clock: Clock, timeoutMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(timeoutMs, () => reject(requestTimedOut()));
    work.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}
