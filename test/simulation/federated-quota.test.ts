/** FederatedResourceQuota: limits over the whole fleet, exact also when many requests race through several API servers. */
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import { createMemoryEngine } from "@flotilla/apiserver";
import { federatedQuotaEnforcement } from "@flotilla/flotilla";
import { FederatedResourceQuota, PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { Deployment, Event, kubernetesKinds, Namespace, ResourceQuota } from "@flotilla/kubernetes";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { planInput } from "../../packages/cli/src/explain/plan-input.ts";
import { runCommand } from "./run-command.ts";
import { createTestServer } from "@flotilla/testing/api-server.ts";
import type { TestServer } from "@flotilla/testing/api-server.ts";

const { signal } = new AbortController();
const MINUTE_MS = 60_000;
const MEMBERS = ["member1", "member2"];
const team = { cluster: "hub", namespace: "shop", name: "team" };
const bindingOf = (name: string): { cluster: string; namespace: string; name: string } => ({
  ...team,
  name: `${name}-deployment`,
});

const quota = (spec: FederatedResourceQuota["spec"]): FederatedResourceQuota => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "FederatedResourceQuota",
  metadata: { namespace: "shop", name: "team" },
  spec,
});
/** Each replica requests half a core, unless another amount is given. */
const deployment = (name: string, replicas: number, { image = "web:1", cpu = "500m" } = {}): Deployment =>
  makeDeployment(`shop/${name}`)
    .replicas(replicas)
    .image(image)
    .with(({ spec }) => {
      const [container] = spec.template.spec?.containers ?? [];
      if (container) container.resources = { requests: { cpu } };
    })
    .build();

async function start(spec: FederatedResourceQuota["spec"]): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, nodes: 1 }));
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(FederatedResourceQuota, "hub", quota(spec));
  const policy = makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build();
  await client.create(PropagationPolicy, "hub", policy);
  await fleet.run(5_000);
  return fleet;
}

const usedOf = async ({ client }: TestFleet): Promise<unknown> =>
  (await client.get(FederatedResourceQuota, team)).status?.overallUsed;
const placedOf = async ({ client }: TestFleet, name: string): Promise<unknown[]> => {
  const { spec, status } = await client.get(ResourceBinding, bindingOf(name));
  const scheduled = status?.conditions?.find(({ type }) => type === "Scheduled");
  return [(spec.clusters ?? []).reduce((sum, { replicas = 0 }) => sum + replicas, 0), scheduled?.reason];
};
const patch = (fleet: TestFleet, spec: object): Promise<unknown> =>
  fleet.client.patch(FederatedResourceQuota, team, { spec } as unknown as Json, { type: "merge" });

test("a placement beyond the quota is not made, says why, and is made when the quota is raised", async () => {
  const fleet = await start({ overall: { cpu: "2" } });
  await fleet.client.create(Deployment, "hub", deployment("first", 3));
  await fleet.run(10_000);
  await fleet.client.create(Deployment, "hub", deployment("second", 2));
  await fleet.run(10_000);

  const before = [await placedOf(fleet, "first"), await placedOf(fleet, "second"), await usedOf(fleet)];
  const { status } = await fleet.client.get(ResourceBinding, bindingOf("second"));
  await patch(fleet, { overall: { cpu: "3" } });
  await fleet.run(30_000);

  expect(before).toEqual([[3, "Success"], [0, "QuotaExceeded"], { cpu: "1500m" }]);
  expect(status?.conditions?.find(({ type }) => type === "Scheduled")?.message).toBe(
    "FederatedResourceQuota(shop/team) exceeded for resource cpu: requested sum 2500m, limit 2. Used: 1500m, asked in addition: 1.",
  );
  expect([await placedOf(fleet, "second"), await usedOf(fleet)]).toEqual([[2, "Success"], { cpu: "2500m" }]);
});

test("a placement that a quota held back is made when the quota is deleted", async () => {
  const fleet = await start({ overall: { cpu: "1" } });
  await fleet.client.create(Deployment, "hub", deployment("first", 3));
  await fleet.run(10_000);
  const held = await placedOf(fleet, "first");

  await fleet.client.delete(FederatedResourceQuota, team);
  await fleet.run(5_000);

  expect([held, await placedOf(fleet, "first")]).toEqual([
    [0, "QuotaExceeded"],
    [3, "Success"],
  ]);
});

test("a workload that is scaled down or deleted gives back what it used", async () => {
  const fleet = await start({ overall: { cpu: "2" } });
  await fleet.client.create(Deployment, "hub", deployment("first", 4));
  await fleet.run(10_000);
  await fleet.client.create(Deployment, "hub", deployment("second", 2));
  await fleet.run(10_000);

  await fleet.client.patch(Deployment, { ...team, name: "first" }, { spec: { replicas: 2 } }, { type: "merge" });
  await fleet.run(30_000);
  const scaled = [await placedOf(fleet, "second"), await usedOf(fleet)];
  await fleet.client.delete(Deployment, { ...team, name: "first" });
  await fleet.run(30_000);

  expect(scaled).toEqual([[2, "Success"], { cpu: "2" }]);
  expect(await usedOf(fleet)).toEqual({ cpu: "1" });
});

const requestsOnMembers = (fleet: TestFleet): Promise<unknown[]> =>
  Promise.all(
    MEMBERS.map(async (cluster) => {
      const { spec } = await fleet.client.get(Deployment, { cluster, namespace: "shop", name: "first" });
      return spec.template.spec?.containers[0]?.resources?.requests?.["cpu"];
    }),
  );

test("larger requests of a placed template that exceed the quota are reported, not counted, and not sent until it has room", async () => {
  const fleet = await start({ overall: { cpu: "2" } });
  await fleet.client.create(Deployment, "hub", deployment("first", 3));
  await fleet.run(10_000);

  const containers = [{ name: "first", resources: { requests: { cpu: "1" } } }];
  const larger = { spec: { template: { spec: { containers } } } } as unknown as Json;
  await fleet.client.patch(Deployment, { ...team, name: "first" }, larger, { type: "strategic" });
  await fleet.run(30_000);
  const { status } = await fleet.client.get(ResourceBinding, bindingOf("first"));
  expect(status?.conditions?.find(({ type }) => type === "Dispatched")).toMatchObject({
    status: "False",
    reason: "QuotaExceeded",
    message: `${TOO_LARGE} The template is not sent to members; they keep what they have.`,
  });
  expect(await requestsOnMembers(fleet)).toEqual(["500m", "500m"]);

  const { items } = await fleet.client.list(Event, { cluster: "hub", namespace: "shop" });
  expect(await usedOf(fleet)).toEqual({ cpu: "1500m" });
  expect(items.filter(({ reason }) => reason === "ApplyPolicyFailed").map(({ message }) => message)).toContainEqual(
    expect.stringContaining("exceeded for resource cpu: requested sum 3, limit 2."),
  );

  await patch(fleet, { overall: { cpu: "3" } });
  await fleet.run(5_000);
  expect([await requestsOnMembers(fleet), await usedOf(fleet)]).toEqual([["1", "1"], { cpu: "3" }]);
});

test("fewer replicas with larger requests that fit the quota together are placed, as plan predicts", async () => {
  const fleet = await start({ overall: { cpu: "2" } });
  await applyAs(fleet, deployment("first", 4));
  await fleet.run(10_000);
  const larger = deployment("first", 2, { cpu: "1" });

  const input = { manifests: [larger as unknown as JsonObject], without: [], namespace: "shop" };
  const { problems, changes } = await planInput(fleet.client, input, fleet.clock, signal);
  await applyAs(fleet, larger);
  await fleet.run(30_000);

  expect(problems).toEqual([]);
  expect(changes.map(({ cluster }) => cluster)).toEqual(MEMBERS);
  expect([await placedOf(fleet, "first"), await usedOf(fleet)]).toEqual([[2, "Success"], { cpu: "2" }]);
  expect(await requestsOnMembers(fleet)).toEqual(["1", "1"]);
});

const TOO_LARGE =
  "FederatedResourceQuota(shop/team) exceeded for resource cpu: requested sum 3, limit 2. Used: 1500m, asked in addition: 1500m.";
const refused: Record<string, { changed: Deployment; unsent: string }> = {
  "more replicas": { changed: deployment("first", 6), unsent: "running copies stay where they are" },
  "larger requests": {
    changed: deployment("first", 3, { image: "first:2", cpu: "1" }),
    unsent: "The template is not sent to members",
  },
};
for (const [what, { changed, unsent }] of Object.entries(refused))
  test(`${what} than a quota has room for: plan, apply, why, status and wait name it in the same words`, async () => {
    const fleet = await start({ overall: { cpu: "2" } });
    await applyAs(fleet, deployment("first", 3));
    await fleet.run(10_000);
    const manifests = [changed] as unknown as JsonObject[];
    const input = { manifests, without: [], namespace: "shop" };

    const plan = await planInput(fleet.client, input, fleet.clock, signal);
    await applyAs(fleet, changed);
    await fleet.run(30_000);
    const why = await runCommand(fleet, "why", "deployment/first", "-n", "shop");
    const status = await runCommand(fleet, "status");
    const again = await planInput(fleet.client, input, fleet.clock, signal);

    const named = TOO_LARGE.replace(/\.$/, "");
    expect(plan.changes).toEqual([]);
    expect(plan.problems).toEqual([
      { resource: "Deployment shop/first", message: expect.stringContaining(named) as string },
    ]);
    expect(plan.problems[0]?.message).toContain(unsent);
    expect(why.text.replace(/\s+/g, " ")).toContain(named);
    expect(why.text).toContain("raise cpu in spec.overall of FederatedResourceQuota shop/team");
    expect(status.text.replace(/\s+/g, " ")).toContain(named);
    expect([again.hub, again.changes]).toEqual([[], []]);
    await expect(
      Promise.all([runCommand(fleet, "wait", "deployment/first", "-n", "shop", "--timeout", "5s"), fleet.run(6_000)]),
    ).rejects.toThrow(named);
  });

test("a plan with workloads that need room and others that give it back fits where the result fits", async () => {
  const fleet = await start({ overall: { cpu: "2" } });
  await applyAs(fleet, deployment("zebra", 4));
  await fleet.run(10_000);
  const planOf = async (...objects: Deployment[]): Promise<unknown[]> => {
    const input = { manifests: objects as unknown as JsonObject[], without: [], namespace: "shop" };
    const { problems } = await planInput(fleet.client, input, fleet.clock, signal);
    return problems.map(({ resource }) => resource);
  };

  expect(await planOf(deployment("first", 3), deployment("zebra", 1))).toEqual([]);
  expect(await planOf(deployment("first", 2), deployment("second", 2), deployment("zebra", 1))).toEqual([
    "Deployment shop/second",
  ]);
});

async function applyAs({ client }: TestFleet, object: Deployment): Promise<void> {
  await client.apply(Deployment, "hub", object, { force: true, fieldManager: "kubectl" });
}

test("limits that count nothing are named to the writer, in `why` and `status`, and leave no trace when they are replaced", async () => {
  const fleet = await start({ overall: { "requests.cpu": "1", pods: "9" } });
  await fleet.client.create(Deployment, "hub", deployment("first", 3));
  await fleet.run(10_000);

  const why = await runCommand(fleet, "why", "deployment/first", "-n", "shop");
  const status = await runCommand(fleet, "status", "-n", "shop");
  const uncounted = await usedOf(fleet);
  const { warnings } = await planInput(
    fleet.client,
    {
      manifests: [quota({ overall: { "requests.cpu": "2" } }) as unknown as JsonObject],
      without: [],
      namespace: "shop",
    },
    fleet.clock,
    signal,
  );
  await patch(fleet, { overall: { cpu: "2", "requests.cpu": null, pods: null } });
  await fleet.run(10_000);

  const said =
    "the hub counts the requests of pods by their resource names, and nothing as requests.cpu: its use stays 0, and it never rejects anything";
  expect(uncounted).toEqual({ "requests.cpu": "0", pods: "0" });
  expect(warnings.map(({ message }) => message)).toContain(`spec.overall[requests.cpu]: ${said}; use cpu`);
  expect(why.text).toContain(`FederatedResourceQuota team: ${said}`);
  expect(status.text).toContain(said);
  const { status: after } = await fleet.client.get(FederatedResourceQuota, team);
  expect(after).toEqual({ overall: { cpu: "2" }, overallUsed: { cpu: "1500m" } });
});

test("what was reserved for a write that never came is released after a while", async () => {
  const fleet = await start({ overall: { cpu: "2" } });
  const reserved = { status: { overallUsed: { cpu: "2" } } } as unknown as Json;
  await fleet.client.patch(FederatedResourceQuota, team, reserved, { type: "merge", subresource: "status" });
  await fleet.run(10_000);
  const soon = await usedOf(fleet);

  await fleet.run(2 * MINUTE_MS);

  expect([soon, await usedOf(fleet)]).toEqual([{ cpu: "2" }, { cpu: "0" }]);
});

test("members get the ResourceQuotas of static assignments, and lose them with the assignment and the quota", async () => {
  const staticAssignments = [
    { clusterName: "member1", hard: { cpu: "1" } },
    { clusterName: "member2", hard: { cpu: "500m" } },
  ];
  const fleet = await start({ overall: { cpu: "2" }, staticAssignments });
  const quotasOn = async (cluster: string): Promise<unknown[]> =>
    (await fleet.client.list(ResourceQuota, { cluster, namespace: "shop" })).items.map(({ spec }) => spec?.hard);
  const onMembers = (): Promise<unknown[][]> => Promise.all(MEMBERS.map(quotasOn));
  await fleet.client.create(Deployment, "hub", deployment("first", 2));
  await fleet.run(30_000);

  const assigned = await onMembers();
  const { status } = await fleet.client.get(FederatedResourceQuota, team);
  await patch(fleet, { staticAssignments: staticAssignments.slice(0, 1) });
  await fleet.run(10_000);
  const one = await onMembers();
  await fleet.client.delete(FederatedResourceQuota, team);
  await fleet.run(10_000);

  expect(assigned).toEqual([[{ cpu: "1" }], [{ cpu: "500m" }]]);
  expect(status?.aggregatedStatus).toEqual([
    { clusterName: "member1", hard: { cpu: "1" }, used: { cpu: "500m" } },
    { clusterName: "member2", hard: { cpu: "500m" }, used: { cpu: "500m" } },
  ]);
  expect([one, await onMembers()]).toEqual([
    [[{ cpu: "1" }], []],
    [[], []],
  ]);
});

test("64 bindings that race through three API servers never use more than the quota", async () => {
  const engine = createMemoryEngine({ isShared: true });
  const namespaces = ["default", "shop"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  const servers: TestServer[] = [];
  for (let index = 0; index < 3; index++)
    servers.push(
      await createTestServer({
        engine,
        profiles: {
          hub: { builtIns: kubernetesKinds, customs: [FederatedResourceQuota, ResourceBinding], objects: namespaces },
        },
        admissions: [federatedQuotaEnforcement("hub")],
      }),
    );
  const [first] = servers;
  const quotas = "/apis/policy.karmada.io/v1alpha1/namespaces/shop/federatedresourcequotas";
  await first?.request("POST", quotas, quota({ overall: { cpu: "10" } }));
  const counted = { status: { overall: { cpu: "10" }, overallUsed: { cpu: "0" } } };
  await first?.request("PATCH", `${quotas}/team/status`, counted, { "content-type": "application/merge-patch+json" });
  for (let turn = 0; turn < 50; turn++) await setImmediate();

  const answers = await Promise.all(
    Array.from({ length: 64 }, async (_, index) => {
      const binding = {
        apiVersion: "work.karmada.io/v1alpha2",
        kind: "ResourceBinding",
        metadata: { namespace: "shop", name: `b${index}` },
        spec: {
          resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: `b${index}` },
          replicaRequirements: { resourceRequest: { cpu: "1" } },
          clusters: [{ name: "member1", replicas: 1 }],
        },
      };
      for (let turn = (index * 7) % 13; turn > 0; turn--) await setImmediate();
      const path = "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings";
      for (;;) {
        const reason = (await servers[index % 3]?.request("POST", path, binding))?.body.reason;
        // As clients do: another writer was faster.
        if (reason !== "Conflict") return reason;
      }
    }),
  );

  const stored = await first?.request("GET", `${quotas}/team`);
  expect(answers.filter((reason) => reason === undefined)).toHaveLength(10);
  expect(answers.filter((reason) => reason === "QuotaExceeded")).toHaveLength(54);
  expect(stored?.body.status).toMatchObject({ overallUsed: { cpu: "10" } });
});

test("pods that a ResourceQuota of a member has no room for are predicted by plan, and why and status name it in the words of the member", async () => {
  const fleet = await start({ overall: { cpu: "100" } });
  await applyAs(fleet, deployment("first", 2));
  await fleet.run(10_000);
  const small = { apiVersion: "v1" as const, kind: "ResourceQuota" as const, metadata: { name: "small" } };
  await fleet.client.create(ResourceQuota, "member1", {
    ...small,
    metadata: { ...small.metadata, namespace: "shop" },
    spec: { hard: { "requests.cpu": "1", "count/deployments.apps": "1" } },
  });
  await fleet.run(10_000);
  const planOf = async (...objects: Deployment[]): Promise<unknown> => {
    const input = { manifests: objects as unknown as JsonObject[], without: [], namespace: "shop" };
    return (await planInput(fleet.client, input, fleet.clock, signal)).problems;
  };

  expect(await planOf(deployment("first", 4))).toEqual([]);
  expect(await planOf(deployment("first", 6))).toEqual([
    {
      resource: "Deployment shop/first",
      message:
        "member1 would reject some of it: exceeded quota: small, requested: requests.cpu=1, used: requests.cpu=500m, limited: requests.cpu=1",
    },
  ]);
  expect(await planOf(deployment("first", 4), deployment("second", 2))).toEqual(
    ["first", "second"].map((name) => ({
      resource: `Deployment shop/${name}`,
      message:
        "member1 would reject some of it: exceeded quota: small, requested: " +
        "count/deployments.apps=1,requests.cpu=1, used: count/deployments.apps=1,requests.cpu=500m, limited: " +
        "count/deployments.apps=1,requests.cpu=1",
    })),
  );
  await applyAs(fleet, deployment("first", 6));
  await fleet.run(3 * MINUTE_MS);
  for (const command of [["why", "deployment/first", "-n", "shop"], ["status"]] as const) {
    const [name, ...args] = command;
    const { text } = await runCommand(fleet, name, ...args);
    expect(text.replace(/\s+/g, " ")).toContain("exceeded quota: small, requested: requests.cpu=500m");
  }
});

test("two objects of a plan that exceed a ResourceQuota of the hub together are rejected, as when they are applied", async () => {
  const fleet = await start({ overall: { cpu: "100" } });
  await fleet.client.create(ResourceQuota, "hub", {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "few", namespace: "shop" },
    spec: { hard: { "count/deployments.apps": "1" } },
  });
  await fleet.run(10_000);
  const planOf = async (...names: string[]): Promise<unknown> => {
    const manifests = names.map((name) => deployment(name, 1)) as unknown as JsonObject[];
    return (await planInput(fleet.client, { manifests, without: [], namespace: "shop" }, fleet.clock, signal)).problems;
  };

  expect(await planOf("first")).toEqual([]);
  await expect(planOf("first", "second")).rejects.toMatchObject({
    message: "trying Deployment shop/second on the hub",
    cause: {
      message: expect.stringContaining(
        "exceeded quota: few, requested: count/deployments.apps=1, used: count/deployments.apps=1",
      ) as string,
    },
  });
});

test("two objects of a plan that exceed a FederatedResourceQuota together are a problem of the second one", async () => {
  const fleet = await start({ overall: { cpu: "2" } });
  const manifests = ["first", "second"].map((name) => deployment(name, 3)) as unknown as JsonObject[];

  const { problems } = await planInput(
    fleet.client,
    { manifests, without: [], namespace: "shop" },
    fleet.clock,
    signal,
  );

  expect(problems).toEqual([
    expect.objectContaining({
      resource: "Deployment shop/second",
      message: expect.stringContaining("requested sum 3, limit 2") as string,
    }),
  ]);
});
