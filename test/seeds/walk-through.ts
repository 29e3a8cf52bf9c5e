/** Two members and a hub on a fake clock, and files applied to them as kubectl applies them. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { Pod } from "@flotilla/kubernetes";
import { copy, type DeepReadonly, type JsonObject, defined } from "@flotilla/base";
import { createClient, createKindResolver, find } from "@flotilla/client";
import { parseYaml } from "@flotilla/apimachinery";
import { startTestFleet, type TestFleet, type TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";

/** Long enough for pods to start and their status to reach the hub. */
const SETTLED_MS = 60_000;
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

export interface WalkThrough {
  fleet: TestFleet;
  /** Applies files of this directory one after the other, without waiting in between; returns the warnings. */
  apply(...files: string[]): Promise<string[]>;
  /** Applies an object that the text describes in words. Rejects with the server's error. */
  applyObject(object: object, cluster?: string): Promise<string[]>;
  /** An object in the namespace `default`, or a cluster-scoped one. */
  get<T extends KubernetesObject>(kind: Kind<T>, cluster: string, name: string): Promise<DeepReadonly<T>>;
  find<T extends KubernetesObject>(kind: Kind<T>, cluster: string, name: string): Promise<DeepReadonly<T> | undefined>;
  /** Changes an object on the hub by a merge patch, and settles. */
  change<T extends KubernetesObject>(kind: Kind<T>, name: string, patch: object): Promise<void>;
  /** The pods of an application on a member that are not being deleted. */
  pods(cluster: string, app: string): Promise<DeepReadonly<Pod>[]>;
  /** The output of `kubectl get`, as rows of cells. */
  rows(cluster: string, path: string): Promise<string[][]>;
  settle(): Promise<void>;
}

export async function walkThrough(options: Partial<TestFleetOptions> = {}): Promise<WalkThrough> {
  const fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 3, ...options });
  const { client } = fleet;
  // kubectl's identity: controllers receive no admission warnings.
  const kubectl = createClient({
    transport: fleet.hub.server.transport({ name: "admin", groups: ["system:masters", "system:authenticated"] }),
    fieldManager: "kubectl-client-side-apply",
  });

  async function request(
    cluster: string,
    method: string,
    path: string,
    body?: JsonObject,
    accept = "application/json",
  ) {
    const answer = await kubectl.raw({
      method,
      path,
      cluster,
      headers: { accept, ...defined({ "content-type": body ? "application/json" : undefined }) },
      body: body ? Buffer.from(JSON.stringify(body)) : undefined,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    return {
      status: answer.status,
      headers: answer.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject,
    };
  }

  /** As kubectl does: with strict validation, and with the namespace of the context for objects without one. */
  async function applyObject(object: object, cluster = "hub"): Promise<string[]> {
    const sent = object as KubernetesObject & JsonObject;
    const { group, plural, scope } = await createKindResolver({ client, cluster }).resolve(sent);
    const namespace = scope === "Namespaced" ? `namespaces/${sent.metadata.namespace ?? "default"}/` : "";
    const { status, headers, body } = await request(
      cluster,
      "POST",
      `/${group ? "apis" : "api"}/${sent.apiVersion}/${namespace}${plural}?fieldManager=kubectl-client-side-apply&fieldValidation=Strict`,
      sent,
    );
    if (status !== 201) throw new Error(`${sent.kind} ${sent.metadata.name}: ${JSON.stringify(body["message"])}`);
    return [headers["warning"] ?? []]
      .flat()
      .flatMap((line) =>
        [...line.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replaceAll('\\"', '"')),
      );
  }

  const keyOf = ({ scope }: Kind, cluster: string, name: string) => ({
    cluster,
    name,
    namespace: scope === "Namespaced" ? "default" : undefined,
  });
  const settle = (): Promise<void> => fleet.run(SETTLED_MS);
  return {
    fleet,
    applyObject,
    async apply(...files) {
      const warnings: string[] = [];
      for (const file of files) warnings.push(...(await applyObject(read(file))));
      return warnings;
    },
    get: (kind, cluster, name) => client.get(kind, keyOf(kind, cluster, name)),
    find: (kind, cluster, name) => find(client, kind, keyOf(kind, cluster, name)),
    async change(kind, name, patch) {
      await client.patch(kind, keyOf(kind, "hub", name), patch as never, { type: "merge" });
      await settle();
    },
    pods: async (cluster, app) =>
      (await client.list(Pod, { cluster, namespace: "default" })).items.filter(
        ({ metadata }) => metadata.labels?.["app"] === app && !metadata.deletionTimestamp,
      ),
    async rows(cluster, path) {
      const { status, body } = await request(cluster, "GET", path, undefined, TABLE);
      expect(status, path).toBe(200);
      return (body["rows"] as { cells: unknown[] }[]).map(({ cells }) => cells.map(String));
    },
    settle,
  };
}

/** A file of this directory, for example `policies/guide-openkruise-crds`. */
export const read = (file: string): JsonObject =>
  copy(parseYaml(readFileSync(new URL(`./${file}.yaml`, import.meta.url), "utf8")) as JsonObject);
