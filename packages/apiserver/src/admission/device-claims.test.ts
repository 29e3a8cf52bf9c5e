import { expect, test } from "vitest";
import { ClusterRole, ClusterRoleBinding, Namespace, ResourceClaim, ResourceSlice } from "@flotilla/kubernetes";
import type { Profile } from "../clusters/profiles.ts";
import { createTestServer, type Answered, type TestServer } from "../test-server.ts";

const rbac = "rbac.authorization.k8s.io";
const role = (name: string, rules: object[]): object[] => [
  { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name }, rules },
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
    subjects: [{ kind: "User", apiGroup: rbac, name }],
  },
];
const writesStatus = {
  apiGroups: ["resource.k8s.io"],
  resources: ["resourceclaims", "resourceclaims/status"],
  verbs: ["*"],
};
const profile = {
  builtIns: [Namespace, ResourceClaim, ResourceSlice, ClusterRole, ClusterRoleBinding],
  customs: [],
  objects: [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } },
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "admin", labels: { "resource.kubernetes.io/admin-access": "true" } },
    },
    ...role("anybody", [writesStatus]),
    ...role("scheduler", [
      writesStatus,
      { apiGroups: ["resource.k8s.io"], resources: ["resourceclaims/binding"], verbs: ["patch"] },
    ]),
    ...role("driver", [
      writesStatus,
      {
        apiGroups: ["resource.k8s.io"],
        resources: ["resourceclaims/driver"],
        verbs: ["arbitrary-node:patch"],
        resourceNames: ["d.example.com"],
      },
    ]),
  ],
} as unknown as Profile;

const start = (): Promise<TestServer> => createTestServer({ profiles: { hub: profile }, clusters: { hub: "hub" } });
const claims = (namespace = "default"): string => `/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaims`;
const create = ({ request }: TestServer, exactly: object = {}, namespace?: string): Promise<Answered> =>
  request("POST", claims(namespace), {
    metadata: { name: "a" },
    spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu", ...exactly } }] } },
  });
const device = { driver: "d.example.com", pool: "p", device: "gpu-0" };
const allocation = { devices: { results: [{ request: "gpu", ...device }] } };
const patchStatus = ({ request }: TestServer, status: object, user: string): Promise<Answered> =>
  request(
    "PATCH",
    `${claims()}/a/status`,
    { status },
    { "content-type": "application/merge-patch+json", "impersonate-user": user },
  );

test("admin access to devices is granted only in namespaces that allow it", async () => {
  const server = await start();

  const refused = await create(server, { adminAccess: true });
  const created = await create(server, { adminAccess: true }, "admin");

  expect(refused.body.message).toContain(
    "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the " +
      "`resource.kubernetes.io/admin-access: true` label on the containing namespace",
  );
  expect(created.status).toBe(201);
});

test("the right to write the status is not enough to allocate a claim", async () => {
  const server = await start();
  await create(server);

  const refused = await patchStatus(server, { allocation }, "anybody");
  const bound = await patchStatus(server, { allocation }, "scheduler");

  expect(refused.body.message).toContain(
    "status.allocation: Forbidden: changing status.allocation or status.reservedFor requires " +
      'resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: ' +
      'User "anybody" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the ' +
      "cluster scope",
  );
  expect(bound.status).toBe(200);
});

test("a driver may report only on its own devices", async () => {
  const server = await start();
  await create(server);
  await patchStatus(server, { allocation }, "scheduler");

  const refused = await patchStatus(server, { devices: [device] }, "scheduler");
  const reported = await patchStatus(server, { devices: [device] }, "driver");

  expect(refused.body.message).toContain(
    'status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", ' +
      'verb="[arbitrary-node:patch]" permission: resourceclaims.resource.k8s.io "d.example.com" is forbidden',
  );
  expect(reported.status).toBe(200);
});

test("the server sets the time of a taint", async () => {
  const server = await start();

  const { body } = await server.request("POST", "/apis/resource.k8s.io/v1/resourceslices", {
    metadata: { name: "s" },
    spec: {
      driver: "d.example.com",
      pool: { name: "p", generation: 1, resourceSliceCount: 1 },
      nodeName: "n",
      devices: [{ name: "gpu-0", taints: [{ key: "broken", effect: "NoSchedule" }] }],
    },
  });

  const { creationTimestamp } = body.metadata as { creationTimestamp: string };
  expect(body.spec).toMatchObject({ devices: [{ taints: [{ timeAdded: creationTimestamp }] }] });
});
