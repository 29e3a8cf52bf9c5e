/** Requests to the kubelets of a cluster. Each has a connection of its own: a log that is followed and a shell hold one. */
import { tooManyRequests, unavailable } from "@flotilla/apimachinery";
import type { Clock } from "@flotilla/base";
import { openUpgrade, UnreachableError } from "@flotilla/client";
import type { BlockedSet, UpgradeRequest, UpgradeResponse } from "@flotilla/client";

/** Connections to the kubelets of one cluster. */
const MAX_OPEN = 500;
/** Until the response begins. */
const RESPONSE_LIMIT_MS = 30_000;

/** PEM. The same object until it is renewed. */
export interface ClientIdentity {
  readonly cert: string;
  readonly key: string;
}

export interface DialTarget {
  cluster: string;
  host: string;
  port: number;
  /** The client certificate. */
  identity?: ClientIdentity | undefined;
  /** PEM: the authorities that may have signed the certificate of the server. Unset: any is accepted. */
  ca?: string | undefined;
  /** Addresses that this cluster must not have the server call. */
  blocked?: BlockedSet | undefined;
}

/** Rejects with an `ApiError` above the limit and with `UnreachableError` when no response arrives. */
export type Dial = (target: DialTarget, request: UpgradeRequest, stop: AbortSignal) => Promise<UpgradeResponse>;

export function createDial(clock: Clock): Dial {
  const open = new Map<string, number>();
  const count = (cluster: string, change: number): void => {
    const left = (open.get(cluster) ?? 0) + change;
    if (left === 0) open.delete(cluster);
    else open.set(cluster, left);
  };
  return async ({ cluster, host, port, identity, ca, blocked }, request, stop) => {
    if ((open.get(cluster) ?? 0) >= MAX_OPEN)
      throw tooManyRequests(`${MAX_OPEN} connections to kubelets of the cluster are open`);
    const server = URL.parse(`https://${host.includes(":") ? `[${host}]` : host}:${port}`);
    if (!server) throw unavailable(`${JSON.stringify(host.slice(0, 256))} is not an address`);
    const limit = new AbortController();
    const timer = clock.after(RESPONSE_LIMIT_MS, () =>
      limit.abort(new UnreachableError(`${host}:${port} did not respond within ${RESPONSE_LIMIT_MS / 1000} s`)),
    );
    count(cluster, 1);
    let hasEnded = false;
    const end = (): void => {
      if (!hasEnded) count(cluster, -1);
      hasEnded = true;
    };
    try {
      const response = await openUpgrade(
        { server, ca, insecure: ca === undefined, cert: identity?.cert, key: identity?.key, blocked, clock },
        request,
        AbortSignal.any([stop, limit.signal]),
      );
      if (response.upgraded) response.upgraded.socket.once("close", end);
      else response.body.once("close", end);
      return response;
    } catch (error) {
      end();
      throw error;
    } finally {
      timer.cancel();
    }
  };
}
