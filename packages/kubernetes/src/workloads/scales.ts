/**
 * Reads and writes the desired size of a workload of any kind through its scale subresource: autoscalers and disruption
 * budgets need not know the kind.
 */
import { ApiError, formatApiVersion, parseApiVersion } from "@flotilla/apimachinery";
import type { Status } from "@flotilla/apimachinery";
import { isObject, defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import type { Client, KindResolver } from "@flotilla/client";

export interface ScaleTarget {
  cluster: string;
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
}

export interface Scale {
  uid: string;
  replicas: number;
  /** The replicas in the workload's status. */
  currentReplicas: number;
  /** Empty if the kind does not report its selector. */
  selector: string;
  /** The object as read, to be written back. */
  object: JsonObject;
}

export interface Scales {
  /** Throws `ApiError`, with NotFound if the object does not exist or its kind has no scale, and `UnknownKindError`. */
  read(target: ScaleTarget, signal: AbortSignal): Promise<Scale>;
  /** Throws as `read` does. */
  write(target: ScaleTarget, scale: Scale, replicas: number, signal: AbortSignal): Promise<void>;
}

/** Clusters whose kinds are cached. Members come and go; an evicted entry is requested again. */
const MAX_CLUSTERS = 2_048;

export function createScales(client: Client): Scales {
  const resolvers = new Map<string, KindResolver>();

  function resolverOf(cluster: string): KindResolver {
    const known = resolvers.get(cluster);
    if (known) return known;
    const [oldest] = resolvers.keys();
    if (resolvers.size >= MAX_CLUSTERS && oldest !== undefined) resolvers.delete(oldest);
    const resolver = createKindResolver({ client, cluster });
    resolvers.set(cluster, resolver);
    return resolver;
  }

  async function pathOf(target: ScaleTarget): Promise<string> {
    const { cluster, apiVersion, kind, namespace, name } = target;
    const { plural } = await resolverOf(cluster).resolve({ apiVersion, kind });
    const { group, version } = parseApiVersion(apiVersion);
    return `/${group ? "apis" : "api"}/${formatApiVersion(group, version)}/namespaces/${namespace}/${plural}/${encodeURIComponent(name)}/scale`;
  }

  async function send(
    method: "GET" | "PUT",
    target: ScaleTarget,
    path: string,
    body: JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const headers = {
      accept: "application/json",
      ...defined({ "content-type": body ? "application/json" : undefined }),
    };
    const answer = await client.raw(
      {
        method,
        cluster: target.cluster,
        path,
        headers,
        ...defined({ body: body ? new TextEncoder().encode(JSON.stringify(body)) : undefined }),
      },
      signal,
    );
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const object = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
    if (answer.status >= 300) throw new ApiError(object as unknown as Status);
    return object;
  }

  return {
    async read(target, signal) {
      const object = await send("GET", target, await pathOf(target), undefined, signal);
      const { metadata, spec, status } = object;
      return {
        uid: isObject(metadata) && typeof metadata["uid"] === "string" ? metadata["uid"] : "",
        replicas: numberIn(spec, "replicas"),
        currentReplicas: numberIn(status, "replicas"),
        selector: isObject(status) && typeof status["selector"] === "string" ? status["selector"] : "",
        object,
      };
    },
    async write(target, { object }, replicas, signal) {
      const spec = isObject(object["spec"]) ? object["spec"] : {};
      await send("PUT", target, await pathOf(target), { ...object, spec: { ...spec, replicas } }, signal);
    },
  };
}

function numberIn(value: unknown, field: string): number {
  const number = isObject(value) ? value[field] : undefined;
  return typeof number === "number" ? number : 0;
}
