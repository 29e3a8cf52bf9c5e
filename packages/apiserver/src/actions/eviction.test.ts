import { expect, test } from "vitest";
import { kubernetesKinds, kubernetesAdmissions } from "@flotilla/kubernetes";
import { createTestServer } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const PODS = "/api/v1/namespaces/default/pods";

const start = (): Promise<TestServer> =>
  createTestServer({
    admissions: kubernetesAdmissions,
    profiles: {
      hub: {
        builtIns: kubernetesKinds,
        customs: [],
        objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
      },
    },
  });

const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };

test("evicts a pod that is not running yet although it changes concurrently", async () => {
  const { request } = await start();
  const { body: pod } = await request("POST", PODS, {
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", image: "i" }] },
  });

  const [changed, evicted] = await Promise.all([
    request("PUT", `${PODS}/p/status`, { ...pod, status: { phase: "Pending", message: "pulling" } }),
    request("POST", `${PODS}/p/eviction`, eviction),
  ]);

  expect([changed.status, evicted.status]).toEqual([200, 201]);
});

test("rejects an eviction whose resourceVersion precondition does not match", async () => {
  const { request } = await start();
  await request("POST", PODS, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } });

  const evicted = await request("POST", `${PODS}/p/eviction`, {
    ...eviction,
    deleteOptions: { preconditions: { resourceVersion: "1" } },
  });

  expect([evicted.status, evicted.body.reason]).toEqual([409, "Conflict"]);
});

test("two concurrent evictions cannot both use the last disruption of a budget", async () => {
  const { request } = await start();
  for (const name of ["p", "q"]) {
    const { body: pod } = await request("POST", PODS, {
      metadata: { name, labels: { app: "web" } },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    await request("PUT", `${PODS}/${name}/status`, {
      ...pod,
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    });
  }
  const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const { body: budget } = await request("POST", budgets, {
    metadata: { name: "b" },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: "web" } } },
  });
  await request("PUT", `${budgets}/b/status`, {
    ...budget,
    status: { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
  });

  const answers = await Promise.all(
    ["p", "q"].map((name) => request("POST", `${PODS}/${name}/eviction`, { ...eviction, metadata: { name } })),
  );

  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 429]);
});
