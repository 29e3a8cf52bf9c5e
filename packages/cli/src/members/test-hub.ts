/** A fake hub for tests: members that respond to paths with JSON, and a terminal that records its output. */
import { createFakeClock, omitZero } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Client, RawRequest, RawResponse } from "@flotilla/client";
import { notFound } from "@flotilla/apimachinery";
import { createOutput } from "../output.ts";
import type { Output } from "../output.ts";
import type { Asking } from "./ask.ts";
import { proxyPath } from "./members-places.ts";

/** By path and query below the member; a function is called each time, and an error is thrown. */
export type Answers = Record<string, JsonObject | Error | (() => JsonObject | Error | AsyncIterable<Uint8Array>)>;

export interface TestHub {
  client: Client;
  asking: Asking;
  output: Output;
  /** The requests, as `member1 /api`. */
  asked: string[];
  /** Standard output and standard error. */
  said: { out: string; err: string };
  terminal: { write(chunk: Uint8Array | string): Promise<void> };
}

const DISCOVERY: JsonObject = {
  kind: "APIGroupDiscoveryList",
  items: [
    {
      metadata: {},
      versions: [
        {
          version: "v1",
          resources: [
            {
              resource: "pods",
              responseKind: { kind: "Pod" },
              scope: "Namespaced",
              singularResource: "pod",
              shortNames: ["po"],
              categories: ["all"],
              verbs: ["get", "list", "watch"],
            },
          ],
        },
      ],
    },
  ],
};
const GROUPS: JsonObject = { kind: "APIGroupDiscoveryList", items: [] };
const NOTHING: JsonObject = {
  kind: "Status",
  message: "the server could not find the requested resource",
  reason: "NotFound",
  code: 404,
};

/** Members serve pods and whatever else their answers contain. */
export function createTestHub(
  members: Record<string, Answers>,
  signal: AbortSignal = new AbortController().signal,
): TestHub {
  const asked: string[] = [];
  const said = { out: "", err: "" };
  const clusters = Object.keys(members).map((name) => ({
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push" },
  }));
  const raw = async ({ path }: RawRequest): Promise<RawResponse> => {
    await Promise.resolve();
    const member = Object.keys(members).find((name) => path.startsWith(`${proxyPath(name)}/`)) ?? "";
    const below = path.slice(proxyPath(member).length);
    asked.push(`${member} ${below}`);
    const given = members[member]?.[below] ?? { "/api": DISCOVERY, "/apis": GROUPS }[below] ?? NOTHING;
    const answer = typeof given === "function" ? given() : given;
    if (answer instanceof Error) throw answer;
    if (Symbol.asyncIterator in answer) return { status: 200, headers: {}, body: answer };
    const status = answer["kind"] === "Status" ? Number(answer["code"]) : 200;
    return { status, headers: {}, body: bytesOf(JSON.stringify(answer)) };
  };
  const client = {
    raw,
    list: () => Promise.resolve({ items: clusters, resourceVersion: "1" }),
    get: (_kind: unknown, { name }: { name: string }) => {
      const cluster = clusters.find(({ metadata }) => metadata.name === name);
      return cluster
        ? Promise.resolve(cluster)
        : Promise.reject(notFound({ group: "cluster.karmada.io", resource: "clusters" }, name));
    },
  } as unknown as Client;
  return {
    client,
    asking: { client, clock: createFakeClock(), responseTimeoutMs: 10_000, signal },
    output: createOutput({
      format: "table",
      write: (text) => void (said.out += text),
      warn: (text) => void (said.err += text),
      showProgress: () => {},
    }),
    asked,
    said,
    terminal: { write: (chunk) => Promise.resolve(void (said.out += Buffer.from(chunk as Uint8Array).toString())) },
  };
}

export async function* bytesOf(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

/** A Table of pods, as a server prints them. */
export function podTable(
  names: readonly string[],
  more: { continue?: string; resourceVersion?: string } = {},
): JsonObject {
  return {
    kind: "Table",
    metadata: { resourceVersion: more.resourceVersion ?? "5", ...omitZero({ continue: more.continue }) },
    columnDefinitions: [
      { name: "Name", format: "name", priority: 0 },
      { name: "Status", priority: 0 },
      { name: "Node", priority: 1 },
    ],
    rows: names.map((name) => ({
      cells: [name, "Running", "node-1"],
      object: { metadata: { name, namespace: "shop", uid: name, resourceVersion: more.resourceVersion ?? "5" } },
    })),
  };
}
