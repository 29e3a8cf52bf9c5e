import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import type { UserInfo } from "../request/user-info.ts";
import { createAccessServer } from "./test-access.ts";
import type { AccessServer } from "./test-access.ts";

const node = (name: string): UserInfo => ({
  name: `system:node:${name}`,
  groups: ["system:nodes", "system:authenticated"],
});
const N1 = node("n1");
const DEFAULT = "/api/v1/namespaces/default";
const REVIEWS = "/apis/authorization.k8s.io/v1";

const container = { name: "c", image: "i" };

/** A pod on n1 that uses one object of each kind, one on n2, and one without a node. */
async function createServerWithPods(): Promise<AccessServer> {
  const server = await createAccessServer();
  for (const name of ["n1", "n2"]) await server.make("/api/v1/nodes", { metadata: { name } });
  await server.make(`${DEFAULT}/serviceaccounts`, { metadata: { name: "runner" } });
  await server.make(`${DEFAULT}/pods`, {
    metadata: { name: "used" },
    spec: {
      nodeName: "n1",
      serviceAccountName: "runner",
      imagePullSecrets: [{ name: "pull" }],
      containers: [
        {
          ...container,
          env: [{ name: "E", valueFrom: { configMapKeyRef: { name: "env", key: "k" } } }],
          envFrom: [{ secretRef: { name: "all-env" } }],
        },
      ],
      volumes: [
        { name: "s", secret: { secretName: "mounted" } },
        { name: "p", projected: { sources: [{ configMap: { name: "projected" } }] } },
        { name: "d", persistentVolumeClaim: { claimName: "data" } },
      ],
    },
  });
  await server.make(`${DEFAULT}/pods`, {
    metadata: { name: "elsewhere" },
    spec: { nodeName: "n2", containers: [{ ...container, envFrom: [{ secretRef: { name: "of-n2" } }] }] },
  });
  await server.make(`${DEFAULT}/pods`, {
    metadata: { name: "waiting" },
    spec: { containers: [{ ...container, envFrom: [{ secretRef: { name: "of-none" } }] }] },
  });
  await server.make("/api/v1/persistentvolumes", {
    metadata: { name: "disk" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      claimRef: { namespace: "default", name: "data" },
      csi: {
        driver: "d.example.com",
        volumeHandle: "h",
        nodePublishSecretRef: { name: "publish", namespace: "kube-system" },
        controllerPublishSecretRef: { name: "controller", namespace: "kube-system" },
      },
    },
  });
  for (const name of ["n1", "n2"])
    await server.make("/apis/storage.k8s.io/v1/volumeattachments", {
      metadata: { name: `of-${name}` },
      spec: { attacher: "a", nodeName: name, source: { persistentVolumeName: "disk" } },
    });
  return server;
}

describe("the Node authorizer", () => {
  let server: AccessServer;
  beforeAll(async () => {
    server = await createServerWithPods();
  });

  async function isAllowed(user: UserInfo, resourceAttributes: JsonObject): Promise<boolean> {
    const { body } = await server.ask(
      { name: "root", groups: ["system:masters"] },
      "POST",
      `${REVIEWS}/subjectaccessreviews`,
      { spec: { user: user.name, groups: [...user.groups], resourceAttributes } },
    );
    return (body.status as { allowed: boolean }).allowed;
  }

  const onN1 = { fieldSelector: { rawSelector: "spec.nodeName=n1" } };
  const core = (verb: string, resource: string, name = "", more: JsonObject = {}): JsonObject => ({
    namespace: "default",
    verb,
    resource,
    name,
    ...more,
  });
  const cases: Record<string, { allowed: JsonObject[]; denied: JsonObject[] }> = {
    "reads the Secrets and ConfigMaps of pods on its node": {
      allowed: [
        core("get", "secrets", "pull"),
        core("get", "secrets", "all-env"),
        core("watch", "secrets", "mounted"),
        core("list", "configmaps", "env"),
        core("get", "configmaps", "projected"),
      ],
      denied: [
        core("get", "secrets", "of-n2"),
        core("get", "secrets", "of-none"),
        core("list", "secrets"),
        core("update", "secrets", "mounted"),
        core("get", "configmaps", "mounted"),
        core("get", "secrets", "mounted", { namespace: "kube-system" }),
      ],
    },
    "follows claims to volumes and to the Secrets that a kubelet mounts them with": {
      allowed: [
        core("get", "persistentvolumeclaims", "data"),
        core("patch", "persistentvolumeclaims", "data", { subresource: "status" }),
        core("get", "persistentvolumes", "disk", { namespace: "" }),
        core("get", "secrets", "publish", { namespace: "kube-system" }),
      ],
      denied: [
        core("update", "persistentvolumeclaims", "data"),
        core("list", "persistentvolumes", "", { namespace: "" }),
        core("get", "secrets", "controller", { namespace: "kube-system" }),
      ],
    },
    "reads volume attachments that name it": {
      allowed: [{ verb: "get", group: "storage.k8s.io", resource: "volumeattachments", name: "of-n1" }],
      denied: [
        { verb: "get", group: "storage.k8s.io", resource: "volumeattachments", name: "of-n2" },
        { verb: "list", group: "storage.k8s.io", resource: "volumeattachments" },
      ],
    },
    "reads its own pods, all of them only by a field selector": {
      allowed: [
        core("get", "pods", "used"),
        core("watch", "pods", "used"),
        { verb: "list", resource: "pods", ...onN1 },
        {
          verb: "watch",
          resource: "pods",
          fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["n1"] }] },
        },
      ],
      denied: [
        core("get", "pods", "elsewhere"),
        core("get", "pods", "waiting"),
        { verb: "list", resource: "pods" },
        { verb: "list", resource: "pods", fieldSelector: { rawSelector: "spec.nodeName=n2" } },
        { verb: "list", resource: "pods", fieldSelector: { rawSelector: "spec.nodeName!=n1" } },
        core("update", "pods", "used"),
        core("create", "pods", "used", { subresource: "exec" }),
      ],
    },
    "reads its own Node": {
      allowed: [
        { verb: "get", resource: "nodes", name: "n1" },
        { verb: "patch", resource: "nodes", name: "n1", subresource: "status" },
      ],
      denied: [
        { verb: "get", resource: "nodes", name: "n2" },
        { verb: "list", resource: "nodes" },
        { verb: "delete", resource: "nodes", name: "n1" },
      ],
    },
    "renews its own Lease": {
      allowed: [core("update", "leases", "n1", { group: "coordination.k8s.io", namespace: "kube-node-lease" })],
      denied: [
        core("update", "leases", "n2", { group: "coordination.k8s.io", namespace: "kube-node-lease" }),
        core("update", "leases", "n1", { group: "coordination.k8s.io", namespace: "kube-system" }),
      ],
    },
    "requests tokens for the accounts of its pods": {
      allowed: [core("create", "serviceaccounts", "runner", { subresource: "token" })],
      denied: [
        core("create", "serviceaccounts", "default", { subresource: "token" }),
        core("create", "serviceaccounts", "runner"),
      ],
    },
    "reads what all nodes read": {
      allowed: [
        { verb: "watch", resource: "services" },
        { verb: "list", group: "node.k8s.io", resource: "runtimeclasses" },
        { verb: "create", group: "certificates.k8s.io", resource: "certificatesigningrequests" },
      ],
      denied: [
        { verb: "list", resource: "namespaces" },
        { verb: "list", group: "apps", resource: "deployments" },
      ],
    },
  };
  for (const [behaviour, { allowed, denied }] of Object.entries(cases)) {
    test(`a node ${behaviour}`, async () => {
      const results = async (questions: JsonObject[]): Promise<boolean[]> => {
        const answers: boolean[] = [];
        for (const question of questions) answers.push(await isAllowed(N1, question));
        return answers;
      };

      expect(await results(allowed)).toEqual(allowed.map(() => true));
      expect(await results(denied)).toEqual(denied.map(() => false));
    });
  }

  test("a user with the name of a node who is not in the group of nodes is not a node", async () => {
    const user = { name: N1.name, groups: ["system:authenticated"] };

    expect(await isAllowed(user, core("get", "secrets", "mounted"))).toBe(false);
  });

  test("a rejected request names the missing relation", async () => {
    const { code, body } = await server.ask(N1, "GET", `${DEFAULT}/secrets/of-n2`);

    expect(code).toBe(403);
    expect(body.message).toBe(
      `secrets "of-n2" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in ` +
        `the namespace "default": no relationship found between node 'n1' and this object`,
    );
  });

  test("the rules of a node are incomplete", async () => {
    const { body } = await server.ask(N1, "POST", `${REVIEWS}/selfsubjectrulesreviews`, {
      spec: { namespace: "default" },
    });

    expect(body.status).toMatchObject({
      incomplete: true,
      evaluationError: "node authorizer does not support user rule resolution",
    });
  });
});

describe("the relations of nodes", () => {
  test("a pod that is deleted, and one that gets a node, change what a node may read", async () => {
    const server = await createServerWithPods();
    const codes = async (): Promise<number[]> => {
      const secrets = ["mounted", "of-none"];
      const found: number[] = [];
      for (const name of secrets) found.push((await server.ask(N1, "GET", `${DEFAULT}/secrets/${name}`)).code);
      return found;
    };
    // Allowed, and absent: the Secrets were never created.
    expect(await codes()).toEqual([404, 403]);

    const root = { name: "root", groups: ["system:masters"] };
    await server.ask(root, "DELETE", `${DEFAULT}/pods/used?gracePeriodSeconds=0`);
    await server.make(`${DEFAULT}/pods/waiting/binding`, { metadata: { name: "waiting" }, target: { name: "n1" } });
    await server.settle();

    expect(await codes()).toEqual([403, 404]);
  });
});
