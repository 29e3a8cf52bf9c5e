/** Request timeouts. Watches and connections into a cluster are excluded. */
import type { Clock } from "@flotilla/base";
import { ApiError } from "@flotilla/apimachinery";

const REQUEST_MS = 60_000;
/** A client treats a write that takes longer as failed. */
const WRITE_MS = 34_000;

export function longest(method: string): number {
  return method === "GET" || method === "HEAD" ? REQUEST_MS : WRITE_MS;
}

/** The error for a request that timed out. Work that it started may still finish. */
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

/** The result of the work, or 504 when it takes longer; without a timeout, it may. */
export function withinTime<T>(clock: Clock, timeoutMs: number | undefined, work: Promise<T>): Promise<T> {
  if (timeoutMs === undefined) return work;
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
