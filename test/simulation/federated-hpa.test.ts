/** FederatedHPA and CronFederatedHPA over simulated members: load of Services on the members, decisions on the hub. */
import { expect, test } from "vitest";
import { readJson } from "@flotilla/client";
import { compareText } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import {
  Cluster,
  CronFederatedHpa,
  FederatedHpa,
  FederatedResourceQuota,
  PropagationPolicy,
  ResourceBinding,
} from "@flotilla/karmada";
import { Deployment, Event, Namespace, Service } from "@flotilla/kubernetes";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const MINUTE_MS = 60_000;
const MEMBERS = ["member1", "member2", "member3"];
const web = { cluster: "hub", namespace: "shop", name: "web" };
const service = (cluster: string): { cluster: string; namespace: string; name: string } => ({ ...web, cluster });

const deployment = (replicas: number): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "shop", name: "web" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "1" } } }] },
    },
  },
});

const autoscaler = (
  spec: Partial<FederatedHpa["spec"]> = {},
  annotations: Record<string, string> = {},
): FederatedHpa => ({
  apiVersion: "autoscaling.karmada.io/v1alpha1",
  kind: "FederatedHPA",
  metadata: { namespace: "shop", name: "web", annotations },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 3,
    maxReplicas: 30,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }],
    ...spec,
  },
});

interface Options {
  replicas?: number;
  policy?: PropagationPolicy;
}

/** A Deployment on all members, with a Service whose clients keep `load` cores busy on each. */
async function start({ replicas = 6, policy = divided() }: Options = {}): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, nodes: 2 }));
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(PropagationPolicy, "hub", policy);
  await client.create(PropagationPolicy, "hub", makePolicy("shop/services").selects("v1", "Service").build());
  await client.create(Deployment, "hub", deployment(replicas));
  await client.create(Service, "hub", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: "shop", name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
  });
  await fleet.run(30_000);
  return fleet;
}

const divided = (): PropagationPolicy =>
  makePolicy("shop/web").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1, member3: 1 }).build();

const patched = (annotations: JsonObject): Json => ({ metadata: { annotations } });
async function setLoad(fleet: TestFleet, cores: string | null, members = MEMBERS): Promise<void> {
  for (const member of members)
    await fleet.client.patch(Service, service(member), patched({ "simulation.flotilla.dev/cpu-load": cores }), {
      type: "merge",
    });
}
const replicasOf = async ({ client }: TestFleet): Promise<number | undefined> =>
  (await client.get(Deployment, web)).spec?.replicas;
const sharesOf = async ({ client }: TestFleet): Promise<(number | undefined)[]> =>
  ((await client.get(ResourceBinding, { ...web, name: "web-deployment" })).spec.clusters ?? []).map(
    ({ replicas }) => replicas,
  );
const conditionOf = async ({ client }: TestFleet, type: string): Promise<unknown> =>
  (await client.get(FederatedHpa, web)).status?.conditions?.find((condition) => condition.type === type);

test("scales a template up with the load of all members, divides it by the policy, and comes back", async () => {
  const fleet = await start();
  await fleet.client.create(FederatedHpa, "hub", autoscaler());
  await setLoad(fleet, "3");

  await fleet.run(5 * MINUTE_MS);
  const loaded = [await replicasOf(fleet), await sharesOf(fleet)];
  await setLoad(fleet, "1");
  await fleet.run(12 * MINUTE_MS);

  // 9 cores at 50% of one core each.
  expect(loaded).toEqual([18, [6, 6, 6]]);
  expect([await replicasOf(fleet), await sharesOf(fleet)]).toEqual([6, [2, 2, 2]]);
  expect((await fleet.client.get(FederatedHpa, web)).status).toMatchObject({
    currentReplicas: 6,
    desiredReplicas: 6,
    conditions: [{ type: "AbleToScale" }, { type: "ScalingActive", status: "True" }, { type: "ScalingLimited" }],
  });
});

test("counts a pod of each member as one replica where every member runs all of them", async () => {
  const fleet = await start({ policy: makePolicy("shop/web").selects("apps/v1", "Deployment").build() });
  await fleet.client.create(FederatedHpa, "hub", autoscaler());
  await setLoad(fleet, "6");

  await fleet.run(5 * MINUTE_MS);

  // 18 cores at 50% are 36 pods, 12 on each member.
  expect(await replicasOf(fleet)).toBe(12);
});

test("asks for the replicas that its pods need while a quota places fewer, and not for more", async () => {
  const fleet = await start();
  await fleet.client.create(FederatedResourceQuota, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "FederatedResourceQuota",
    metadata: { namespace: "shop", name: "team" },
    spec: { overall: { cpu: "8" } },
  });
  await fleet.client.create(FederatedHpa, "hub", autoscaler());
  await setLoad(fleet, "2");

  await fleet.run(5 * MINUTE_MS);

  // 6 cores at 50% of one core each; the quota has room for 8 pods, and the 6 placed ones use all that they request.
  expect([await replicasOf(fleet), await sharesOf(fleet)]).toEqual([12, [2, 2, 2]]);
  const { items } = await fleet.client.list(Event, { cluster: "hub", namespace: "shop" });
  expect(items.filter(({ reason }) => reason === "SuccessfulRescale").map(({ message }) => message)).toEqual([
    "New size: 12; reason: cpu resource utilization (percentage of request) above target",
  ]);
});

test("a member that is cut off neither stalls an autoscaler nor makes it scale down", async () => {
  const fleet = await start({ replicas: 18 });
  await fleet.client.create(FederatedHpa, "hub", autoscaler());
  await setLoad(fleet, "3");
  await fleet.run(2 * MINUTE_MS);
  const cut = patched({ "simulation.flotilla.dev/fault": "unreachable" });
  await fleet.client.patch(Cluster, { cluster: "hub", name: "member3" }, cut, { type: "merge" });

  await fleet.run(15 * MINUTE_MS);
  const alone = await replicasOf(fleet);
  await setLoad(fleet, "6", ["member1", "member2"]);
  await fleet.run(5 * MINUTE_MS);

  expect(alone).toBe(18);
  expect(await replicasOf(fleet)).toBeGreaterThan(20);
  expect(await conditionOf(fleet, "ScalingActive")).toMatchObject({
    status: "True",
    message: expect.stringContaining("not read: member3 (it is not ready)") as string,
  });
});

test("with the policy hold a template is not scaled while the metrics of a member are missing", async () => {
  const fleet = await start();
  await fleet.client.create(FederatedHpa, "hub", autoscaler({}, { "flotilla.dev/missing-metrics": "hold" }));
  const cut = patched({ "simulation.flotilla.dev/fault": "unreachable" });
  await fleet.client.patch(Cluster, { cluster: "hub", name: "member3" }, cut, { type: "merge" });
  await fleet.run(2 * MINUTE_MS);
  await setLoad(fleet, "6", ["member1", "member2"]);

  await fleet.run(5 * MINUTE_MS);

  expect(await replicasOf(fleet)).toBe(6);
  expect(await conditionOf(fleet, "ScalingActive")).toMatchObject({ status: "False", reason: "MissingMetrics" });
});

test("a template that no policy places is reported, and not scaled", async () => {
  const fleet = await start();
  await fleet.client.delete(PropagationPolicy, { ...web, name: "web" });
  await fleet.client.delete(ResourceBinding, { ...web, name: "web-deployment" });
  await fleet.client.create(FederatedHpa, "hub", autoscaler());

  await fleet.run(MINUTE_MS);

  expect(await conditionOf(fleet, "AbleToScale")).toMatchObject({
    status: "False",
    reason: "FailedGetBindings",
    message: "Deployment web has no binding: no PropagationPolicy selects it",
  });
});

test("warns of an annotation about missing metrics that has no effect", async () => {
  const fleet = await start();
  const wrong = autoscaler({}, { "flotilla.dev/missing-metrics": "stall" });

  expect(await createWithWarning(fleet, "federatedhpas", wrong)).toEqual([
    201,
    expect.stringContaining("is not one of conservative, ignore, hold; conservative is used"),
  ]);
});

async function createWithWarning(fleet: TestFleet, plural: string, object: object): Promise<unknown[]> {
  const path = `/apis/autoscaling.karmada.io/v1alpha1/namespaces/shop/${plural}`;
  const headers = { "content-type": "application/json" };
  const body = Buffer.from(JSON.stringify(object));
  const answer = await fleet.client.raw({ method: "POST", cluster: "hub", path, headers, body });
  return [answer.status, answer.headers["warning"]];
}

const cron = (rules: CronFederatedHpa["spec"]["rules"], kind: "Deployment" | "FederatedHPA"): CronFederatedHpa => ({
  apiVersion: "autoscaling.karmada.io/v1alpha1",
  kind: "CronFederatedHPA",
  metadata: { namespace: "shop", name: "day" },
  spec: {
    scaleTargetRef: {
      apiVersion: kind === "Deployment" ? "apps/v1" : "autoscaling.karmada.io/v1alpha1",
      kind,
      name: "web",
    },
    rules,
  },
});

test("a rule of a CronFederatedHPA scales a template at its time, and records it", async () => {
  const fleet = await start();
  const hour = new Date(fleet.clock.now()).getUTCHours();
  const schedule = `30 ${(hour + 1) % 24} * * *`;
  await fleet.client.create(CronFederatedHpa, "hub", cron([{ name: "up", schedule, targetReplicas: 9 }], "Deployment"));

  await fleet.run(29 * MINUTE_MS);
  const before = await replicasOf(fleet);
  await fleet.run(70 * MINUTE_MS);

  expect([before, await replicasOf(fleet)]).toEqual([6, 9]);
  const { status } = await fleet.client.get(CronFederatedHpa, { ...web, name: "day" });
  expect(status?.executionHistories).toMatchObject([
    { ruleName: "up", successfulExecutions: [{ appliedReplicas: 9 }] },
  ]);
});

test("two autoscalers that change replicas back and forth are warned of, stopped and reported", async () => {
  const fleet = await start();
  const rules = (name: string, targetReplicas: number) => [{ name, schedule: "*/1 * * * *", targetReplicas }];
  await fleet.client.create(CronFederatedHpa, "hub", cron(rules("up", 9), "Deployment"));
  const rival = cron(rules("down", 3), "Deployment");
  const created = await createWithWarning(fleet, "cronfederatedhpas", {
    ...rival,
    metadata: { ...rival.metadata, name: "night" },
  });

  const seen = new Set<number | undefined>();
  await fleet.run(10 * MINUTE_MS);
  for (let minute = 0; minute < 5; minute++) {
    await fleet.run(MINUTE_MS);
    seen.add(await replicasOf(fleet));
  }

  expect(created).toEqual([
    201,
    expect.stringContaining(
      "spec.scaleTargetRef: CronFederatedHPA day also scales Deployment web; when both change it",
    ),
  ]);
  expect(seen.size).toBe(1);
  const { items } = await fleet.client.list(CronFederatedHpa, { cluster: "hub", namespace: "shop" });
  expect(
    items.flatMap(({ status }) => status?.executionHistories?.[0]?.failedExecutions?.[0]?.message ?? []),
  ).toContainEqual(
    expect.stringMatching(
      new RegExp(
        "^CronFederatedHPA shop/day and CronFederatedHPA shop/night changed spec\\.replicas of Deployment shop/web back and " +
          "forth 3 times within ten minutes; it stays at \\d until one of them is changed or deleted$",
      ),
    ),
  );

  await fleet.client.delete(CronFederatedHpa, { ...web, name: "night" });
  await fleet.run(2 * MINUTE_MS);
  expect(await replicasOf(fleet)).toBe(9);
});

test("a rule that fails is recorded with the reason, and reported", async () => {
  const fleet = await start();
  const rules = [{ name: "often", schedule: "*/1 * * * *", targetMinReplicas: 40 }];
  await fleet.client.create(FederatedHpa, "hub", autoscaler());
  await fleet.client.create(CronFederatedHpa, "hub", cron(rules, "FederatedHPA"));

  await fleet.run(5 * MINUTE_MS);

  const { status } = await fleet.client.get(CronFederatedHpa, { ...web, name: "day" });
  const [history] = status?.executionHistories ?? [];
  expect(history?.failedExecutions).toHaveLength(3);
  expect(history?.failedExecutions?.[0]?.message).toContain("must be greater than or equal to `minReplicas`");
  const { items } = await fleet.client.list(Event, { cluster: "hub", namespace: "shop" });
  expect(items.filter(({ reason }) => reason === "ScaleFailed")).toHaveLength(1);
});

interface PodMetrics {
  metadata: { annotations: Record<string, string> };
  containers: { usage: { cpu: string } }[];
}
const METRICS = "/apis/metrics.k8s.io/v1beta1";
async function readHub({ client }: TestFleet, path: string): Promise<{ status: number; warning?: string; json: Json }> {
  const { status, headers, body } = await client.raw({ method: "GET", cluster: "hub", path: `${METRICS}${path}` });
  return { status, warning: headers["warning"], json: await readJson(body) };
}

test("the hub serves the usage of the pods and nodes of all members, with their member", async () => {
  const fleet = await start();
  await setLoad(fleet, "1");
  await fleet.run(1_000);

  const pods = await readHub(fleet, "/namespaces/shop/pods?labelSelector=app%3Dweb");
  const nodes = await readHub(fleet, "/nodes");
  const same = await readHub(fleet, "/nodes/node-000");

  const items = (pods.json as unknown as { items: PodMetrics[] }).items;
  const origins = items.map(({ metadata, containers }) => [
    metadata.annotations["resource.karmada.io/query-from-cluster"],
    containers[0]?.usage.cpu,
  ]);
  expect(origins.toSorted((a, b) => compareText(String(a[0]), String(b[0])))).toEqual(
    MEMBERS.flatMap((member) => [
      [member, "500m"],
      [member, "500m"],
    ]),
  );
  expect((nodes.json as unknown as { items: unknown[] }).items).toHaveLength(6);
  expect(same).toMatchObject({ status: 409 });
});

test("the hub names the members without an answer in a warning, and answers 503 without any", async () => {
  const fleet = await start();
  const cut = patched({ "simulation.flotilla.dev/fault": "unreachable" });
  await fleet.client.patch(Cluster, { cluster: "hub", name: "member3" }, cut, { type: "merge" });
  await fleet.run(2 * MINUTE_MS);
  const one = await readHub(fleet, "/namespaces/shop/pods");
  for (const name of ["member1", "member2"])
    await fleet.client.patch(Cluster, { cluster: "hub", name }, cut, { type: "merge" });
  await fleet.run(2 * MINUTE_MS);
  const none = await readHub(fleet, "/namespaces/shop/pods");

  expect(one.warning).toContain("no answer from: member3 (it is not ready)");
  expect((one.json as unknown as { items: unknown[] }).items).toHaveLength(4);
  expect(none.status).toBe(503);
});
