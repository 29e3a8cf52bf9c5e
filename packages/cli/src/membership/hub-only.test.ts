import { describe, expect, test } from "vitest";
import { notFound } from "@flotilla/apimachinery";
import type { Transport, TransportRequest } from "@flotilla/client";
import { hubOnly } from "./hub-only.ts";

const KARMADA = { name: "cluster.karmada.io", versions: [{ groupVersion: "cluster.karmada.io/v1alpha1" }] };
const ocm = (version: string) => ({
  name: "cluster.open-cluster-management.io",
  versions: [{ groupVersion: `cluster.open-cluster-management.io/${version}` }],
});
const APPS = { name: "apps", versions: [{ groupVersion: "apps/v1" }] };
const path = { cluster: "hub", group: "apps", version: "v1", resource: "deployments", namespace: "shop" };
const clusters = { cluster: "hub", group: "cluster.karmada.io", version: "v1alpha1", resource: "clusters" };
const read: TransportRequest = { verb: "list", path };
const write: TransportRequest = { verb: "create", path, body: {} };

async function* bytes(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

/** A server with these API groups, and what it was sent. */
function serverWith(groups: readonly unknown[], status = 200): { transport: Transport; sent: string[] } {
  const sent: string[] = [];
  const served = new Set(groups.map((group) => (group as { name: string }).name));
  const transport: Transport = {
    send(request) {
      sent.push(`${request.verb} ${request.path.resource}`);
      return served.has(request.path.group)
        ? Promise.resolve({})
        : Promise.reject(notFound({ resource: request.path.resource, group: request.path.group }, "x"));
    },
    watch: () => {
      throw new Error("unused");
    },
    raw({ path: page }) {
      sent.push(page);
      return Promise.resolve({
        status: page === "/apis" ? status : 404,
        headers: {},
        body: bytes(page === "/apis" ? JSON.stringify({ kind: "APIGroupList", groups }) : "404 page not found"),
      });
    },
    close: () => Promise.resolve(),
  };
  return { transport: hubOnly(transport, "https://member1"), sent };
}

const SENTENCE = "https://member1 serves neither Clusters nor ManagedClusters, so it is not a hub";

describe("a server that is not a hub", () => {
  const asked: Record<string, { groups: unknown[]; ask(transport: Transport): Promise<unknown>; sent: string[] }> = {
    "is not written to": { groups: [APPS], ask: ({ send }) => send(write), sent: ["/apis"] },
    "is recognised by a missing kind": {
      groups: [APPS],
      ask: ({ send }) => send({ verb: "list", path: clusters }),
      sent: ["list clusters", "/apis"],
    },
    "is recognised by a missing page": {
      groups: [APPS],
      ask: ({ raw }) => raw({ method: "GET", path: "/apis/policy.karmada.io/v1alpha1", cluster: "hub" }),
      sent: ["/apis/policy.karmada.io/v1alpha1", "/apis"],
    },
    "may have an agent of Open Cluster Management": {
      groups: [APPS, ocm("v1alpha1")],
      ask: ({ send }) => send(write),
      sent: ["/apis"],
    },
  };
  for (const [behaviour, { groups, ask, sent }] of Object.entries(asked)) {
    test(behaviour, async () => {
      const server = serverWith(groups);

      await expect(ask(server.transport)).rejects.toThrow(SENTENCE);
      expect(server.sent).toEqual(sent);
    });
  }
});

describe("a hub", () => {
  test("of Karmada's API that has answered needs no further request before a write", async () => {
    const { transport, sent } = serverWith([APPS, KARMADA]);

    await transport.send({ verb: "list", path: clusters });
    await transport.send(write);

    expect(sent).toEqual(["list clusters", "create deployments"]);
  });

  test("is recognised once, before the first write", async () => {
    const { transport, sent } = serverWith([APPS, ocm("v1")]);

    await transport.send(read);
    await transport.send(write);
    await transport.send(write);

    expect(sent).toEqual(["list deployments", "/apis", "create deployments", "create deployments"]);
  });

  test("answers itself that an object is missing", async () => {
    const { transport } = serverWith([KARMADA]);

    await expect(transport.send(read)).rejects.toThrow("not found");
  });

  test("that does not list its groups to this user is written to", async () => {
    const { transport, sent } = serverWith([APPS], 403);

    await transport.send(write);

    expect(sent).toEqual(["/apis", "create deployments"]);
  });
});
