/** `metrics.k8s.io` of a simulated member, as `kubectl top` reads it. */
import { expect, test } from "vitest";
import { MEMBER, makePod, startTestMember } from "@flotilla/testing/simulation/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember } from "@flotilla/testing/simulation/member.ts";

async function start(): Promise<TestMember> {
  const member = await startTestMember({ nodes: 2 });
  return endsWithTest(member);
}
const stated = { "simulation.flotilla.dev/cpu-usage": "250m", "simulation.flotilla.dev/memory-usage": "64Mi" };
const PODS = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods";

test("pod usage is the annotated value, divided among the containers", async () => {
  const member = await start();
  await member.create(
    makePod(
      "a",
      {
        containers: [
          { name: "main", image: "web" },
          { name: "side", image: "side" },
        ],
      },
      stated,
    ),
  );

  expect(await member.read(`${PODS}/a`)).toMatchObject({
    kind: "PodMetrics",
    metadata: { name: "a", namespace: "shop" },
    window: "15s",
    containers: [
      { name: "main", usage: { cpu: "125m", memory: "32768Ki" } },
      { name: "side", usage: { cpu: "125m", memory: "32768Ki" } },
    ],
  });
});

test("pod usage without an annotation is a constant fraction of the requests", async () => {
  const member = await start();
  await member.create(
    makePod("a", {
      containers: [{ name: "main", image: "web", resources: { requests: { cpu: "1", memory: "1Gi" } } }],
    }),
  );

  const [first, second] = [
    member.simulation.podUsage(MEMBER, await member.pod("a")),
    member.simulation.podUsage(MEMBER, await member.pod("a")),
  ];

  expect(first).toEqual(second);
  expect(first?.cpu).toBeGreaterThanOrEqual(300);
  expect(first?.cpu).toBeLessThanOrEqual(700);
});

test("lists pod metrics by label and in order, without pods that are not running", async () => {
  const member = await start();
  await member.create(
    makePod("b", {}, stated, { labels: { app: "web" } }),
    makePod("a", {}, stated, { labels: { app: "web" } }),
    makePod("other", {}, stated),
    makePod("stuck", { containers: [{ name: "main", image: "web:broken" }] }, stated, { labels: { app: "web" } }),
  );

  const { kind, items } = (await member.read(`${PODS}?labelSelector=app%3Dweb`)) as {
    kind?: string;
    items?: { metadata: { name: string } }[];
  };

  expect([kind, items?.map(({ metadata }) => metadata.name)]).toEqual(["PodMetricsList", ["a", "b"]]);
});

test("node usage is the sum of its pods plus the system's usage", async () => {
  const member = await start();
  await member.create(makePod("a", { nodeName: "node-000" }, stated), makePod("b", { nodeName: "node-000" }, stated));

  const { items } = (await member.read("/apis/metrics.k8s.io/v1beta1/nodes")) as { items?: { usage: object }[] };

  expect(items?.map(({ usage }) => usage)).toEqual([
    { cpu: "600m", memory: "655360Ki" },
    { cpu: "100m", memory: "524288Ki" },
  ]);
});

test("metrics.k8s.io appears in discovery as read-only", async () => {
  const member = await start();

  const { resources } = (await member.read("/apis/metrics.k8s.io/v1beta1")) as {
    resources?: { name: string; kind: string; verbs: string[] }[];
  };

  expect(resources?.map(({ name, kind, verbs }) => [name, kind, ...verbs])).toEqual([
    ["nodes", "NodeMetrics", "get", "list"],
    ["pods", "PodMetrics", "get", "list"],
  ]);
  expect(await member.read(`${PODS}/missing`)).toMatchObject({ code: 404, reason: "NotFound" });
  expect(
    Object.keys(((await member.read("/openapi/v3/apis/metrics.k8s.io/v1beta1")) as { paths: object }).paths),
  ).toContain("/apis/metrics.k8s.io/v1beta1/nodes/{name}");
});
