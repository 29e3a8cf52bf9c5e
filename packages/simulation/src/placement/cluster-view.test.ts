import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { planNodes } from "../nodes/nodes.ts";
import { ClusterView } from "./cluster-view.ts";
import { podView } from "./pod-view.ts";

const NODES = ["node-000", "node-001", "node-002"];
const QUERY = [{ namespaces: ["shop"], selector: { matchLabels: { app: "web" } } }];

function makePod(uid: number, app: string, cpu: number): DeepReadonly<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `p${uid}`,
      namespace: "shop",
      uid: String(uid),
      labels: { app },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: app, uid: app, controller: true }],
    },
    spec: {
      priority: cpu % 3,
      containers: [
        {
          name: "main",
          image: "web",
          resources: { requests: { cpu: `${cpu}m` } },
          ports: [{ containerPort: 80, hostPort: cpu % 2 === 0 ? 8000 + uid : undefined }],
        },
      ],
    },
  };
}

const change = fc.record({
  uid: fc.integer({ min: 0, max: 9 }),
  app: fc.constantFrom("web", "db"),
  cpu: fc.integer({ min: 0, max: 500 }),
  node: fc.constantFrom(...NODES, undefined),
});

test("the incremental node load always equals a full recount of the pods", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.integer({ min: 0, max: 40 }), (changes, askedAfter) => {
      const view = new ClusterView();
      for (const node of planNodes({ count: NODES.length, nowMs: 0 })) view.setNode(node);
      const pods = new Map<string, { pod: DeepReadonly<Pod>; node: string; cpu: number }>();

      for (const [index, { uid, app, cpu, node }] of changes.entries()) {
        // A count is maintained from its first use.
        if (index === askedAfter) view.counts.of(QUERY);
        const pod = makePod(uid, app, cpu);
        if (node === undefined) view.lift(String(uid));
        else view.put(podView(pod), node);
        if (node === undefined) pods.delete(String(uid));
        else pods.set(String(uid), { pod, node, cpu });
      }

      const there = [...pods.values()];
      for (const priority of [0, 1, 2])
        expect(view.hasLesser(priority)).toBe(there.some(({ cpu }) => cpu % 3 < priority));
      for (const name of NODES) {
        const own = there.filter(({ node }) => node === name);
        const load = view.nodes.get(name)?.load;
        expect(load?.pods.size).toBe(own.length);
        expect(load?.used.get("cpu") ?? 0).toBe(own.reduce((sum, { cpu }) => sum + cpu, 0));
        expect(load?.withPorts.size).toBe(own.filter(({ cpu }) => cpu % 2 === 0).length);
        expect(load?.owners.get("web") ?? 0).toBe(
          own.filter(({ pod }) => pod.metadata.labels?.["app"] === "web").length,
        );
        expect(view.counts.of(QUERY).byNode.get(name) ?? 0).toBe(load?.owners.get("web") ?? 0);
      }
    }),
  );
});

test("pods seen before their node are counted on it", () => {
  const view = new ClusterView();
  const [node] = planNodes({ count: 1, nowMs: 0 });

  view.put(podView(makePod(1, "web", 100)), "node-000");
  if (node) view.setNode(node);

  expect(view.nodes.get("node-000")?.load.used.get("cpu")).toBe(100);
});

test("a member without nodes and pods leaves no state behind", () => {
  const view = new ClusterView();
  const [node] = planNodes({ count: 1, nowMs: 0 });
  if (node) view.setNode(node);
  view.put(podView(makePod(1, "web", 100)), "node-000");

  view.removeNode("node-000");
  const held = view.isEmpty;
  view.lift("1");

  expect([held, view.isEmpty]).toEqual([false, true]);
});
