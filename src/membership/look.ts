/** Looks at a member through its API: is it well, which version, what does it serve. */
import { isObject, messageOf } from "../base/index.ts";
import type { Json } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import { planApiEnablements } from "./plan-cluster-status.ts";
import type { Sighting } from "./plan-cluster-status.ts";

type Facts = Omit<Extract<Sighting, { reached: true }>, "nodes">;
/** Discovery in one answer instead of one per group. */
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export async function look(client: Client, cluster: string, signal: AbortSignal): Promise<Facts | Extract<Sighting, { reached: false }>> {
  const ask = async (path: string, accept = "application/json"): Promise<{ status: number; text: string }> => {
    const { status, body } = await client.raw({ method: "GET", path, cluster, headers: { accept } }, signal);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return { status, text: Buffer.concat(chunks).toString() };
  };
  try {
    const ready = await ask("/readyz");
    if (ready.status !== 200) return { reached: false, answered: true, message: `the cluster answered ${ready.status} when asked whether it is ready` };
    const version = JSON.parse((await ask("/version")).text) as { gitVersion: string };
    const documents = await Promise.all(["/api", "/apis"].map((path) => ask(path, AGGREGATED)));
    const groups = documents.flatMap(({ text }) => readAggregated(JSON.parse(text) as Json));
    return { reached: true, version: version.gitVersion, apiEnablements: planApiEnablements(groups) };
  } catch (error) {
    return { reached: false, answered: false, message: messageOf(error) };
  }
}

interface AggregatedGroup {
  metadata?: { name?: string };
  versions?: { version: string; resources?: { resource: string; responseKind?: { kind: string } }[] }[];
}

function readAggregated(document: Json): { groupVersion: string; resources: { name: string; kind: string }[] }[] {
  const groups = (isObject(document) ? (document["items"] as unknown as AggregatedGroup[] | undefined) : undefined) ?? [];
  return groups.flatMap(({ metadata, versions = [] }) =>
    versions.map(({ version, resources = [] }) => ({
      groupVersion: metadata?.name ? `${metadata.name}/${version}` : version,
      resources: resources.map(({ resource, responseKind }) => ({ name: resource, kind: responseKind?.kind ?? "" })),
    })),
  );
}
