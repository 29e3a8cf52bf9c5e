import { beforeAll, describe, expect, test } from "vitest";
import { Cluster, OverridePolicy, PropagationPolicy, karmadaAdmissions } from "@flotilla/karmada";
import { Deployment, Namespace, kubernetesAdmissions } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createTestServer } from "@flotilla/testing/api-server.ts";
import type { Answered, TestServer } from "@flotilla/testing/api-server.ts";
import { policyWarnings } from "./policy-warnings.ts";

const oslo = {
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name: "oslo" },
  spec: { syncMode: "Push" },
} as KubernetesObject;
const POLICIES = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
const OVERRIDES = "/apis/policy.karmada.io/v1alpha1/namespaces/default/overridepolicies";
const warningsOf = ({ headers }: Answered): string[] =>
  [headers.warning ?? []].flat().map((text) => text.replace(/^299 - "(.*)"$/, "$1"));
const deployments = { apiVersion: "apps/v1", kind: "Deployment" };

const bare = {
  ...oslo,
  metadata: { name: "bare" },
  status: { apiEnablements: [{ groupVersion: "v1", resources: [{ name: "configmaps", kind: "ConfigMap" }] }] },
};

let server: TestServer;
beforeAll(async () => {
  server = await createTestServer({
    admissions: [...kubernetesAdmissions, ...karmadaAdmissions(), policyWarnings],
    profiles: {
      hub: {
        builtIns: [Namespace, Deployment],
        customs: [PropagationPolicy, OverridePolicy, Cluster],
        objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }, oslo, bare],
      },
    },
  });
});

test("a definition that is missing on members is named unless it has just been propagated, and all are read once", async () => {
  let reads = 0;
  const definition = (kind: string, labels = {}): object => ({
    metadata: { labels },
    spec: { group: "example.com", names: { kind } },
  });
  const read = {
    versions: () => ["v1"],
    kinds: () => [],
    get: () => bare,
    list: () => [bare],
    written(kind: { kind: string }) {
      if (kind.kind !== "CustomResourceDefinition") return [];
      reads += 1;
      return [definition("Lone"), definition("Sent", { "clusterpropagationpolicy.karmada.io/permanent-id": "1" })];
    },
  };
  const warned: string[] = [];

  await policyWarnings.check?.({
    object: {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name: "p" },
      spec: {
        resourceSelectors: ["Lone", "Sent", "Own"].map((kind) => ({ apiVersion: "example.com/v1", kind })),
        placement: { clusterAffinity: { clusterNames: ["bare"] } },
      },
    },
    read,
    warn: (text: string) => void warned.push(text),
  } as never);

  const without = (kind: string): string =>
    `spec.placement.clusterAffinity: bare does not serve ${kind} in example.com/v1, so it gets no copies`;
  expect(warned).toEqual([`${without("Lone")} until its CustomResourceDefinition is there`, without("Own")]);
  expect(reads).toBe(1);
});

describe("the writer of a policy", () => {
  const unjoined = (at: string, names: string): string =>
    `spec.${at}.clusterNames: no joined cluster is named ${names}`;
  const weights = (name: string): object => ({
    weightPreference: { staticWeightList: [{ targetCluster: { clusterNames: [name] }, weight: 1 }] },
  });
  const cases: Record<string, { path?: string; spec: object; want: string[] }> = {
    "gets no warning when all kinds and clusters exist": {
      spec: { resourceSelectors: [deployments], placement: { clusterAffinity: { clusterNames: ["oslo"] } } },
      want: [],
    },
    "is warned about a kind that is not served": {
      spec: { resourceSelectors: [deployments, { apiVersion: "apps/v1", kind: "Deploymnt" }] },
      want: [
        "spec.resourceSelectors[1]: the hub does not serve Deploymnt in apps/v1 (did you mean 'Deployment'?); the selector matches nothing until it does",
      ],
    },
    "is warned with the version in which a kind is served": {
      spec: { resourceSelectors: [{ apiVersion: "apps/v9", kind: "Deployment" }] },
      want: [
        "spec.resourceSelectors[0]: the hub does not serve Deployment in apps/v9, but in apps/v1; the selector matches nothing until it does",
      ],
    },
    "is warned about members that do not serve the kind": {
      spec: { resourceSelectors: [deployments], placement: { clusterAffinity: { clusterNames: ["oslo", "bare"] } } },
      want: ["spec.placement.clusterAffinity: bare does not serve Deployment in apps/v1, so it gets no copies"],
    },
    "is warned about clusters that have not joined": {
      spec: {
        resourceSelectors: [deployments],
        placement: { clusterAffinity: { clusterNames: ["olso", "paris"] } },
      },
      want: [unjoined("placement.clusterAffinity", "olso (did you mean 'oslo'?), paris")],
    },
    "is not asked whether a name was meant that the list has besides": {
      spec: {
        resourceSelectors: [deployments],
        placement: { clusterAffinity: { clusterNames: ["oslo", "olso"] } },
      },
      want: [unjoined("placement.clusterAffinity", "olso")],
    },
    "is warned about them in affinities and weights": {
      spec: {
        resourceSelectors: [deployments],
        placement: {
          clusterAffinities: [
            { affinityName: "a", clusterNames: ["oslo"] },
            { affinityName: "b", clusterNames: ["rome"] },
          ],
          replicaScheduling: weights("bonn"),
        },
      },
      want: [
        unjoined("placement.clusterAffinities[1]", "rome"),
        unjoined("placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster", "bonn"),
      ],
    },
    "is warned about them in overrides": {
      path: OVERRIDES,
      spec: {
        resourceSelectors: [deployments],
        overrideRules: [{ targetCluster: { clusterNames: ["rome"] }, overriders: {} }],
      },
      want: [unjoined("overrideRules[0].targetCluster", "rome")],
    },
    "gets a limited number of warnings": {
      spec: {
        resourceSelectors: Array.from({ length: 20 }, (_, index) => ({ apiVersion: "apps/v1", kind: `Kind${index}` })),
      },
      want: Array.from(
        { length: 10 },
        (_, index) =>
          `spec.resourceSelectors[${index}]: the hub does not serve Kind${index} in apps/v1; the selector matches nothing until it does`,
      ),
    },
  };
  for (const [behaviour, { path = POLICIES, spec, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const answered = await server.request("POST", path, {
        apiVersion: "policy.karmada.io/v1alpha1",
        kind: path === OVERRIDES ? "OverridePolicy" : "PropagationPolicy",
        metadata: { name: behaviour.replaceAll(" ", "-") },
        spec,
      });

      expect(answered.status).toBe(201);
      expect(warningsOf(answered)).toEqual(want);
      // Policies of other cases would select the same objects.
      await server.request("DELETE", `${path}/${behaviour.replaceAll(" ", "-")}`);
    });
  }

  const create = async (name: string, spec: object): Promise<string[]> =>
    warningsOf(
      await server.request("POST", POLICIES, {
        apiVersion: "policy.karmada.io/v1alpha1",
        kind: "PropagationPolicy",
        metadata: { name },
        spec,
      }),
    );

  test("is warned about another policy for the same objects, unless the priorities differ", async () => {
    await create("first", { resourceSelectors: [deployments, { ...deployments, name: "web" }] });

    expect(await create("second", { resourceSelectors: [{ ...deployments, name: "web" }] })).toEqual([
      "spec.resourceSelectors[0]: PropagationPolicy first also selects the same objects with the same " +
        "priority; it keeps those that it has claimed, and of the others the policy whose name sorts first " +
        "claims them; set spec.priority",
    ]);
    expect(await create("third", { resourceSelectors: [{ ...deployments, name: "web" }], priority: 1 })).toEqual([]);
    expect(await create("old", { resourceSelectors: [{ ...deployments, apiVersion: "apps/v1beta1" }] })).toEqual([
      "spec.resourceSelectors[0]: the hub does not serve Deployment in apps/v1beta1, but in apps/v1; the selector matches nothing until it does",
    ]);
    expect(await create("fourth", { resourceSelectors: [{ ...deployments, name: "cart" }] })).toEqual([]);
  });

  test("is warned about spread constraints that static weights ignore", async () => {
    const placement = {
      replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
      spreadConstraints: [{ spreadByField: "cluster", maxGroups: 2 }],
    };

    expect(await create("spread", { resourceSelectors: [{ ...deployments, name: "spread" }], placement })).toEqual([
      "spec.placement.spreadConstraints: spread constraints are ignored (at least 1 and at most 2 of cluster), " +
        "because replicas are divided by equal weights; remove them, or use dynamicWeight: AvailableReplicas or " +
        "replicaDivisionPreference: Aggregated",
    ]);
  });

  test("is warned that ignored spread constraints still exclude members without what they name", async () => {
    const placement = {
      replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
      spreadConstraints: [{ spreadByField: "region", minGroups: 2 }, { spreadByField: "cluster" }],
    };

    const [warning] = await create("regions", { resourceSelectors: [{ ...deployments, name: "regions" }], placement });

    expect(warning).toContain("by equal weights, but still exclude members without a region; remove");
  });
});
