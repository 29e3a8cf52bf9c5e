import { describe, expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import type { ConnectRequest, ConnectResponse } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { RawRequest } from "@flotilla/client";
import { createClusterProxy } from "./proxy.ts";
import type { Member } from "./member.ts";
import { createRemoteCall } from "./remote-call.ts";
import type { RemoteCallDependencies } from "./remote-call.ts";

const signal = new AbortController().signal;
const clusterWith = (name: string, spec: Partial<Cluster["spec"]> = {}): Cluster => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name },
  spec: { syncMode: "Push", ...spec },
});
const FAR = clusterWith("far", {
  secretRef: { namespace: "karmada-cluster", name: "far" },
  impersonatorSecretRef: { namespace: "karmada-cluster", name: "far-impersonator" },
});
const request = (more: Partial<ConnectRequest> = {}): ConnectRequest => ({
  cluster: "hub",
  name: "far",
  method: "GET",
  path: "api/v1/pods",
  rawPath: "api/v1/pods",
  query: new URLSearchParams(),
  headers: { accept: "application/json" },
  user: { name: "ann", groups: ["ops", "system:authenticated"] },
  ...more,
});

function createProxy(
  answer: () => Promise<{ status: number; headers: Record<string, string> }> = async () => ({
    status: 200,
    headers: { "content-type": "application/json", "content-length": "2", connection: "close" },
  }),
): { ask(more?: Partial<ConnectRequest>): Promise<ConnectResponse>; sent: RawRequest[] } {
  const sent: RawRequest[] = [];
  const raw = async (asked: RawRequest): ReturnType<RemoteCallDependencies["transport"]["raw"]> => {
    sent.push(asked);
    return {
      ...(await answer()),
      body: (async function* () {
        yield Buffer.from("{}");
      })(),
    };
  };
  const clusters = [FAR, clusterWith("near"), clusterWith("mute", { secretRef: { namespace: "a", name: "b" } })];
  const proxy = createClusterProxy({
    hub: "hub",
    clusters: {
      get: ({ name }) => clusters.find(({ metadata }) => metadata.name === name),
      list: () => [],
      by: () => [],
    },
    members: {
      find: ({ metadata: { name }, spec }) =>
        ({
          call:
            name === "near"
              ? async ({ path }) => ({ status: 200, headers: {}, body: Buffer.from(path) })
              : createRemoteCall({
                  cluster: name,
                  mayImpersonate: () => spec.impersonatorSecretRef !== undefined,
                  transport: { raw },
                  upgrade: async () => {
                    throw new Error("no upgrade is expected");
                  },
                }),
        }) satisfies Pick<Member, "call"> as Member,
    },
    askHub: async ({ rawPath }) => ({ status: 200, headers: {}, body: Buffer.from(`hub ${rawPath}`) }),
    clock: systemClock,
  });
  return { ask: (more) => proxy(request(more), signal), sent };
}

describe("a request to a member through the hub", () => {
  test("is sent as the caller, with the caller's groups except the implied ones", async () => {
    const { ask, sent } = createProxy();

    await ask({
      method: "POST",
      rawPath: "api/v1/namespaces/a%2Fb/pods",
      query: new URLSearchParams("limit=5"),
      body: Buffer.from("x"),
    });

    expect(sent).toMatchObject([
      {
        method: "POST",
        path: "/api/v1/namespaces/a%2Fb/pods?limit=5",
        cluster: "far",
        headers: { accept: "application/json" },
        impersonate: { user: "ann", groups: ["ops"] },
        body: Buffer.from("x"),
      },
    ]);
  });

  test("returns the member's response without connection headers", async () => {
    const { status, headers } = await createProxy().ask();

    expect({ status, headers }).toEqual({ status: 200, headers: { "content-type": "application/json" } });
  });

  test("is passed directly to a simulated member", async () => {
    const { ask, sent } = createProxy();

    expect(Buffer.from((await ask({ name: "near" })).body as Uint8Array).toString()).toBe("api/v1/pods");
    expect(sent).toEqual([]);
  });

  test("does not ask clients to retry while the member is unreachable", async () => {
    const asking = createProxy(() => Promise.reject(new UnreachableError("no route"))).ask();

    await expect(asking).rejects.not.toHaveProperty("status.details.retryAfterSeconds");
  });

  test("is sent to all clusters when it names none", async () => {
    const answer = await createProxy().ask({ name: "*", rawPath: "version" });

    expect(Buffer.from(answer.body as Uint8Array).toString()).toBe("hub version");
  });

  const refusals: Record<string, { name?: string; answer?: () => Promise<never>; code: number; message: string }> = {
    "returns 404 for a cluster that does not exist": {
      name: "nowhere",
      code: 404,
      message: 'clusters.cluster.karmada.io "nowhere" not found',
    },
    "is rejected where the hub may not impersonate users": {
      name: "mute",
      code: 500,
      message: "the impersonatorSecretRef of cluster mute is nil",
    },
    "returns 503 for an unreachable member": {
      answer: () => Promise.reject(new UnreachableError("no route")),
      code: 503,
      message: "error trying to reach service: no route",
    },
  };
  for (const [behaviour, { name = "far", answer, code, message }] of Object.entries(refusals)) {
    test(behaviour, async () => {
      const asking = createProxy(answer).ask({ name });

      await expect(asking).rejects.toMatchObject({
        status: { code, message: expect.stringContaining(message) as string },
      });
    });
  }
});
