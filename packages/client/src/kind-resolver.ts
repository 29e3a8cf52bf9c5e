/**
 * Finds how a cluster serves a kind: its plural and scope, from the cluster's discovery. Results are cached; a missing
 * kind is looked up again, because a CustomResourceDefinition may be created at any time.
 */
import { dynamicKind, formatApiVersion, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Client } from "./client.ts";
import { readJson, readText } from "./read-text.ts";

/** The cluster does not serve this kind. */
export class UnknownKindError extends FlotillaError {
  constructor(cluster: string, apiVersion: string, kind: string) {
    super(
      "UnknownKind",
      `cluster ${cluster} does not serve ${kind} in ${apiVersion}; install its CustomResourceDefinition there`,
    );
  }
}

export type AnyKind = Kind<KubernetesObject & JsonObject>;

export interface KindResolver {
  /** Throws `UnknownKindError` when the cluster does not serve it. */
  resolve(ref: { apiVersion: string; kind: string }): Promise<AnyKind>;
  /** The cached result, without a request. */
  known(ref: { apiVersion: string; kind: string }): AnyKind | undefined;
  /** Drops the cached result, because the cluster may serve the kind differently now, or no longer. */
  forget(ref: { apiVersion: string; kind: string }): void;
}

interface ResourceRow {
  name: string;
  kind: string;
  namespaced: boolean;
}

export function createKindResolver({ client, cluster }: { client: Client; cluster: string }): KindResolver {
  const kinds = new Map<string, AnyKind>();
  const asking = new Map<string, Promise<void>>();
  const idOf = (ref: { apiVersion: string; kind: string }): string => `${ref.apiVersion}/${ref.kind}`;

  /** Reads every kind of one group and version. */
  async function ask(apiVersion: string): Promise<void> {
    const { group, version } = parseApiVersion(apiVersion);
    const path = group ? `/apis/${formatApiVersion(group, version)}` : `/api/${version}`;
    const { status, body } = await client.raw({
      method: "GET",
      path,
      cluster,
      headers: { accept: "application/json" },
    });
    if (status !== 200) await readText(body);
    if (status === 404) return;
    if (status !== 200)
      throw new FlotillaError(
        "Discovery",
        `discovery of ${apiVersion} in cluster ${cluster} failed with status ${status}`,
      );
    const { resources } = (await readJson(body)) as unknown as { resources?: ResourceRow[] };
    const served = new Set(resources?.map(({ name }) => name));
    for (const { name, kind, namespaced } of resources ?? []) {
      if (name.includes("/")) continue; // A subresource.
      const found = dynamicKind({ group, version, kind, plural: name, scope: namespaced ? "Namespaced" : "Cluster" });
      kinds.set(`${apiVersion}/${kind}`, served.has(`${name}/status`) ? found : { ...found, subresources: {} });
    }
  }

  return {
    known: (ref) => kinds.get(idOf(ref)),
    forget: (ref) => void kinds.delete(idOf(ref)),
    async resolve(ref) {
      const known = kinds.get(idOf(ref));
      if (known) return known;
      // Many manifests of one kind arrive together; they share one request.
      let answer = asking.get(ref.apiVersion);
      if (!answer) {
        answer = ask(ref.apiVersion).finally(() => asking.delete(ref.apiVersion));
        asking.set(ref.apiVersion, answer);
      }
      await answer;
      const found = kinds.get(idOf(ref));
      if (!found) throw new UnknownKindError(cluster, ref.apiVersion, ref.kind);
      return found;
    },
  };
}
