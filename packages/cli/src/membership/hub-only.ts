/**
 * Recognises a server that is not a hub, such as a member whose kubeconfig lies beside the hub's: a command would take
 * its missing kinds for mistakes of the user, and write to it.
 *
 * What a hub answers anyway shows that it is one. Only a write before any such answer, and a missing page, cost one
 * request.
 */
import { ApiError, HUB } from "@flotilla/apimachinery";
import { FlotillaError, isObject } from "@flotilla/base";
import type { ResourcePath, Transport } from "@flotilla/client";

/** Texts, because every command loads this file, and none of the kinds for its help. */
const CLUSTERS_GROUP = "cluster.karmada.io";
const OCM_GROUP = "cluster.open-cluster-management.io";
const MANAGED_CLUSTERS = "managedclusters";
/** Members with an agent of Open Cluster Management serve other kinds of its group, in other versions. */
const OF_MANAGED_CLUSTERS = `${OCM_GROUP}/v1`;

export const notAHub = (server: string): FlotillaError =>
  new FlotillaError(
    "NoHub",
    `${server} serves neither Clusters nor ManagedClusters, so it is not a hub; specify the hub's kubeconfig ` +
      "with --kubeconfig FILE, or start a hub with 'flotilla up'",
  );

/** Throws if the server is not a hub. A server that does not answer, or not this question, has errors of its own. */
export async function requireHub(
  { raw }: Pick<Transport, "raw">,
  server: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const headers = { accept: "application/json" };
  const { status, body } = await raw({ method: "GET", path: "/apis", cluster: HUB, headers }, signal);
  const text = Buffer.concat(await Array.fromAsync(body)).toString();
  if (status === 200 && !servesMembers(text)) throw notAHub(server);
}

/** A transport to a hub: its requests fail with `notAHub` where the server is none, before anything is written. */
export function hubOnly(transport: Transport, server: string): Transport {
  let isHub = false;
  async function confirm(signal: AbortSignal | undefined): Promise<void> {
    if (isHub) return;
    await requireHub(transport, server, signal);
    isHub = true;
  }
  return {
    ...transport,
    async send(request, signal) {
      const isRead = request.verb === "get" || request.verb === "list" || request.query?.["dryRun"] !== undefined;
      if (!isRead) await confirm(signal);
      try {
        const answer = await transport.send(request, signal);
        isHub ||= isOfHubs(request.path);
        return answer;
      } catch (error) {
        if (isMissing(error)) await confirm(signal);
        throw error;
      }
    },
    async *watch(request, signal) {
      try {
        yield* transport.watch(request, signal);
      } catch (error) {
        if (isMissing(error)) await confirm(signal);
        throw error;
      }
    },
    async raw(request, signal) {
      if (request.method !== "GET") await confirm(signal);
      const response = await transport.raw(request, signal);
      if (response.status === 404) await confirm(signal);
      return response;
    },
  };
}

/** Of an object, or of a kind: its page. */
const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status.code === 404;

const isOfHubs = ({ cluster, group, resource }: ResourcePath): boolean =>
  cluster === HUB && (group.endsWith(".karmada.io") || (group === OCM_GROUP && resource === MANAGED_CLUSTERS));

function servesMembers(apis: string): boolean {
  const { groups } = parse(apis);
  if (!Array.isArray(groups)) return true; // Not the list of a Kubernetes API server.
  return groups.some(
    (group: unknown) =>
      isObject(group) &&
      (group["name"] === CLUSTERS_GROUP ||
        (Array.isArray(group["versions"]) &&
          group["versions"].some(
            (version: unknown) => isObject(version) && version["groupVersion"] === OF_MANAGED_CLUSTERS,
          ))),
  );
}

function parse(text: string): { groups?: unknown } {
  try {
    const found: unknown = JSON.parse(text);
    return isObject(found) ? found : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
