/** The certificates with which the server calls aggregated servers: one for each logical cluster, made when needed. */
import { systemClock } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { Certificates } from "@flotilla/apimachinery";
import type { FrontProxy } from "../roles/api-server.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 30 * DAY_MS;
const RENEW_AFTER_MS = 10 * DAY_MS;
/** Far more clusters than have aggregated servers; the oldest certificate is made again. */
const MAX_KEPT = 1_000;

export function createFrontProxy(
  {
    frontProxy,
    trustedFrontProxies,
    noClients,
  }: Pick<Certificates, "noClients" | "trustedFrontProxies"> & {
    frontProxy: Pick<Certificates["frontProxy"], "issueClusterClient">;
  },
  clock: Pick<Clock, "now"> = systemClock,
): FrontProxy {
  const kept = new Map<string, { identity: ReturnType<FrontProxy["identity"]>; renewAtMs: number }>();
  return {
    ca: trustedFrontProxies,
    clientCa: noClients,
    identity(commonName) {
      const known = kept.get(commonName);
      if (known && clock.now() < known.renewAtMs) return known.identity;
      const { certificate: cert, key } = frontProxy.issueClusterClient(
        { commonName, organizations: [] },
        { cluster: commonName, lifetimeMs: LIFETIME_MS },
      );
      const identity = { cert, key };
      kept.delete(commonName);
      kept.set(commonName, { identity, renewAtMs: clock.now() + RENEW_AFTER_MS });
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      return identity;
    },
  };
}
