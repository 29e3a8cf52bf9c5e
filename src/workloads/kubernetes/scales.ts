/**
 * How large a workload of any kind is meant to be, and changing it, through its scale subresource: autoscalers and disruption budgets
 * need not know the kind.
 */
import { formatApiVersion, parseApiVersion } from "../../api/index.ts";
import { isObject } from "../../base/index.ts";
import type { JsonObject } from "../../base/index.ts";
import { UnknownKindError, createKindResolver } from "../../client/index.ts";
import type { Client, KindResolver } from "../../client/index.ts";
import { ApiError } from "../../machinery/index.ts";
import type { Status } from "../../machinery/index.ts";

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
  /** What the workload says it has. */
  currentReplicas: number;
  /** Empty when the kind does not tell which pods are its own. */
  selector: string;
  /** As it was read, to be written back. */
  object: JsonObject;
}

export interface Scales {
  /** Undefined when there is no such object, or the kind is unknown or has no scale. */
  read(target: ScaleTarget, signal: AbortSignal): Promise<Scale | undefined>;
  /** Throws `ApiError`. */
  write(target: ScaleTarget, scale: Scale, replicas: number, signal: AbortSignal): Promise<void>;
}

export function createScales(client: Client): Scales {
  const resolvers = new Map<string, KindResolver>();

  async function pathOf({ cluster, apiVersion, kind, namespace, name }: ScaleTarget): Promise<string | undefined> {
    let resolver = resolvers.get(cluster);
    if (!resolver) resolvers.set(cluster, (resolver = createKindResolver({ client, cluster })));
    try {
      const { plural } = await resolver.resolve({ apiVersion, kind });
      const { group, version } = parseApiVersion(apiVersion);
      return `/${group ? "apis" : "api"}/${formatApiVersion(group, version)}/namespaces/${namespace}/${plural}/${encodeURIComponent(name)}/scale`;
    } catch (error) {
      if (error instanceof UnknownKindError) return undefined;
      throw error;
    }
  }

  async function send(method: "GET" | "PUT", target: ScaleTarget, path: string, body: JsonObject | undefined, signal: AbortSignal): Promise<JsonObject> {
    const headers = { accept: "application/json", ...(body && { "content-type": "application/json" }) };
    const answer = await client.raw({ method, cluster: target.cluster, path, headers, ...(body && { body: new TextEncoder().encode(JSON.stringify(body)) }) }, signal);
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const object = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
    if (answer.status >= 300) throw new ApiError(object as unknown as Status);
    return object;
  }

  return {
    async read(target, signal) {
      const path = await pathOf(target);
      if (path === undefined) return undefined;
      try {
        const object = await send("GET", target, path, undefined, signal);
        const { metadata, spec, status } = object;
        return {
          uid: isObject(metadata) && typeof metadata["uid"] === "string" ? metadata["uid"] : "",
          replicas: numberIn(spec, "replicas"),
          currentReplicas: numberIn(status, "replicas"),
          selector: isObject(status) && typeof status["selector"] === "string" ? status["selector"] : "",
          object,
        };
      } catch (error) {
        if (error instanceof ApiError && error.status.code === 404) return undefined;
        throw error;
      }
    },
    async write(target, { object }, replicas, signal) {
      const path = await pathOf(target);
      if (path === undefined) throw new UnknownKindError(target.cluster, target.apiVersion, target.kind);
      const spec = isObject(object["spec"]) ? object["spec"] : {};
      await send("PUT", target, path, { ...object, spec: { ...spec, replicas } }, signal);
    },
  };
}

function numberIn(value: unknown, field: string): number {
  const number = isObject(value) ? value[field] : undefined;
  return typeof number === "number" ? number : 0;
}

