import { describe, expect, test } from "vitest";
import type { Node, Pod, PodDisruptionBudget } from "@flotilla/kubernetes";
import type { PodSpec, Taint } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { planNodes } from "../nodes/nodes.ts";
import type { NodeOptions } from "../nodes/nodes.ts";
import { ClusterView } from "./cluster-view.ts";
import { planNode } from "./plan-node.ts";
import type { Verdict } from "./plan-node.ts";
import { podView } from "./pod-view.ts";
import { NO_VOLUMES } from "./volume-needs.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";
let uids = 0;

function makePod(
  spec: Partial<PodSpec> = {},
  metadata: Partial<Pod["metadata"]> = {},
  status: Pod["status"] = {},
): DeepReadonly<Pod> {
  uids++;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `p${uids}`, namespace: "shop", uid: `u-${uids}`, ...metadata },
    spec: { containers: [{ name: "main", image: "web" }], ...spec },
    status,
  };
}
const requests = (cpu: string, memory = "0"): Partial<PodSpec> => ({
  containers: [{ name: "main", image: "web", resources: { requests: { cpu, memory } } }],
});

function makeCluster(
  options: {
    count?: number;
    nodes?: NodeOptions;
    change?: (node: DeepReadonly<Node>, index: number) => DeepReadonly<Node>;
  } = {},
) {
  const view = new ClusterView();
  for (const [index, node] of planNodes({ count: options.count ?? 3, nowMs: NOW, ...options.nodes }).entries())
    view.setNode(options.change?.(node, index) ?? node);
  const cluster = {
    view,
    run: (node: string, ...pods: DeepReadonly<Pod>[]) => {
      for (const pod of pods) view.put(podView(pod), node);
      return cluster;
    },
    place: (pod: DeepReadonly<Pod>, budgets: PodDisruptionBudget[] = []): Verdict =>
      planNode(view, podView(pod), {
        volumes: NO_VOLUMES,
        namespaces: () =>
          new Map([
            ["shop", { team: "a" }],
            ["other", { team: "b" }],
          ]),
        budgets: () => budgets,
      }),
    /** Places pods one after the other and returns their nodes. */
    placeAll(pods: DeepReadonly<Pod>[]): string[] {
      return pods.map((pod) => {
        const verdict = cluster.place(pod);
        if (!("node" in verdict)) return verdict.unschedulable;
        view.put(podView(pod), verdict.node);
        return verdict.node;
      });
    },
  };
  return cluster;
}
const tainted = (taint: Taint) => makeCluster({ nodes: { taints: [taint] } });
const NOT_HELPFUL = "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";

describe("places a pod", () => {
  const cases: Record<string, { pod: DeepReadonly<Pod>; running?: Record<string, DeepReadonly<Pod>[]>; want: string }> =
    {
      "on the first of equally empty nodes": { pod: makePod(), want: "node-000" },
      "where the most resources are free": {
        pod: makePod(),
        running: { "node-000": [makePod(), makePod()], "node-001": [makePod()], "node-002": [makePod(requests("8"))] },
        want: "node-001",
      },
      "where its node selector matches": { pod: makePod({ nodeSelector: { [ZONE]: "c" } }), want: "node-002" },
      "where enough cpu is left": {
        pod: makePod(requests("20")),
        running: { "node-000": [makePod(requests("16"))] },
        want: "node-001",
      },
      "where its node affinity matches": {
        pod: makePod({
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: "NotIn", values: ["a", "b"] }] }],
              },
            },
          },
        }),
        want: "node-002",
      },
      "where its preferred node affinity matches": {
        pod: makePod({
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 1, preference: { matchExpressions: [{ key: ZONE, operator: "In", values: ["b"] }] } },
              ],
            },
          },
        }),
        want: "node-001",
      },
      "on the node that its affinity names": {
        pod: makePod({
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["node-001"] }] }],
              },
            },
          },
        }),
        want: "node-001",
      },
      "beside the pods of its affinity": {
        pod: makePod({
          affinity: {
            podAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: ZONE, labelSelector: { matchLabels: { app: "db" } } },
              ],
            },
          },
        }),
        running: { "node-001": [makePod({}, { labels: { app: "db" } })] },
        want: "node-001",
      },
      "away from the pods of its anti-affinity": {
        pod: makePod({
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: HOST, labelSelector: { matchLabels: { app: "db" } } },
              ],
            },
          },
        }),
        running: {
          "node-000": [makePod({}, { labels: { app: "db" } })],
          "node-001": [makePod({}, { labels: { app: "web" } })],
        },
        want: "node-002",
      },
      "away from pods whose anti-affinity matches it": {
        pod: makePod({}, { labels: { app: "noisy" } }),
        running: {
          "node-000": [
            makePod({
              affinity: {
                podAntiAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [
                    { topologyKey: HOST, labelSelector: { matchLabels: { app: "noisy" } } },
                  ],
                },
              },
            }),
          ],
        },
        want: "node-001",
      },
      "where its host port is free": {
        pod: makePod({ containers: [{ name: "main", image: "web", ports: [{ containerPort: 80, hostPort: 80 }] }] }),
        running: {
          "node-000": [
            makePod({
              containers: [
                { name: "main", image: "web", ports: [{ containerPort: 80, hostPort: 80, hostIP: "127.0.0.1" }] },
              ],
            }),
          ],
        },
        want: "node-001",
      },
    };
  test.each(Object.entries(cases))("%s", (_behaviour, { pod, running = {}, want }) => {
    const cluster = makeCluster();
    for (const [node, pods] of Object.entries(running)) cluster.run(node, ...pods);

    expect(cluster.place(pod)).toEqual({ node: want });
  });

  test("places a pod on a tainted node only if it tolerates the taint", () => {
    const cluster = tainted({ key: "dedicated", value: "db", effect: "NoSchedule" });
    const tolerant = makePod({
      tolerations: [{ key: "dedicated", operator: "Equal", value: "db", effect: "NoSchedule" }],
    });

    expect(cluster.place(makePod())).toEqual({
      unschedulable: `0/3 nodes are available: 3 node(s) had untolerated taint(s). ${NOT_HELPFUL}`,
    });
    expect(cluster.place(tolerant)).toEqual({ node: "node-000" });
  });

  test("where its init containers and its overhead fit, too", () => {
    const cluster = makeCluster({ nodes: { cpu: "4" } });
    const init = (cpu: string) =>
      makePod({
        ...requests("1"),
        initContainers: [{ name: "init", image: "init", resources: { requests: { cpu } } }],
        overhead: { cpu: "1" },
      });

    expect(cluster.place(init("3"))).toEqual({ node: "node-000" });
    expect(cluster.place(init("4"))).toMatchObject({
      unschedulable: expect.stringContaining("3 Insufficient cpu") as unknown,
    });
  });

  test("where its extended resource is available", () => {
    const cluster = makeCluster({
      change: (node, index) =>
        index === 1
          ? {
              ...node,
              status: { ...node.status, allocatable: { ...node.status?.allocatable, "example.com/gpu": "1" } },
            }
          : node,
    });
    const pod = () =>
      makePod({ containers: [{ name: "main", image: "web", resources: { requests: { "example.com/gpu": "1" } } }] });

    const placed = cluster.placeAll([pod(), pod()]);

    expect(placed).toEqual([
      "node-001",
      "0/3 nodes are available: 3 Insufficient example.com/gpu. preemption: 0/3 nodes are available: 1 No " +
        "preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
    ]);
  });

  test("spread from its siblings over nodes and zones", () => {
    const cluster = makeCluster({ count: 6 });
    const owned = () =>
      makePod(
        {},
        { ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "rs", controller: true }] },
      );

    const placed = cluster.placeAll(Array.from({ length: 6 }, owned));

    expect(new Set(placed).size).toBe(6);
    expect(new Set(placed.slice(0, 3).map((name) => Number(name.slice(-1)) % 3)).size).toBe(3);
  });
});

test("pods of kinds that kube-scheduler does not know follow their preferences, not their siblings", () => {
  const cluster = makeCluster({
    count: 4,
    change: (node, index) => ({
      ...node,
      metadata: { ...node.metadata, labels: { ...node.metadata.labels, fast: String(index < 2) } },
    }),
  });
  const pod = () =>
    makePod(
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 100, preference: { matchExpressions: [{ key: "fast", operator: "In", values: ["true"] }] } },
            ],
          },
        },
      },
      {
        ownerReferences: [
          { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web", uid: "cs", controller: true },
        ],
      },
    );

  const placed = cluster.placeAll(Array.from({ length: 4 }, pod));

  expect(placed.toSorted()).toEqual(["node-000", "node-000", "node-001", "node-001"]);
});

describe("topology spread", () => {
  const spread = (rest: object = {}): Partial<PodSpec> => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: ZONE,
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { app: "web" } },
        ...rest,
      },
    ],
  });
  const web = { labels: { app: "web" } };

  test("keeps zones within the skew", () => {
    const cluster = makeCluster().run("node-000", makePod({}, web), makePod({}, web)).run("node-001", makePod({}, web));

    expect(cluster.place(makePod(spread(), web))).toEqual({ node: "node-002" });
  });

  test("excludes a node if only a zone that cannot be used would satisfy the skew", () => {
    const cluster = makeCluster({
      change: (node, index) => (index === 2 ? { ...node, spec: { ...node.spec, unschedulable: true } } : node),
    });
    cluster.run("node-000", makePod({}, web)).run("node-001", makePod({}, web));

    expect(cluster.place(makePod(spread(), web))).toEqual({
      unschedulable:
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread " +
        "constraints. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No " +
        "preemption victims found for incoming pod.",
    });
    expect(cluster.place(makePod(spread({ nodeTaintsPolicy: "Honor" }), web))).toEqual({ node: "node-000" });
  });

  test("counts a missing domain as empty when minDomains exceeds the number of domains", () => {
    const cluster = makeCluster()
      .run("node-000", makePod({}, web))
      .run("node-001", makePod({}, web))
      .run("node-002", makePod({}, web));

    expect(cluster.place(makePod(spread({ minDomains: 4 }), web))).toMatchObject({
      unschedulable: expect.stringContaining("3 node(s) didn't match pod topology spread constraints") as unknown,
    });
    expect(cluster.place(makePod(spread({ minDomains: 3 }), web))).toEqual({ node: "node-000" });
  });

  test("separates revisions by matchLabelKeys", () => {
    const cluster = makeCluster().run(
      "node-000",
      makePod({}, { labels: { app: "web", hash: "old" } }),
      makePod({}, { labels: { app: "web", hash: "old" } }),
    );

    const placed = cluster.place(
      makePod(spread({ matchLabelKeys: ["hash"] }), { labels: { app: "web", hash: "new" } }),
    );

    expect(placed).toEqual({ node: "node-001" });
  });

  test("only scores nodes with whenUnsatisfiable ScheduleAnyway", () => {
    const cluster = makeCluster({ count: 2 }).run("node-000", makePod({}, web));

    expect(cluster.place(makePod(spread({ whenUnsatisfiable: "ScheduleAnyway" }), web))).toEqual({ node: "node-001" });
    expect(
      cluster.place(
        makePod({ ...spread({ whenUnsatisfiable: "ScheduleAnyway" }), nodeSelector: { [ZONE]: "a" } }, web),
      ),
    ).toEqual({ node: "node-000" });
  });
});

describe("pods with affinity to each other", () => {
  const together = (): Partial<PodSpec> => ({
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: HOST, labelSelector: { matchLabels: { app: "pair" } } },
        ],
      },
    },
  });

  test("start in one domain and stay there", () => {
    const cluster = makeCluster();

    expect(
      new Set(cluster.placeAll(Array.from({ length: 3 }, () => makePod(together(), { labels: { app: "pair" } })))).size,
    ).toBe(1);
  });

  test("wait when no matching pod exists", () => {
    expect(makeCluster().place(makePod(together(), { labels: { app: "lonely" } }))).toMatchObject({
      unschedulable: expect.stringContaining("3 node(s) didn't match pod affinity rules") as unknown,
    });
  });

  test("match pods in the selected namespaces", () => {
    const affinity = {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            topologyKey: HOST,
            labelSelector: { matchLabels: { app: "db" } },
            namespaceSelector: { matchLabels: { team: "b" } },
          },
        ],
      },
    };
    const cluster = makeCluster()
      .run("node-000", makePod({}, { labels: { app: "db" } }))
      .run("node-002", makePod({}, { namespace: "other", labels: { app: "db" } }));

    expect(cluster.place(makePod({ affinity }))).toEqual({ node: "node-002" });
  });
});

describe("a pod that fits on no node reports", () => {
  test("each reason with the number of nodes", () => {
    const cluster = makeCluster({
      change: (node, index) =>
        index === 2
          ? { ...node, status: { ...node.status, allocatable: { ...node.status?.allocatable, pods: "0" } } }
          : node,
    });
    cluster.run("node-000", makePod(requests("32"))).run("node-001", makePod(requests("0", "64Gi")));

    expect(cluster.place(makePod(requests("20", "100Gi")))).toEqual({
      unschedulable:
        "0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 Too many pods. preemption: 0/3 " +
        "nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for " +
        "incoming pod.",
    });
  });

  test("the nodes that its affinity excludes", () => {
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchFields: [{ key: "metadata.name", operator: "In" as const, values: ["node-000"] }] },
          ],
        },
      },
    };
    const cluster = makeCluster().run("node-000", makePod(requests("32")));

    expect(cluster.place(makePod({ ...requests("20"), affinity }))).toMatchObject({
      unschedulable: expect.stringContaining(
        "1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
      ) as unknown,
    });
  });
});

describe("preemption", () => {
  const busy = (priority: number, cpu: string, metadata: Partial<Pod["metadata"]> = {}) =>
    makePod({ ...requests(cpu), priority }, metadata, { startTime: "2024-05-01T11:00:00Z" });
  const victims = (verdict: Verdict): string[] =>
    "preemption" in verdict
      ? [verdict.preemption?.node ?? "", ...(verdict.preemption?.victims ?? []).map(({ pod }) => pod.metadata.name)]
      : ["placed"];

  test("selects the least important victims, and no more than needed", () => {
    const cluster = makeCluster()
      .run("node-000", busy(50, "30", { name: "fifty" }))
      .run("node-001", busy(10, "16", { name: "ten" }), busy(5, "16", { name: "five" }))
      .run("node-002", busy(200, "30"));

    expect(victims(cluster.place(makePod({ ...requests("10"), priority: 100 })))).toEqual(["node-001", "five"]);
  });

  test("prefers more important victims to violating a disruption budget", () => {
    const cluster = makeCluster({ count: 2 })
      .run("node-000", busy(10, "30", { name: "guarded", labels: { app: "db" } }))
      .run("node-001", busy(50, "30", { name: "free" }));
    const budget: PodDisruptionBudget = {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "db", namespace: "shop" },
      spec: { selector: { matchLabels: { app: "db" } } },
      status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    };

    expect(victims(cluster.place(makePod({ ...requests("10"), priority: 100 }), [budget]))).toEqual([
      "node-001",
      "free",
    ]);
  });

  test("makes room for affinity rules", () => {
    const cluster = makeCluster({ count: 1 }).run(
      "node-000",
      makePod({ priority: 1 }, { name: "loud", labels: { app: "loud" } }),
      makePod({ priority: 1 }),
    );
    const shy = makePod({
      priority: 100,
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: HOST, labelSelector: { matchLabels: { app: "loud" } } },
          ],
        },
      },
    });

    expect(victims(cluster.place(shy))).toEqual(["node-000", "loud"]);
    expect([...cluster.view.podsOn("node-000")]).toHaveLength(2);
  });

  test("is skipped for pods with preemptionPolicy Never", () => {
    const cluster = makeCluster({ count: 1 }).run("node-000", busy(1, "30"));

    expect(cluster.place(makePod({ ...requests("10"), priority: 100, preemptionPolicy: "Never" }))).toEqual({
      unschedulable:
        "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.",
    });
  });

  test("waits for terminating victims", () => {
    const leaving = makePod(
      { ...requests("30"), priority: 1 },
      { deletionTimestamp: "2024-05-01T12:00:00Z" },
      { conditions: [{ type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" }] },
    );
    const cluster = makeCluster({ count: 1 }).run("node-000", leaving);

    expect(
      cluster.place(makePod({ ...requests("10"), priority: 100 }, {}, { nominatedNodeName: "node-000" })),
    ).toMatchObject({
      unschedulable: expect.stringContaining("not eligible due to a terminating pod on the nominated node.") as unknown,
    });
  });

  test("reserves the room for the nominated pod", () => {
    const cluster = makeCluster({ count: 1 });
    cluster.view.nominate(podView(makePod({ ...requests("30"), priority: 100 })), "node-000");

    expect(cluster.place(makePod({ ...requests("10"), priority: 10 }))).toMatchObject({
      unschedulable: expect.stringContaining("1 Insufficient cpu") as unknown,
    });
    expect(cluster.place(makePod({ ...requests("10"), priority: 1000 }))).toEqual({ node: "node-000" });
  });
});

test("scores only a part of the nodes of a large cluster, and not always the same part", () => {
  const cluster = makeCluster({ count: 1000 });

  const placed = cluster.placeAll(Array.from({ length: 300 }, () => makePod()));

  expect(new Set(placed).size).toBe(300);
  expect(placed.some((name) => name > "node-500")).toBe(true);
});

test("places ten thousand pods with a constraint each without scanning all other pods", () => {
  const cluster = makeCluster({ count: 10, nodes: { pods: "2000" } });
  const labels = { app: "web" };
  const pods = Array.from({ length: 10_000 }, () =>
    makePod(
      {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: HOST, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: labels } },
        ],
      },
      { labels },
    ),
  );

  const placed = cluster.placeAll(pods);

  expect(
    planNodes({ count: 10, nowMs: NOW }).map(({ metadata }) => placed.filter((name) => name === metadata.name).length),
  ).toEqual(Array.from({ length: 10 }, () => 1000));
});
