import { expect, test } from "vitest";
import { makeBinding, makeCluster, makeDeployment } from "../../testing/index.ts";
import { renderStatus, summarise } from "./status.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const paris = makeCluster("paris", (cluster) => {
  cluster.metadata.creationTimestamp = "2024-05-01T11:58:00Z";
  cluster.status = { kubernetesVersion: "v1.36.3", nodeSummary: { totalNum: 3, readyNum: 2 }, conditions: [{ type: "Ready", status: "True", reason: "ClusterReady", message: "", lastTransitionTime: "2024-05-01T11:58:00Z" }] };
});
const binding = makeBinding(makeDeployment("shop/web").build())
  .targets({ paris: 3, oslo: 2 })
  .with((object) => {
    object.spec.replicas = 5;
    object.status = { aggregatedStatus: [{ clusterName: "paris", status: { readyReplicas: 3 } }, { clusterName: "oslo", status: { readyReplicas: 1 } }] };
  })
  .build();

test("the fleet at a glance: members and where workloads run", () => {
  const text = renderStatus(summarise("https://hub", [paris, makeCluster("oslo")], [binding], NOW));

  expect(text.split("\n")).toEqual([
    "hub https://hub",
    "",
    "MEMBER   READY     VERSION   NODES   AGE",
    "paris    True      v1.36.3   2/3     2m",
    expect.stringMatching(/^oslo {5}Unknown {13}0\/0/),
    "",
    "NAMESPACE   NAME   KIND         READY   APPLIED   PLACEMENT",
    "shop        web    Deployment   4/5     Unknown   paris=3 oslo=2",
  ]);
});

test("an empty fleet says what to do next", () => {
  expect(renderStatus(summarise("https://hub", [], [], NOW))).toContain("apply one together with a PropagationPolicy");
});
