/**
 * Clusters on an API server of Kubernetes where a process of ours serves their version `v1alpha1`: our own programs read
 * and write them in the version that the API server itself serves, so they do not depend on that process.
 */
import { defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { ApiError, HUB, isNotFound } from "@flotilla/apimachinery";
import type { ResourcePath, Transport } from "@flotilla/client";
import { readText } from "@flotilla/client";
import { STORED_CLUSTERS } from "@flotilla/flotilla";
import { Cluster } from "@flotilla/karmada";

const SHOWN = `${Cluster.group}/${Cluster.storageVersion}`;
const STORED = `${Cluster.group}/${STORED_CLUSTERS}`;

/** The transport for the API server that it reaches: the same one, where Clusters have no such version. */
export async function directClusters(transport: Transport, signal: AbortSignal): Promise<Transport> {
  const { status, body } = await transport.raw({ method: "GET", path: `/apis/${STORED}`, cluster: HUB }, signal);
  await readText(body);
  return status === 200 ? withStoredClusters(transport) : transport;
}

function withStoredClusters(transport: Transport): Transport {
  return {
    ...transport,
    async send(request, signal) {
      const path = storedPath(request.path);
      if (path === request.path) return transport.send(request, signal);
      const answer = await transport.send({ ...request, path, body: stored(request.body) }, signal);
      return shown(answer);
    },
    async *watch(request, signal) {
      const path = storedPath(request.path);
      const isOurs = path !== request.path;
      for await (const batch of transport.watch({ ...request, path }, signal))
        yield isOurs ? batch.map((event) => ({ ...event, object: shown(event.object) })) : batch;
    },
  };
}

/**
 * For commands: Clusters are read from the API server itself while the process that serves them does not answer, so that
 * `flotilla status` and `doctor` still see the fleet.
 */
export function withReadableClusters(transport: Transport): Transport {
  return {
    ...transport,
    async send(request, signal) {
      try {
        return await transport.send(request, signal);
      } catch (error) {
        const path = storedPath(request.path);
        const isRead = request.verb === "get" || request.verb === "list";
        if (!isRead || path === request.path || !(error instanceof ApiError) || error.status.code !== 503) throw error;
        return await transport.send({ ...request, path }, signal).then(shown, (other: unknown) => {
          throw isNotFound(other) ? error : other;
        });
      }
    },
  };
}

function storedPath(path: ResourcePath): ResourcePath {
  const isShown =
    path.group === Cluster.group && path.version === Cluster.storageVersion && path.resource === Cluster.plural;
  // The proxy is what the API server does not have.
  return isShown && (path.subresource === undefined || path.subresource === "status")
    ? { ...path, version: STORED_CLUSTERS }
    : path;
}

function stored(body: unknown): unknown {
  const { apiVersion } = (body ?? {}) as JsonObject;
  return apiVersion === SHOWN ? { ...(body as JsonObject), apiVersion: STORED } : body;
}

function shown(answer: JsonObject): JsonObject {
  const { items } = answer;
  return {
    ...answer,
    ...defined({
      apiVersion: answer["apiVersion"] === STORED ? SHOWN : undefined,
      items: Array.isArray(items) ? items.map((item) => shown(item as JsonObject)) : undefined,
    }),
  };
}

/** The same in the text of a request or an answer: `apiVersion`, and the versions in managed fields. */
export const shownText = (text: string): string => text.replaceAll(`"${STORED}"`, `"${SHOWN}"`);
export const storedText = (text: string): string => text.replaceAll(`"${SHOWN}"`, `"${STORED}"`);
/** The path of the stored version for a path below the shown one. */
export const storedUrl = (path: string): string => path.replace(`/apis/${SHOWN}`, `/apis/${STORED}`);
