import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { Client, ListOptions } from "@flotilla/client";
import { forbidden, internalError, notFound } from "@flotilla/apimachinery";
import { makeBinding, makeCluster, makeDeployment } from "@flotilla/testing/builders.ts";
import { readStatus } from "./read-status.ts";

const { signal } = new AbortController();
const read = (client: Client, namespace?: string) =>
  readStatus({ client, server: "https://hub", clock: createFakeClock(), signal, namespace });

/** A fake hub with these objects by plural; it does not serve a missing plural. */
function hubWith(
  objects: Readonly<Record<string, readonly unknown[] | Error>>,
  asked: ListOptions[] = [],
  page = { status: 200, text: "[+]ping ok\nreadyz check passed\n" },
): Client {
  const list = (kind: { plural: string }, options: ListOptions): Promise<unknown> => {
    asked.push(options);
    const found = objects[kind.plural] ?? notFound({ group: "", resource: kind.plural }, "");
    if (found instanceof Error) return Promise.reject(found);
    const start = Number(options.continue ?? 0);
    const end = start + (options.limit ?? found.length);
    return Promise.resolve({
      items: found.slice(start, end),
      resourceVersion: "1",
      continue: end < found.length ? String(end) : undefined,
    });
  };
  const get = ({ plural }: { plural: string }, { name }: { name: string }): Promise<unknown> => {
    const found = objects[`${plural}/${name}`] ?? notFound({ group: "", resource: plural }, name);
    return found instanceof Error ? Promise.reject(found) : Promise.resolve(found[0]);
  };
  const raw = (): Promise<unknown> =>
    Promise.resolve({ status: page.status, headers: {}, body: Readable.from([Buffer.from(page.text)]) });
  return { list, get, raw } as unknown as Client;
}

test("a hub that serves only one project's kinds is read as far as possible", async () => {
  const status = await read(hubWith({ clusters: [makeCluster("paris")] }));

  expect(status).toMatchObject({ members: [{ name: "paris" }], objects: { manifestWorks: 0 }, notShown: [] });
});

test("kinds that may not be listed are named, and the rest is shown", async () => {
  const refusal = forbidden({ group: "", resource: "works" }, "", "no");

  const status = await read(
    hubWith({ clusters: [makeCluster("paris")], works: refusal, manifestworks: refusal, leases: refusal }),
  );

  expect(status).toMatchObject({ members: [{ name: "paris" }], notShown: ["leases", "manifestworks", "works"] });
});

test("a hub whose controllers have never run is unhealthy, whatever its objects say", async () => {
  const lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace: "karmada-system", name: "flotilla-controllers" },
  };
  const unready = { ...makeDeployment("karmada-system/karmada-scheduler").replicas(1).build(), status: {} };

  const status = await read(hubWith({ clusters: [], leases: [lease], deployments: [unready] }));

  expect(status.controllers).toEqual({ state: "never" });
  expect(Object.keys(status.unhealthy.counts)).toEqual(["hub without controllers"]);
  expect(status.unhealthy.worst[0]).toMatchObject({
    reason: expect.stringMatching(/^no controllers have ever run on this hub.*start 'flotilla controllers/),
  });
});

test("a component of the hub that is not ready is a problem", async () => {
  const unready = { ...makeDeployment("karmada-system/karmada-webhook").replicas(1).build(), status: {} };

  const { unhealthy } = await read(hubWith({ clusters: [], deployments: [unready] }));

  expect(unhealthy.worst).toContainEqual({
    problem: "component not ready",
    kind: "Deployment",
    namespace: "karmada-system",
    name: "karmada-webhook",
    reason: "the component is not ready",
  });
});

test("many objects are read page by page", async () => {
  const asked: ListOptions[] = [];
  const binding = makeBinding(makeDeployment("shop/web").build()).targets({ paris: 1 }).build();

  const { workloads } = await read(
    hubWith({ clusters: [], resourcebindings: Array.from({ length: 250 }, () => binding) }, asked),
  );

  expect(workloads).toHaveLength(250);
  expect(asked.filter((options) => options.continue !== undefined)).toHaveLength(2);
});

test("a server that is not a hub is not shown as an empty fleet", async () => {
  await expect(read(hubWith({}))).rejects.toThrow(
    "https://hub serves neither Clusters nor ManagedClusters, so it is not a hub",
  );
});

test("a hub that fails is an error", async () => {
  await expect(read(hubWith({ clusters: internalError("out of order") }))).rejects.toThrow("out of order");
});

const checks: Record<string, { page: { status: number; text: string }; want: unknown[] }> = {
  "a hub that rejects all writes is reported first": {
    page: { status: 500, text: "[+]ping ok\n[-]store-writes failed: reason withheld\nreadyz check failed\n" },
    want: [
      {
        problem: "check of the hub failed",
        kind: "hub",
        name: "store-writes",
        reason:
          "its disk is full, so every change is rejected; free some space there (run 'flotilla doctor' for the path)",
      },
    ],
  },
  "an unknown failed check of the hub is named": {
    page: { status: 500, text: "[-]etcd failed: reason withheld\nreadyz check failed\n" },
    want: [
      {
        problem: "check of the hub failed",
        kind: "hub",
        name: "etcd",
        reason: "the check fails; see the hub's log",
      },
    ],
  },
  "a user who may not read the hub's checks gets the rest": { page: { status: 403, text: "no" }, want: [] },
};
for (const [behaviour, { page, want }] of Object.entries(checks)) {
  test(behaviour, async () => {
    const { unhealthy } = await read(hubWith({ clusters: [] }, [], page));

    expect(unhealthy.worst).toEqual(want);
  });
}

const release = (extra: object, status: object, number = 1): object => ({
  apiVersion: "flotilla.dev/v1alpha1",
  kind: "FleetRollout",
  metadata: { namespace: "shop", name: `web-${number}`, creationTimestamp: "2024-05-01T10:00:00Z" },
  spec: {
    target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    source: "Strategy",
    number,
    revision: "r",
    previous: "web-0",
    ...extra,
  },
  status: { updated: 2, ready: 2, total: 6, unavailable: 0, ...status },
});

test("releases that have succeeded are not read, and of those of one template the newest counts", async () => {
  const asked: ListOptions[] = [];
  const paused = release({ paused: true }, { phase: "Paused", wave: "half", waveIndex: 1, waitingFor: "resume" }, 2);
  const earlier = release({}, { phase: "RolledBack", failure: { reason: "PodsFailing", message: "pods fail" } });

  const { unhealthy, releases } = await read(hubWith({ clusters: [], fleetrollouts: [earlier, paused] }, asked));

  expect(unhealthy.worst).toEqual([
    {
      problem: "release waiting for a decision",
      kind: "Deployment",
      namespace: "shop",
      name: "web",
      reason:
        "release web-2 is paused in wave half, 2 of 6 pods updated; 'flotilla rollout resume deployment/web -n shop' continues it",
    },
  ]);
  expect(releases).toEqual([
    {
      namespace: "shop",
      target: "deployment/web",
      name: "web-2",
      phase: "Paused",
      wave: "half",
      updated: 2,
      total: 6,
      waitingFor: "resume",
    },
  ]);
  expect(asked.flatMap(({ fieldSelector = "" }) => (fieldSelector.includes("phase") ? [fieldSelector] : []))).toEqual([
    "status.phase!=Succeeded,status.phase!=Superseded",
  ]);
});

test("releases, autoscalers and quotas that may not be listed are named", async () => {
  const refusal = forbidden({ group: "", resource: "some" }, "", "no");
  const objects = {
    clusters: [],
    fleetrollouts: refusal,
    federatedhpas: refusal,
    cronfederatedhpas: refusal,
    federatedresourcequotas: refusal,
  };

  const { notShown, checked } = await read(hubWith(objects));

  expect(notShown).toEqual(["cronfederatedhpas", "federatedhpas", "federatedresourcequotas", "fleetrollouts"]);
  expect(checked).not.toContain("releases");
});

test("a fleet without releases, autoscalers and quotas costs one request for each of their kinds", async () => {
  const asked: ListOptions[] = [];
  const kinds = { fleetrollouts: [], federatedhpas: [], cronfederatedhpas: [], federatedresourcequotas: [] };
  await read(hubWith({ clusters: [] }, asked));
  const without = asked.length;

  await read(hubWith({ clusters: [], ...kinds }, asked));

  expect(asked.length).toBe(2 * without);
});

test("a dead aggregated server and a failing webhook of the hub are problems, as for doctor", async () => {
  const service = {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1.example.com" },
    spec: { group: "example.com", version: "v1", service: { namespace: "default", name: "api" } },
    status: {
      conditions: [{ type: "Available", status: "False", reason: "MissingEndpoints", message: "no endpoints" }],
    },
  };
  const text =
    'flotilla_admission_webhook_failures{name="guard.example.com",type="validating",configuration="guard"} 3\n';

  const { unhealthy } = await read(hubWith({ clusters: [], apiservices: [service] }, [], { status: 200, text }));

  expect(unhealthy.worst.map(({ problem, kind, name, reason }) => [problem, kind, name, reason.split(".")[0]])).toEqual(
    [
      ["program of the hub failing", "admission webhook", "guard.example.com", "Its last 3 calls failed"],
      [
        "program of the hub failing",
        "APIService",
        "v1.example.com",
        "It is unavailable: no endpoints (MissingEndpoints)",
      ],
    ],
  );
});

test("a user who may not read the hub's metrics sees that its webhooks were not looked at", async () => {
  const { notChecked } = await read(hubWith({ clusters: [] }, [], { status: 403, text: "no" }));

  expect(notChecked).toContain("the hub's webhooks: you are not allowed to read /metrics");
});

const noNamespaces = forbidden({ group: "", resource: "namespaces" }, "shop", "no");
const lasting = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "shop", deletionTimestamp: "2020-01-01T00:00:00Z" },
};
const ofOneNamespace: Record<string, { namespace: readonly unknown[] | Error; want: object }> = {
  "who may get their namespace and list none sees nothing that is not checked": {
    namespace: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }],
    want: { notShown: [], isNamespaceMissing: undefined, unhealthy: { counts: {} } },
  },
  "who may not even get their namespace sees nothing of it": {
    namespace: noNamespaces,
    want: { notShown: [], isNamespaceMissing: undefined, unhealthy: { counts: {} } },
  },
  "sees that their namespace is still being deleted": {
    namespace: [lasting],
    want: { notShown: [], unhealthy: { counts: { "namespace being deleted": 1 } } },
  },
  "sees that their namespace does not exist": {
    namespace: notFound({ group: "", resource: "namespaces" }, "shop"),
    want: { notShown: [], isNamespaceMissing: true, unhealthy: { counts: {} } },
  },
};

for (const [title, { namespace, want }] of Object.entries(ofOneNamespace))
  test(`a user of one namespace ${title}`, async () => {
    const objects = { clusters: [], namespaces: noNamespaces, "namespaces/shop": namespace };

    expect(await read(hubWith(objects), "shop")).toMatchObject(want);
  });
