import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN } from "../test-server.ts";
import { ANN, RBAC, bindingTo, configMaps, createAccessServer } from "./test-access.ts";
import type { AccessServer } from "./test-access.ts";

let server: AccessServer;
beforeEach(async () => {
  server = await createAccessServer();
});
const MAPS = "/api/v1/namespaces/default/configmaps";
const codeOf = async (method: string, path: string, user = ANN): Promise<number> =>
  (await server.ask(user, method, path)).code;

describe("roles and bindings", () => {
  test("a Role allows only its verbs, only in its namespace", async () => {
    await server.allow(configMaps(["list"]));

    expect(await codeOf("GET", MAPS)).toBe(200);
    expect(await codeOf("DELETE", MAPS)).toBe(403);
    expect(await codeOf("GET", "/api/v1/namespaces/kube-system/configmaps")).toBe(403);
    expect(await codeOf("GET", "/api/v1/configmaps")).toBe(403);
  });

  test("a ClusterRole applies where it is bound", async () => {
    await server.make(`${RBAC}/clusterroles`, { metadata: { name: "c" }, rules: [configMaps(["list"])] });
    await server.make(
      `${RBAC}/namespaces/default/rolebindings`,
      bindingTo("local", { kind: "ClusterRole", name: "c" }),
    );
    expect([await codeOf("GET", MAPS), await codeOf("GET", "/api/v1/configmaps")]).toEqual([200, 403]);

    await server.make(`${RBAC}/clusterrolebindings`, bindingTo("everywhere", { kind: "ClusterRole", name: "c" }));

    expect(await codeOf("GET", "/api/v1/configmaps")).toBe(200);
  });

  const subjects: Record<string, { subject: { kind: string; name: string; namespace?: string }; user: typeof ANN }> = {
    "a group": { subject: { kind: "Group", name: "ops" }, user: { name: "x", groups: ["ops"] } },
    "a service account of the same namespace": {
      subject: { kind: "ServiceAccount", name: "sa", namespace: "default" },
      user: { name: "system:serviceaccount:default:sa", groups: [] },
    },
  };
  for (const [who, { subject, user }] of Object.entries(subjects)) {
    test(`a binding may name ${who}`, async () => {
      await server.allow(configMaps(["list"]));
      await server.make(
        `${RBAC}/namespaces/default/rolebindings`,
        bindingTo("b2", { kind: "Role", name: "r" }, subject),
      );

      expect(await codeOf("GET", MAPS, user)).toBe(200);
    });
  }

  test("a field selector on one name counts as reading that object, and is ignored for other verbs", async () => {
    await server.allow(configMaps(["*"], { resourceNames: ["m"] }));
    await server.make(MAPS, { metadata: { name: "m" } });

    expect(await codeOf("GET", `${MAPS}?fieldSelector=metadata.name%3Dm`)).toBe(200);
    expect(await codeOf("GET", `${MAPS}?fieldSelector=metadata.name%3Dn`)).toBe(403);
    expect(await codeOf("DELETE", `${MAPS}?fieldSelector=metadata.name%3Dm`)).toBe(403);
    expect(await codeOf("POST", `${MAPS}?fieldSelector=metadata.name%3Dm`)).toBe(403);
  });

  test("a role in a namespace may allow reading the namespace itself", async () => {
    await server.allow({ apiGroups: [""], resources: ["namespaces"], verbs: ["get"] });

    expect(await codeOf("GET", "/api/v1/namespaces/default")).toBe(200);
    expect(await codeOf("GET", "/api/v1/namespaces/kube-system")).toBe(403);
  });

  test("exec and proxy requests use the verbs create and get, whatever the path is called", async () => {
    expect((await server.ask(ANN, "POST", "/api/v1/namespaces/default/pods/p/exec")).body.message).toBe(
      'pods "p" is forbidden: User "ann" cannot create resource "pods/exec" in API group "" in the namespace "default"',
    );
    expect((await server.ask(ANN, "GET", "/api/v1/nodes/n/proxy/x")).body.message).toBe(
      'nodes "n" is forbidden: User "ann" cannot get resource "nodes/proxy" in API group "" at the cluster scope',
    );
  });

  test("the error names a role that does not exist", async () => {
    await server.make(`${RBAC}/namespaces/default/rolebindings`, bindingTo("b", { kind: "Role", name: "gone" }));

    expect((await server.ask(ANN, "GET", MAPS)).body.message).toBe(
      'configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" in the namespace ' +
        '"default": RBAC: role.rbac.authorization.k8s.io "gone" not found',
    );
  });
});

describe("authorization follows the stored roles and bindings", () => {
  test("a changed role and a deleted binding take effect", async () => {
    await server.allow(configMaps(["list"]));
    expect(await codeOf("GET", MAPS)).toBe(200);

    await server.ask(
      ADMIN,
      "PATCH",
      `${RBAC}/namespaces/default/roles/r`,
      { rules: [configMaps(["get"])] },
      { "content-type": "application/merge-patch+json" },
    );
    await server.settle();
    expect([await codeOf("GET", MAPS), await codeOf("GET", `${MAPS}/m`)]).toEqual([403, 404]);

    await server.ask(ADMIN, "DELETE", `${RBAC}/namespaces/default/rolebindings/b`);
    await server.settle();
    expect(await codeOf("GET", `${MAPS}/m`)).toBe(403);
  });

  test("a profile's binding can be deleted in one cluster and stays in the others", async () => {
    expect(await codeOf("GET", "/apis")).toBe(200);

    await server.ask(ADMIN, "DELETE", `${RBAC}/clusterrolebindings/system:discovery`);
    await server.settle();

    expect([await codeOf("GET", "/apis"), await codeOf("GET", "/clusters/paris/apis")]).toEqual([403, 200]);
  });

  test("a profile's role can be changed in one cluster and stays unchanged in the others", async () => {
    await server.ask(
      ADMIN,
      "PATCH",
      `${RBAC}/clusterroles/system:discovery`,
      { rules: [] },
      { "content-type": "application/merge-patch+json" },
    );
    await server.settle();

    expect([await codeOf("GET", "/apis"), await codeOf("GET", "/clusters/paris/apis")]).toEqual([403, 200]);
  });

  test("rights in one cluster do not apply in another", async () => {
    await server.allow(configMaps(["list"]));

    expect([await codeOf("GET", MAPS), await codeOf("GET", `/clusters/paris${MAPS}`)]).toEqual([200, 403]);
  });

  test("requests to a nonexistent cluster are forbidden, as in a cluster without rights", async () => {
    expect(await codeOf("GET", `/clusters/nowhere${MAPS}`)).toBe(403);
  });
});

describe("the bootstrap roles", () => {
  const anonymousUser = { name: "system:anonymous", groups: ["system:unauthenticated"] };
  const cases: Record<string, { user: typeof ANN; path: string; want: number }> = {
    "anonymous users may read the version": { user: anonymousUser, path: "/version", want: 200 },
    "anonymous users may not read discovery": { user: anonymousUser, path: "/apis", want: 403 },
    "authenticated users may read discovery": { user: ANN, path: "/api/v1", want: 200 },
    "authenticated users may not read single health checks": { user: ANN, path: "/healthz/etcd", want: 403 },
    "system:masters may do everything": {
      user: { name: "x", groups: ["system:masters"] },
      path: "/api/v1/secrets",
      want: 200,
    },
    "the scheduler may read nodes": {
      user: { name: "system:kube-scheduler", groups: [] },
      path: "/api/v1/nodes",
      want: 200,
    },
    "a controller's service account may do its work": {
      user: { name: "system:serviceaccount:kube-system:replicaset-controller", groups: [] },
      path: "/api/v1/pods",
      want: 200,
    },
  };
  for (const [behaviour, { user, path, want }] of Object.entries(cases)) {
    test(behaviour, async () => expect(await codeOf("GET", path, user)).toBe(want));
  }
});
