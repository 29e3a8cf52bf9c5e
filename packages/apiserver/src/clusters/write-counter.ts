/** Counts storage writes by cluster, resource and verb: for the write budgets that tests assert, and for metrics. */
import { qualified } from "@flotilla/apimachinery";
import type { ResourceName } from "@flotilla/apimachinery";

/** The cause of a write. */
export interface WriteCause {
  verb: "create" | "update" | "patch" | "delete" | "deletecollection";
  name: ResourceName;
  subresource?: string;
}

interface WriteCount {
  cluster: string;
  /** `deployments.apps`, `deployments.apps/status` */
  resource: string;
  verb: WriteCause["verb"];
  count: number;
}

export interface WriteCounter {
  count(cluster: string, cause: WriteCause): void;
  /** All writes since the start. */
  total(): number;
  counts(): WriteCount[];
  /** A removed cluster has no counts; its writes stay in the total. */
  forget(cluster: string): void;
}

export function createWriteCounter(): WriteCounter {
  const counts = new Map<string, WriteCount>();
  let total = 0;
  return {
    count(cluster, { verb, name, subresource }) {
      total++;
      const resource = subresource ? `${qualified(name)}/${subresource}` : qualified(name);
      const key = `${cluster} ${resource} ${verb}`;
      const known = counts.get(key);
      if (known) known.count++;
      else counts.set(key, { cluster, resource, verb, count: 1 });
    },
    total: () => total,
    counts: () => [...counts.values()].map((count) => ({ ...count })),
    forget(cluster) {
      for (const [key, count] of counts) if (count.cluster === cluster) counts.delete(key);
    },
  };
}
