import { describe, expect, test } from "vitest";
import type { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { deepFreeze } from "@flotilla/base";
import { makeBinding, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { planPolicyStatus } from "./plan-policy-status.ts";
import { createPolicyTally } from "./policy-tally.ts";

const NOW = "2024-05-01T12:00:00Z";
const ID = { "propagationpolicy.karmada.io/permanent-id": "p-1" };
const policy: PropagationPolicy = makePolicy("shop/all")
  .with(({ metadata }) => Object.assign(metadata, { labels: ID, generation: 3 }))
  .build();

type Condition = NonNullable<NonNullable<ResourceBinding["status"]>["conditions"]>[number];
const condition = (type: string, status: "True" | "False", reason = type, message = ""): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: NOW,
});

function bound(name: string, clusters: string[], ...conditions: Condition[]): ResourceBinding {
  return makeBinding(makeDeployment(`shop/${name}`).build())
    .targets(...clusters)
    .with((binding) => {
      binding.metadata.labels = { ...binding.metadata.labels, ...ID };
      binding.status = { conditions };
    })
    .build();
}

describe("the status of a policy", () => {
  test("contains its objects, their clusters and problems", () => {
    const tally = createPolicyTally();
    tally.bind("web", bound("web", ["paris", "oslo"], condition("FullyApplied", "True")));
    tally.bind("cart", bound("cart", ["paris"]));
    tally.bind("db", bound("db", [], condition("Scheduled", "False", "NoClusterFit", "0/2 clusters are available")));

    expect(planPolicyStatus(deepFreeze(policy), tally.read("p-1"), NOW).status).toMatchObject({
      observedGeneration: 3,
      matched: 3,
      scheduled: 2,
      applied: 1,
      clusters: ["oslo", "paris"],
      clusterCount: 2,
      problems: [
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          namespace: "shop",
          name: "db",
          reason: "NoClusterFit",
          message: "0/2 clusters are available",
        },
      ],
      conditions: [
        { type: "Matched", status: "True", observedGeneration: 3 },
        { type: "Scheduled", status: "False", message: "2 of 3 objects are scheduled." },
        { type: "FullyApplied", status: "False", message: "1 of 3 objects are on all their members." },
      ],
    });
  });

  test("names the member that rejects an object", () => {
    const tally = createPolicyTally();
    const binding = bound("web", ["paris"], condition("FullyApplied", "False", "FullyAppliedFailed"));
    tally.bind("web", {
      ...binding,
      status: {
        ...binding.status,
        aggregatedStatus: [{ clusterName: "paris", applied: false, appliedMessage: "quota exceeded" }],
      },
    });

    expect([...tally.read("p-1").problems]).toMatchObject([
      { name: "web", reason: "FullyAppliedFailed", message: "paris: quota exceeded" },
    ]);
  });

  test("stays the same object when nothing differs", () => {
    const tally = createPolicyTally();
    tally.bind("web", bound("web", ["paris"]));
    const written = deepFreeze(planPolicyStatus(policy, tally.read("p-1"), NOW));

    expect(planPolicyStatus(written, tally.read("p-1"), "2024-05-01T13:00:00Z")).toBe(written);
  });

  test("is limited in size, with unscheduled objects first", () => {
    const tally = createPolicyTally();
    for (let index = 0; index < 30; index++)
      tally.bind(
        `late-${index}`,
        bound(`late-${index}`, ["paris"], condition("FullyApplied", "False", "FullyAppliedFailed")),
      );
    tally.bind(
      "web",
      bound(
        "web",
        Array.from({ length: 300 }, (_, index) => `member${index}`),
        condition("Scheduled", "False", "NoClusterFit"),
      ),
    );

    const { status } = planPolicyStatus(policy, tally.read("p-1"), NOW);

    expect(status?.problems).toHaveLength(10);
    expect(status?.problems?.[0]?.name).toBe("web");
    expect([status?.clusters?.length, status?.clusterCount]).toEqual([100, 301]);
  });
});

describe("the totals", () => {
  test("drop a binding that is deleted, released or claimed by another policy", () => {
    const tally = createPolicyTally();
    const reported: string[] = [];
    for (const name of ["web", "cart", "db"]) tally.bind(name, bound(name, ["paris"]));
    tally.onChange((id) => reported.push(id));

    tally.bind("web", undefined);
    tally.bind("cart", makeBinding(makeDeployment("shop/cart").build()).targets("paris").build());
    tally.bind("db", {
      ...bound("db", ["paris"]),
      metadata: { name: "db", labels: { "clusterpropagationpolicy.karmada.io/permanent-id": "p-2" } },
    });

    expect(tally.read("p-1")).toMatchObject({ matched: 0, problemCount: 0 });
    expect(tally.read("p-1").clusters.size).toBe(0);
    expect(tally.read("p-2").matched).toBe(1);
    expect(reported).toEqual(["p-1", "p-1", "p-1", "p-2"]);
  });

  test("do not notify about irrelevant changes, such as a member's progress", () => {
    const tally = createPolicyTally();
    const reported: string[] = [];
    tally.bind("web", bound("web", ["paris"]));
    tally.onChange((id) => reported.push(id));

    tally.bind("web", {
      ...bound("web", ["paris"]),
      status: { aggregatedStatus: [{ clusterName: "paris", applied: true, status: { readyReplicas: 1 } }] },
    });

    expect(reported).toEqual([]);
  });

  test("count a waiting template as a problem until it is resolved", () => {
    const tally = createPolicyTally();
    const template = makeDeployment("shop/web").build();
    const key = { group: "apps", kind: "Deployment", namespace: "shop", name: "web" };
    tally.wait(key, {
      policy,
      template,
      reason: "DependentOverridesMissing",
      message: "waiting for OverridePolicy images",
    });
    expect([...tally.read("p-1").problems]).toMatchObject([{ name: "web", reason: "DependentOverridesMissing" }]);

    tally.wait(key, undefined);

    expect(tally.read("p-1").problemCount).toBe(0);
  });
});
