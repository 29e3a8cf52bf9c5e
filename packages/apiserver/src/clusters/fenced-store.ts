/**
 * Writes of a leader that name the Leases that it holds: `?fence=NAMESPACE/NAME/HOLDER/TRANSITIONS`. They are stored only
 * while these Leases have that holder and that number of transitions, which is decided together with the write. So a
 * write that was delayed until another process leads has no effect, however late it arrives.
 *
 * Reads: Leases. Other API servers ignore the parameter.
 */
import { badRequest, conflict } from "@flotilla/apimachinery";
import type { CachedEntry, Cache } from "../store/cache.ts";
import type { Guard } from "../store/engine.ts";
import type { LogicalCluster } from "./logical-cluster.ts";
import type { ObjectStore } from "./objects.ts";

/** The query parameter; several Leases are several parameters in one, separated by commas. */
export const FENCE = "fence";
const LEASES = "/coordination.k8s.io/leases/";
const LEASE_RESOURCE = { group: "coordination.k8s.io", resource: "leases" };
/** More than a process has groups of controllers. */
const MAX_LEASES = 16;

/** The store for one request with fences. Throws 400 for a parameter that cannot be read. */
export function fenceStore(store: ObjectStore, cache: Pick<Cache, "get">, text: string): ObjectStore {
  const fences = text.split(",").map((fence) => {
    const [namespace, name, holder, transitions, ...more] = fence.split("/");
    if (!namespace || !name || !holder || transitions === undefined || more.length > 0)
      throw badRequest(`${FENCE}: '${fence}' is not NAMESPACE/NAME/HOLDER/TRANSITIONS of a Lease`);
    return { namespace, name, holder, transitions: Number(transitions) };
  });
  if (fences.length > MAX_LEASES) throw badRequest(`${FENCE}: more than ${MAX_LEASES} Leases`);
  const guardsOf = (cluster: LogicalCluster): Guard[] =>
    fences.map(({ namespace, name, holder, transitions }) => {
      const entry = cache.get(`${LEASES}${cluster.name}/${namespace}/${name}`);
      const term = entry && termOf(entry);
      if (!entry || term?.holderIdentity !== holder || (term.leaseTransitions ?? 0) !== transitions)
        throw conflict(LEASE_RESOURCE, name, `${holder} no longer holds the Lease, so its write is rejected`);
      return { key: entry.key, expect: entry.revision };
    });
  return {
    ...store,
    put: async (cluster, found, ...rest) => store.put(cluster, withGuards(found, guardsOf(cluster)), ...rest),
    remove: async (cluster, resource, found, ...rest) =>
      store.remove(cluster, resource, withGuards(found, guardsOf(cluster)), ...rest),
  };
}

const withGuards = <T extends { guards?: readonly Guard[] }>(found: T, guards: readonly Guard[]): T => ({
  ...found,
  guards: found.guards ? [...found.guards, ...guards] : guards,
});

interface Term {
  holderIdentity?: string;
  leaseTransitions?: number;
}

/** A Lease is renewed once a second, and read by every write in between. */
const terms = new WeakMap<Uint8Array, Term>();

function termOf({ value }: CachedEntry): Term {
  let term = terms.get(value);
  if (!term) {
    const { spec = {} } = JSON.parse(Buffer.from(value).toString()) as { spec?: Term };
    terms.set(value, (term = spec));
  }
  return term;
}
