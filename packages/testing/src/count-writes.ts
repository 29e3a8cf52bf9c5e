/** A transport that counts the writes that pass through it. Write budgets are counts, and tests assert them. */
import type { Transport, WriteVerb } from "@flotilla/client";

export interface WriteCount {
  cluster: string;
  /** `deployments.apps`, or `pods` in the core group. */
  resource: string;
  verb: WriteVerb;
  /** Empty for the object itself. */
  subresource: string;
  count: number;
}

export interface WriteCounter {
  transport: Transport;
  /** Attempted writes since the start or the last reset. Failed writes are included: they cost as much. */
  counts(): WriteCount[];
  total(where?: Partial<Omit<WriteCount, "count">>): number;
  reset(): void;
}

const READ_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const RAW_VERBS: Readonly<Record<string, WriteVerb>> = {
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

export function countWrites(transport: Transport): WriteCounter {
  const counts = new Map<string, WriteCount>();
  const add = (write: Omit<WriteCount, "count">): void => {
    const key = [write.cluster, write.resource, write.verb, write.subresource].join(" ");
    const known = counts.get(key);
    if (known) known.count++;
    else counts.set(key, { ...write, count: 1 });
  };

  return {
    transport: {
      send(request, signal) {
        const { verb, path } = request;
        if (verb !== "get" && verb !== "list") {
          add({
            cluster: path.cluster,
            resource: path.group ? `${path.resource}.${path.group}` : path.resource,
            verb,
            subresource: path.subresource ?? "",
          });
        }
        return transport.send(request, signal);
      },
      watch: (request, signal) => transport.watch(request, signal),
      raw(request, signal) {
        const method = request.method.toUpperCase();
        // The caller chooses the path of a raw request, so it is counted by its path.
        if (!READ_METHODS.has(method))
          add({
            cluster: request.cluster,
            resource: request.path.split("?", 1)[0] ?? "",
            verb: RAW_VERBS[method] ?? "update",
            subresource: "",
          });
        return transport.raw(request, signal);
      },
      close: () => transport.close(),
    },
    counts: () => [...counts.values()].map((count) => ({ ...count })),
    total(where = {}) {
      let total = 0;
      for (const count of counts.values()) {
        const matches = (Object.keys(where) as (keyof typeof where)[]).every((field) => where[field] === count[field]);
        if (matches) total += count.count;
      }
      return total;
    },
    reset: () => counts.clear(),
  };
}
