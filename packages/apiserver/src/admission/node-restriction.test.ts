import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createAccessServer } from "../access/test-access.ts";
import type { AccessServer } from "../access/test-access.ts";
import { forbiddenLabels } from "./node-restriction.ts";

/** A role allows this node everything, so only the step rejects. */
const N1 = { name: "system:node:n1", groups: ["system:nodes", "everything", "system:authenticated"] };
const DEFAULT = "/api/v1/namespaces/default";
const MIRROR = { "kubernetes.io/config.mirror": "x" };

async function createServer(): Promise<AccessServer> {
  const server = await createAccessServer();
  await server.make("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "everything" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "Group", name: "everything" }],
  });
  await server.make("/api/v1/namespaces", { metadata: { name: "kube-node-lease" } });
  await server.make("/api/v1/nodes", { metadata: { name: "n1", labels: { zone: "a" } } });
  await server.make("/api/v1/nodes", { metadata: { name: "n2" } });
  for (const [name, nodeName] of [
    ["mine", "n1"],
    ["other", "n2"],
  ] as const)
    await server.make(`${DEFAULT}/pods`, {
      metadata: { name },
      spec: {
        nodeName,
        containers: [{ name: "c", image: "i" }],
        volumes: [{ name: "t", projected: { sources: [{ serviceAccountToken: { path: "t", audience: "vault" } }] } }],
      },
    });
  return server;
}

const pod = (metadata: JsonObject, spec: JsonObject = {}): JsonObject => ({
  metadata: { name: "new", ...metadata },
  spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }], ...spec },
});

describe("NodeRestriction", () => {
  let server: AccessServer;
  let uids: Record<string, string>;
  beforeAll(async () => {
    server = await createServer();
    uids = {};
    for (const path of ["nodes/n1", "namespaces/default/pods/mine", "namespaces/default/pods/other"]) {
      const { body } = await server.ask(N1, "GET", `/api/v1/${path}`);
      uids[path.slice(path.lastIndexOf("/") + 1)] = (body.metadata as { uid: string }).uid;
    }
  });

  /** The code and, of a rejection, the message after "is forbidden: ". */
  async function write(method: string, path: string, body?: JsonObject): Promise<[code: number, why?: string]> {
    const headers = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : undefined;
    const { code, body: answer } = await server.ask(N1, method, path, body, headers);
    return code < 300 ? [code] : [code, (answer.message as string).replace(/^.* is forbidden: /, "")];
  }
  const owner = (more: JsonObject = {}): JsonObject => ({
    apiVersion: "v1",
    kind: "Node",
    name: "n1",
    uid: uids.n1 ?? "",
    controller: true,
    ...more,
  });

  describe("nodes", () => {
    test.each<[string, JsonObject, string | undefined]>([
      ["n1", { metadata: { labels: { zone: "b", "node.kubernetes.io/x": "1" } } }, undefined],
      ["n2", { metadata: { labels: { zone: "b" } } }, 'node "n1" is not allowed to modify node "n2"'],
      ["n1", { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }, 'node "n1" is not allowed to modify taints'],
      [
        "n1",
        { metadata: { labels: { "node-restriction.kubernetes.io/trusted": "yes" } } },
        "is not allowed to modify labels: node-restriction.kubernetes.io/trusted",
      ],
    ])("a patch of %s: %j", async (name, patch, why) => {
      expect(await write("PATCH", `/api/v1/nodes/${name}`, patch)).toEqual(why === undefined ? [200] : [403, why]);
    });

    test("a node registers itself, without labels that others trust", async () => {
      const sent = { metadata: { name: "n1", labels: { "example.kubernetes.io/pool": "x" } } };

      expect(await write("POST", "/api/v1/nodes", sent)).toEqual([
        403,
        'node "n1" is not allowed to set the following labels: example.kubernetes.io/pool',
      ]);
      expect(await write("POST", "/api/v1/nodes", { metadata: { name: "n3" } })).toEqual([
        403,
        'node "n1" is not allowed to modify node "n3"',
      ]);
    });

    test("the labels of kubelets are allowed, other labels of Kubernetes are not", () => {
      const labels = {
        "kubernetes.io/hostname": "h",
        "a.node.kubernetes.io/x": "1",
        "kubelet.kubernetes.io/x": "1",
        "k8s.io/x": "1",
        "x.node-restriction.kubernetes.io/y": "1",
        mine: "1",
      };

      expect(forbiddenLabels(labels, { "node-role.kubernetes.io/control-plane": "" })).toEqual([
        "k8s.io/x",
        "node-role.kubernetes.io/control-plane",
        "x.node-restriction.kubernetes.io/y",
      ]);
    });
  });

  describe("pods", () => {
    test("only mirror pods of its own, without objects of the API", async () => {
      const create = (body: JsonObject): ReturnType<typeof write> => write("POST", `${DEFAULT}/pods?dryRun=All`, body);
      const mirror = (more: JsonObject = {}, spec?: JsonObject): JsonObject =>
        pod({ annotations: MIRROR, ownerReferences: [owner()], ...more }, spec);

      expect(await create(mirror())).toEqual([201]);
      expect(await create(pod({}))).toEqual([
        403,
        'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
      ]);
      expect(await create(mirror({}, { nodeName: "n2" }))).toEqual([
        403,
        'node "n1" can only create pods with spec.nodeName set to itself',
      ]);
      expect(await create(mirror({ ownerReferences: [] }))).toEqual([
        403,
        'node "n1" can only create pods with an owner reference set to itself',
      ]);
      expect(await create(mirror({ ownerReferences: [owner({ uid: "u" })] }))).toEqual([
        403,
        `node n1 UID mismatch: expected u got ${uids.n1}`,
      ]);
      const volumes = [{ name: "v", configMap: { name: "m" } }];
      expect(await create(mirror({}, { volumes }))).toEqual([
        403,
        'node "n1" can not create pods that reference configmaps',
      ]);
    });

    test("the status of pods on the node, and never their labels", async () => {
      const status = { status: { phase: "Running" } };

      expect(await write("PATCH", `${DEFAULT}/pods/mine/status`, status)).toEqual([200]);
      expect(await write("PATCH", `${DEFAULT}/pods/other/status`, status)).toEqual([
        403,
        'node "n1" can only update pod status for pods with spec.nodeName set to itself',
      ]);
      expect(await write("PATCH", `${DEFAULT}/pods/mine/status`, { metadata: { labels: { a: "b" } } })).toEqual([
        403,
        'node "n1" cannot update labels through pod status',
      ]);
      expect(await write("PATCH", `${DEFAULT}/pods/mine`, { metadata: { labels: { a: "b" } } })).toEqual([
        403,
        'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
      ]);
    });

    test("deletes and evicts pods on the node", async () => {
      const eviction = { metadata: { name: "other" } };

      expect(await write("DELETE", `${DEFAULT}/pods/other`)).toEqual([
        403,
        'node "n1" can only delete pods with spec.nodeName set to itself',
      ]);
      expect(await write("POST", `${DEFAULT}/pods/other/eviction`, eviction)).toEqual([
        403,
        "node n1 can only evict pods with spec.nodeName set to itself",
      ]);
      expect(await write("DELETE", `${DEFAULT}/pods/mine?dryRun=All`)).toEqual([200]);
    });
  });

  test("leases and CSINodes of its own name", async () => {
    const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    const why = "can only access node lease with the same name as the requesting node";

    expect(await write("POST", leases, { metadata: { name: "n1" } })).toEqual([201]);
    expect(await write("POST", leases, { metadata: { name: "n2" } })).toEqual([403, why]);
    expect(
      await write("POST", "/apis/storage.k8s.io/v1/csinodes", { metadata: { name: "n2" }, spec: { drivers: [] } }),
    ).toEqual([403, "can only access CSINode with the same name as the requesting node"]);
  });

  test("of claims only the status", async () => {
    await server.make(`${DEFAULT}/persistentvolumeclaims`, {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    const path = `${DEFAULT}/persistentvolumeclaims/data`;

    expect(await write("PATCH", `${path}/status`, { status: { capacity: { storage: "1Gi" } } })).toEqual([200]);
    expect(await write("PATCH", `${path}/status`, { status: { phase: "Lost" } })).toEqual([
      403,
      'node "n1" is not allowed to update fields other than status.quantity and status.conditions',
    ]);
    expect(await write("DELETE", path)).toEqual([403, "may only update PVC status"]);
  });

  describe("tokens", () => {
    const NARROW = { name: "system:node:n1", groups: ["system:nodes", "system:authenticated"] };
    const token = async (spec: JsonObject): Promise<[code: number, why?: string]> => {
      const { code, body } = await server.ask(NARROW, "POST", `${DEFAULT}/serviceaccounts/default/token`, { spec });
      return code < 300 ? [code] : [code, (body.message as string).replace(/^.* is forbidden: /, "")];
    };
    const bound = (name: string): JsonObject => ({ apiVersion: "v1", kind: "Pod", name, uid: uids[name] ?? "" });

    test("are bound to a pod on the node", async () => {
      expect(await token({ boundObjectRef: bound("mine") })).toEqual([201]);
      expect(await token({})).toEqual([403, "node requested token not bound to a pod"]);
      expect(await token({ boundObjectRef: bound("other") })).toEqual([
        403,
        "node requested token bound to a pod scheduled on a different node",
      ]);
    });

    test("have an audience that the pod uses, or that a role allows", async () => {
      const withAudience = (audience: string): JsonObject => ({
        audiences: [audience],
        boundObjectRef: bound("mine"),
      });
      expect(await token(withAudience("vault"))).toEqual([201]);
      expect(await token(withAudience("else"))).toEqual([
        403,
        'audience "else" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
      ]);

      const rbac = "/apis/rbac.authorization.k8s.io/v1";
      await server.make(`${rbac}/clusterroles`, {
        metadata: { name: "audience" },
        rules: [{ apiGroups: [""], resources: ["else"], verbs: ["request-serviceaccounts-token-audience"] }],
      });
      await server.make(`${rbac}/clusterrolebindings`, {
        metadata: { name: "audience" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "audience" },
        subjects: [{ kind: "Group", name: "system:nodes" }],
      });

      expect(await token(withAudience("else"))).toEqual([201]);
    });
  });

  test("others are not restricted", async () => {
    const root = { name: "root", groups: ["system:masters"] };

    expect((await server.ask(root, "POST", `${DEFAULT}/pods?dryRun=All`, pod({}))).code).toBe(201);
  });
});
