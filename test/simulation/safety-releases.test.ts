/**
 * What RolloutStrategies and FleetRollouts name and the hub uses on their behalf: servers that gates ask, Secrets with
 * tokens, Jobs, and the template that a release is about. Ann may write both kinds in `shop`, and nothing else, beside
 * what an administrator has written there; so she may name or change nothing that she cannot use herself.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { FleetRollout, RolloutStrategy } from "@flotilla/flotilla";
import { Deployment, Namespace, Role, RoleBinding, Secret } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment } from "@flotilla/testing/builders.ts";

const RBAC = "rbac.authorization.k8s.io";
const NAMESPACE = "shop";
const JOB = { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "check:1" }] } } };
const METRIC = {
  server: "https://prometheus.example.com",
  query: "up",
  min: "1",
  bearerToken: { name: "monitoring", key: "token" },
};

let fleet: TestFleet;
let ann: Client;
beforeAll(async () => {
  fleet = await startTestFleet({ members: ["member1"] });
  const { client, hub } = fleet;
  ann = createClient({
    transport: hub.server.transport({ name: "ann", groups: ["system:authenticated"] }),
    fieldManager: "ann",
  });
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  await client.create(Role, "hub", {
    apiVersion: `${RBAC}/v1`,
    kind: "Role",
    metadata: { namespace: NAMESPACE, name: "ann" },
    rules: [{ apiGroups: ["flotilla.dev"], resources: ["rolloutstrategies", "fleetrollouts"], verbs: ["*"] }],
  });
  await client.create(RoleBinding, "hub", {
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: { namespace: NAMESPACE, name: "ann" },
    roleRef: { apiGroup: RBAC, kind: "Role", name: "ann" },
    subjects: [{ apiGroup: RBAC, kind: "User", name: "ann" }],
  });
  await client.create(Secret, "hub", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: NAMESPACE, name: "monitoring" },
    stringData: { token: "of the monitoring", other: "of something else" },
  });
  await client.create(Deployment, "hub", makeDeployment(`${NAMESPACE}/web`).build());
  await client.create(
    RolloutStrategy,
    "hub",
    makeStrategy("checked", [{ metric: METRIC }, { job: { template: JOB } }]),
  );
  await client.create(FleetRollout, "hub", makeRollout("web-1", [{ approval: {} }]));
});
afterAll(() => fleet.stop());

function makeStrategy(name: string, after: JsonObject[]): RolloutStrategy {
  return {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "RolloutStrategy",
    metadata: { namespace: NAMESPACE, name },
    spec: { selector: { matchLabels: { app: "web" } }, waves: [{ name: "all", after }] },
  } as unknown as RolloutStrategy;
}

function makeRollout(name: string, after: JsonObject[], target = "web"): FleetRollout {
  return {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "FleetRollout",
    metadata: { namespace: NAMESPACE, name },
    spec: {
      target: { apiVersion: "apps/v1", kind: "Deployment", name: target },
      number: 7,
      revision: "abc",
      template: { spec: { containers: [{ name: "main", image: "evil:1" }] } },
      strategy: { waves: [{ name: "all", after }] },
    },
  } as unknown as FleetRollout;
}

const waves = (...after: JsonObject[]): JsonObject[] => [{ name: "all", after }];

const gates: Record<string, { gate: JsonObject; message: string }> = {
  "a metric of a server that they may not use": {
    gate: { metric: { ...METRIC, bearerToken: undefined } as unknown as JsonObject },
    message:
      'spec.waves[0].after[0].metric.server: Forbidden: user "ann" cannot use gateservers.flotilla.dev "prometheus.example.com:443"',
  },
  "a webhook on the hub's own machine": {
    gate: { webhook: { url: "http://127.0.0.1:2379/v3/kv/range" } },
    message: 'user "ann" cannot use gateservers.flotilla.dev "127.0.0.1:2379"',
  },
  "a webhook at a metadata service": {
    gate: { webhook: { url: "http://169.254.169.254/latest/meta-data" } },
    message: 'user "ann" cannot use gateservers.flotilla.dev "169.254.169.254:80"',
  },
  "the token in a Secret that they cannot read": {
    gate: { metric: METRIC },
    message: 'user "ann" cannot get secrets "monitoring" in the namespace "shop"',
  },
  "a Job that they cannot create": {
    gate: { job: { template: JOB } },
    message: 'user "ann" cannot create jobs.batch',
  },
  "an address without a host, which would become another one": {
    gate: { metric: { server: "http:////", query: "up", min: "1" } },
    message: "spec.waves[0].after[0].metric.server: Invalid value",
  },
};
for (const [what, { gate, message }] of Object.entries(gates)) {
  test(`a writer of strategies cannot name ${what}`, async () => {
    await expect(ann.create(RolloutStrategy, "hub", makeStrategy("own", [gate]), { dryRun: true })).rejects.toThrow(
      message,
    );
  });
}

const changes: Record<string, { spec: JsonObject; message: string }> = {
  "the pods of a Job": {
    spec: {
      waves: waves(
        { metric: METRIC },
        { job: { template: { template: { spec: { containers: [{ name: "main", image: "evil:1" }] } } } } },
      ),
    },
    message: 'user "ann" cannot create jobs.batch',
  },
  "the member on which a Job runs": {
    spec: { waves: waves({ metric: METRIC }, { job: { template: JOB, cluster: "member1" } }) },
    message: 'user "ann" cannot create jobs.batch',
  },
  "the query that is sent with the hub's token": {
    spec: { waves: waves({ metric: { ...METRIC, query: "secret_figures" } }, { job: { template: JOB } }) },
    message: 'user "ann" cannot use gateservers.flotilla.dev "prometheus.example.com:443"',
  },
  "the key of the token": {
    spec: {
      waves: waves(
        { metric: { ...METRIC, bearerToken: { name: "monitoring", key: "other" } } },
        { job: { template: JOB } },
      ),
    },
    message: 'user "ann" cannot get secrets "monitoring"',
  },
};
for (const [what, { spec, message }] of Object.entries(changes)) {
  test(`a writer of strategies cannot change ${what} in a gate of another writer`, async () => {
    const key = { cluster: "hub", namespace: NAMESPACE, name: "checked" };

    await expect(ann.patch(RolloutStrategy, key, { spec }, { type: "merge", dryRun: true })).rejects.toThrow(message);
  });
}

test("a writer of strategies can change the other fields", async () => {
  const key = { cluster: "hub", namespace: NAMESPACE, name: "checked" };
  const { spec } = await ann.patch(RolloutStrategy, key, { spec: { historyLimit: 3 } }, { type: "merge" });

  expect(spec.historyLimit).toBe(3);
});

test("a writer of FleetRollouts cannot release a template that they cannot write", async () => {
  await expect(
    ann.create(FleetRollout, "hub", makeRollout("web-2", [{ approval: {} }]), { dryRun: true }),
  ).rejects.toThrow('spec.target: Forbidden: user "ann" cannot update deployments.apps "web" in the namespace "shop"');
});

test("a writer of FleetRollouts cannot release an object of a kind that the hub does not serve", async () => {
  const rollout = makeRollout("web-2", [{ approval: {} }]);
  const unknown = {
    ...rollout,
    spec: { ...rollout.spec, target: { apiVersion: "x.io/v1", kind: "Thing", name: "web" } },
  };

  await expect(ann.create(FleetRollout, "hub", unknown, { dryRun: true })).rejects.toThrow(
    'spec.target: Forbidden: user "ann" cannot update *.x.io "web"',
  );
});

test("who steers a release approves it, and cannot change how it is released", async () => {
  const key = { cluster: "hub", namespace: NAMESPACE, name: "web-1" };
  const steered = await ann.patch(FleetRollout, key, { spec: { approvals: ["all"] } }, { type: "merge" });

  expect(steered.spec.approvals).toEqual(["all"]);
  await expect(
    ann.patch(FleetRollout, key, { spec: { strategy: { maxUnavailable: "100%" } } }, { type: "merge" }),
  ).rejects.toThrow('user "ann" cannot update deployments.apps "web"');
});
