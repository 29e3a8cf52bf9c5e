import { describe, expect, test } from "vitest";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import { deploymentInterpreter } from "./deployment-interpreter.ts";

describe("replicas of a Deployment", () => {
  test("come from its spec, with the requests of one pod", () => {
    const deployment = makeDeployment("shop/web")
      .replicas(3)
      .with(({ spec }) => {
        spec.template.spec = {
          containers: [
            { name: "a", resources: { requests: { cpu: "500m" }, limits: { memory: "1Gi" } } },
            { name: "b", resources: { requests: { cpu: 1 } } },
          ],
          initContainers: [{ name: "i", resources: { requests: { memory: "2Gi" } } }],
          nodeSelector: { disk: "ssd" },
        } as never;
      })
      .build();

    const replicas = deploymentInterpreter.replicas?.(deployment);

    expect(replicas).toEqual({
      replicas: 3,
      requirements: { nodeClaim: { nodeSelector: { disk: "ssd" } }, resourceRequest: { cpu: "1500m", memory: "2Gi" } },
    });
  });

  test("have no requirements when the pods request nothing", () => {
    const deployment = makeDeployment("shop/web").replicas(2).build();

    expect(deploymentInterpreter.replicas?.(deployment)).toEqual({ replicas: 2 });
  });
});

describe("the status of a Deployment", () => {
  const member = (replicas: number, templateGeneration: number) => ({
    replicas,
    readyReplicas: replicas,
    updatedReplicas: replicas,
    availableReplicas: replicas,
    generation: 7,
    observedGeneration: 7,
    resourceTemplateGeneration: templateGeneration,
  });
  const deployment = makeDeployment("shop/web")
    .replicas(5)
    .with(({ metadata }) => (metadata.generation = 2))
    .build();

  test("sums the members and reports the template's generation once all members have it", () => {
    const items = [
      { clusterName: "oslo", status: member(3, 2) },
      { clusterName: "paris", status: member(2, 2) },
    ];

    const summed = deploymentInterpreter.aggregateStatus?.(deployment, items);

    expect(summed?.status).toEqual({
      replicas: 5,
      readyReplicas: 5,
      updatedReplicas: 5,
      availableReplicas: 5,
      observedGeneration: 2,
    });
  });

  test("does not report the newest generation while a member still runs an older template", () => {
    const items = [
      { clusterName: "oslo", status: member(3, 2) },
      { clusterName: "paris", status: member(2, 1) },
    ];

    const summed = deploymentInterpreter.aggregateStatus?.(deployment, items);

    expect(summed?.status).not.toHaveProperty("observedGeneration");
  });

  test("returns the template itself when already aggregated, so that nothing is written", () => {
    const items = [{ clusterName: "oslo", status: member(5, 2) }];
    const once = deploymentInterpreter.aggregateStatus?.(deployment, items) ?? deployment;

    expect(deploymentInterpreter.aggregateStatus?.(once, items)).toBe(once);
  });
});

describe("a member's replicas", () => {
  const observed = makeDeployment("shop/web").replicas(9).build();

  test("are kept when the template sets retain-replicas, for example for an autoscaler", () => {
    const desired = makeDeployment("shop/web")
      .replicas(3)
      .labels({ "resourcetemplate.karmada.io/retain-replicas": "true" })
      .build();

    expect(deploymentInterpreter.retain?.(desired, observed).spec?.replicas).toBe(9);
  });

  test("are overwritten otherwise", () => {
    const desired = makeDeployment("shop/web").replicas(3).build();

    expect(deploymentInterpreter.retain?.(desired, observed).spec?.replicas).toBe(3);
  });
});
