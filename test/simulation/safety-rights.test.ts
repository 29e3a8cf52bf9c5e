/**
 * The hub's controllers may do everything; its users may not. Ann may do everything in the namespace `shop`, including
 * bindings and Works, and nothing anywhere else. Each test is one attempt of hers to make the controllers act for her
 * on objects in `bank`.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Deployment,
  Event,
  Namespace,
  Role,
  RoleBinding,
  Secret,
} from "@flotilla/kubernetes";
import { PropagationPolicy, ResourceBinding, ResourceInterpreterCustomization, Work } from "@flotilla/karmada";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const ANN = { name: "ann", groups: ["system:authenticated"] };
const RBAC = "rbac.authorization.k8s.io";
const VAULT = { cluster: "hub", namespace: "bank", name: "vault-deployment" };

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: object;
  spec?: object;
  data?: object;
}

let fleet: TestFleet;
beforeEach(async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  const { client } = fleet;
  for (const name of ["shop", "bank"])
    await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  await client.create(Role, "hub", {
    apiVersion: `${RBAC}/v1`,
    kind: "Role",
    metadata: { namespace: "shop", name: "all" },
    rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
  });
  await client.create(RoleBinding, "hub", {
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: { namespace: "shop", name: "ann" },
    roleRef: { apiGroup: RBAC, kind: "Role", name: "all" },
    subjects: [{ apiGroup: RBAC, kind: "User", name: "ann" }],
  });
  await client.create(
    PropagationPolicy,
    "hub",
    makePolicy("bank/all").selects("apps/v1", "Deployment").duplicates("member1").build(),
  );
  await client.create(Deployment, "hub", makeDeployment("bank/vault").replicas(2).build());
  await client.create(Secret, "hub", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "bank", name: "key" },
    stringData: { key: "s3cret" },
  });
  await fleet.run(SETTLED_MS);
});
afterEach(() => fleet.stop());

/** The response to a request of Ann. */
async function ask(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ code: number; body: JsonObject }> {
  const { status, body: bytes } = await fleet.hub.server.handle({
    method,
    path,
    query: new URLSearchParams(),
    headers: {
      "user-agent": "test/1",
      "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
      ...headers,
    },
    body: new TextEncoder().encode(body ? JSON.stringify(body) : ""),
    user: ANN,
    signal: new AbortController().signal,
  });
  const text = Buffer.concat([bytes].flat() as Uint8Array[]).toString();
  return { code: status, body: text.startsWith("{") ? (JSON.parse(text) as JsonObject) : {} };
}
/** Ann creates an object in her namespace, which is allowed, and the controllers process it. */
async function make(plural: string, object: Manifest): Promise<void> {
  const prefix = object.apiVersion.includes("/") ? "/apis" : "/api";
  const { code, body } = await ask("POST", `${prefix}/${object.apiVersion}/namespaces/shop/${plural}`, object);
  expect([code, body["message"]]).toEqual([201, undefined]);
  await fleet.run(SETTLED_MS);
}
const workOf = async (member: string, name: string): Promise<DeepReadonly<Work> | undefined> =>
  (await fleet.client.list(Work, { cluster: "hub", namespace: `karmada-es-${member}` })).items.find(({ metadata }) =>
    metadata.name.startsWith(`${name}-`),
  );
const bindingFor = (resource: object, metadata: object = {}): Manifest => ({
  apiVersion: "work.karmada.io/v1alpha2",
  kind: "ResourceBinding",
  metadata: { namespace: "shop", name: "forged", ...metadata },
  spec: { resource, clusters: [{ name: "member2" }] },
});

test("she has no permissions outside of her namespace, whatever the version or subresource", async () => {
  const paths = [
    "/api/v1/namespaces/bank/secrets/key",
    "/apis/work.karmada.io/v1alpha2/namespaces/bank/resourcebindings/vault-deployment",
    "/apis/work.karmada.io/v1alpha1/namespaces/bank/resourcebindings/vault-deployment",
    "/apis/explain.flotilla.dev/v1alpha1/namespaces/bank/explanations/vault-deployment",
    "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-member1/works",
    "/apis/cluster.karmada.io/v1alpha1/clusters/member1/proxy/api/v1/secrets",
    "/apis/cluster.karmada.io/v1alpha1/clusters/member1",
    "/clusters/member1/api/v1/namespaces",
  ];

  const answers = await Promise.all(paths.map((path) => ask("GET", path)));

  expect(answers.map(({ code }) => code)).toEqual(paths.map(() => 403));
});

describe("an explanation", () => {
  const explanation = "/apis/explain.flotilla.dev/v1alpha1/namespaces/shop/explanations/web-deployment";
  const grant = async (...rules: object[]): Promise<void> => {
    await fleet.client.patch(Role, { cluster: "hub", namespace: "shop", name: "all" }, { rules } as never, {
      type: "merge",
    });
    await fleet.run(1_000);
  };
  beforeEach(async () => {
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("member1").build(),
    );
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").build());
    await fleet.run(SETTLED_MS);
  });

  test("also needs permission for the explained object", async () => {
    await grant({ apiGroups: ["explain.flotilla.dev"], resources: ["explanations"], verbs: ["get"] });
    const without = await ask("GET", explanation);
    await grant(
      { apiGroups: ["explain.flotilla.dev"], resources: ["explanations"], verbs: ["get"] },
      { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get"], resourceNames: ["web"] },
    );
    const withBoth = await ask("GET", explanation);

    expect([without.code, without.body["message"]]).toEqual([
      403,
      'deployments.apps "web" is forbidden: User "ann" cannot get resource "deployments" in API group "apps" in the namespace "shop"',
    ]);
    expect([withBoth.code, withBoth.body["resource"]]).toMatchObject([200, { kind: "Deployment", name: "web" }]);
  });

  test("is not readable with permission for the explained object alone", async () => {
    await grant({ apiGroups: ["apps"], resources: ["deployments"], verbs: ["get"] });

    expect((await ask("GET", explanation)).code).toBe(403);
  });
});

describe("a hand-written binding", () => {
  test("propagates nothing of another namespace, and reports it", async () => {
    const key = await fleet.client.get(Secret, { cluster: "hub", namespace: "bank", name: "key" });
    await make(
      "resourcebindings",
      bindingFor({ apiVersion: "v1", kind: "Secret", namespace: "bank", name: "key", uid: key.metadata.uid }),
    );

    expect(await find(fleet.client, Secret, { cluster: "member2", namespace: "bank", name: "key" })).toBeUndefined();
    expect(await workOf("member2", "key")).toBeUndefined();
    expect(
      (await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: "forged" })).status
        ?.conditions,
    ).toContainEqual(expect.objectContaining({ type: "Dispatched", status: "False", reason: "ForeignResource" }));
  });

  test("propagates no cluster-scoped object", async () => {
    const role = await fleet.client.create(ClusterRole, "hub", {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRole",
      metadata: { name: "root" },
      rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
    });
    await make(
      "resourcebindings",
      bindingFor({ apiVersion: `${RBAC}/v1`, kind: "ClusterRole", name: "root", uid: role.metadata.uid }),
    );

    expect(await find(fleet.client, ClusterRole, { cluster: "member2", name: "root" })).toBeUndefined();
  });

  test("gets no access to another binding's Works by claiming its id, neither while it exists nor when it is deleted", async () => {
    const { metadata } = await fleet.client.get(ResourceBinding, VAULT);
    const before = await workOf("member1", "vault");
    await fleet.client.create(ConfigMap, "hub", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "shop", name: "own" },
    });
    const own = await fleet.client.get(ConfigMap, { cluster: "hub", namespace: "shop", name: "own" });

    await make(
      "resourcebindings",
      bindingFor(
        { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "own", uid: own.metadata.uid },
        {
          labels: {
            "resourcebinding.karmada.io/permanent-id": metadata.labels?.["resourcebinding.karmada.io/permanent-id"],
          },
        },
      ),
    );
    await ask("DELETE", "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings/forged");
    await fleet.run(SETTLED_MS);

    expect((await workOf("member1", "vault"))?.metadata.uid).toBe(before?.metadata.uid);
    expect(
      await find(fleet.client, Deployment, { cluster: "member1", namespace: "bank", name: "vault" }),
    ).toBeDefined();
  });

  test("moves nothing but its own resource, whatever evictions she writes into it", async () => {
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("member1").build(),
    );
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").build());
    await fleet.run(SETTLED_MS);
    const tasks = ["member1", "../member2", "karmada-es-member1", ""].map((fromCluster) => ({
      fromCluster,
      reason: "Mine",
      producer: "ann",
      purgeMode: "Directly",
      preservedLabelState: { "karmada.io/managed": "false" },
    }));

    const { code } = await ask(
      "PATCH",
      "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings/web-deployment",
      { spec: { gracefulEvictionTasks: tasks } },
    );
    await fleet.run(30 * 60_000);

    expect(code).toBe(200);
    expect((await fleet.client.get(ResourceBinding, VAULT)).spec.clusters).toEqual([{ name: "member1", replicas: 2 }]);
    expect(
      await find(fleet.client, Deployment, { cluster: "member1", namespace: "bank", name: "vault" }),
    ).toBeDefined();
  });
});

test("a Work in her own namespace belongs to no member: it neither reports for another binding nor blocks her namespace", async () => {
  const real = await workOf("member1", "vault");
  const { labels, annotations } = real?.metadata ?? {};
  const before = await fleet.client.get(ResourceBinding, VAULT);
  await make("works", {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { namespace: "shop", name: "forged", labels, annotations },
    spec: {
      workload: { manifests: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "bank", name: "hers" } }] },
    },
  });
  await ask("PATCH", "/apis/work.karmada.io/v1alpha1/namespaces/shop/works/forged/status", {
    status: {
      conditions: [
        {
          type: "Applied",
          status: "False",
          reason: "Forged",
          message: "down",
          lastTransitionTime: "2024-05-01T12:00:00Z",
        },
      ],
    },
  });
  await fleet.run(SETTLED_MS);

  expect((await fleet.client.get(ResourceBinding, VAULT)).status?.aggregatedStatus).toEqual(
    before.status?.aggregatedStatus,
  );
  await ask("DELETE", "/apis/work.karmada.io/v1alpha1/namespaces/shop/works/forged");
  await fleet.run(SETTLED_MS);
  expect(await find(fleet.client, Work, { cluster: "hub", namespace: "shop", name: "forged" })).toBeUndefined();
});

describe("a dependency of a template", () => {
  /** A rule as administrators write them: the template names the namespace. */
  const luaScript = `function GetDependencies(obj)
    return { { apiVersion = obj.data.apiVersion, kind = obj.data.kind, namespace = obj.data.namespace, name = obj.data.name } }
  end`;
  const needing = (data: Record<string, string>): Manifest => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "wish" },
    data: { apiVersion: "v1", ...data },
  });
  const toKey = { kind: "Secret", namespace: "bank", name: "key" };
  const keyOn = (cluster: string): Promise<DeepReadonly<Secret> | undefined> =>
    find(fleet.client, Secret, { cluster, namespace: "bank", name: "key" });
  const share = async (value: string | null): Promise<void> => {
    await fleet.client.patch(
      Secret,
      { cluster: "hub", namespace: "bank", name: "key" },
      { metadata: { annotations: { "flotilla.dev/shared-with": value } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);
  };
  beforeEach(async () => {
    await fleet.client.create(ResourceInterpreterCustomization, "hub", {
      apiVersion: "config.karmada.io/v1alpha1",
      kind: "ResourceInterpreterCustomization",
      metadata: { name: "wishes" },
      spec: {
        target: { apiVersion: "v1", kind: "ConfigMap" },
        customizations: { dependencyInterpretation: { luaScript } },
      },
    });
    await make("propagationpolicies", {
      ...makePolicy("shop/wish")
        .selects("v1", "ConfigMap")
        .duplicates("member2")
        .with(({ spec }) => (spec.propagateDeps = true))
        .build(),
    });
  });

  test("is not propagated from another namespace, and an event on the template explains why, once", async () => {
    await make("configmaps", needing(toKey));
    await ask("PATCH", "/api/v1/namespaces/shop/configmaps/wish", { metadata: { labels: { a: "b" } } });
    await fleet.run(SETTLED_MS);

    expect(await keyOn("member2")).toBeUndefined();
    const reported = (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items.filter(
      ({ reason }) => reason === "GetDependenciesFailed",
    );
    expect(reported.map(({ message, count }) => [message, count ?? 1])).toEqual([
      [
        "The dependency on Secret bank/key is skipped: it is in another namespace, and its annotation flotilla.dev/shared-with does not name this namespace.",
        1,
      ],
    ]);
  });

  test("is propagated once its owner shares it with her namespace, and removed when the sharing ends", async () => {
    await make("configmaps", needing(toKey));

    await share("web, shop");
    expect(await keyOn("member2")).toBeDefined();
    await share("web");
    expect(await keyOn("member2")).toBeUndefined();
  });

  test("cannot be a system namespace, even if shared", async () => {
    await fleet.client.patch(
      Namespace,
      { cluster: "hub", name: "kube-system" },
      { metadata: { annotations: { "flotilla.dev/shared-with": "*" } } },
      { type: "merge" },
    );
    await make("configmaps", needing({ kind: "Namespace", name: "kube-system" }));

    expect(await workOf("member2", "kube-system")).toBeUndefined();
  });
});

test("a policy of her namespace selects nothing of another, and overrides nothing there", async () => {
  const greedy = makePolicy("shop/greedy")
    .selects("v1", "Secret", "key")
    .selects("apps/v1", "Deployment", "vault")
    .duplicates("member2")
    .with(({ spec }) => (spec.preemption = "Always"))
    .build();
  const elsewhere = {
    ...greedy,
    spec: {
      ...greedy.spec,
      resourceSelectors: greedy.spec.resourceSelectors.map((selector) => ({ ...selector, namespace: "bank" })),
    },
  };
  expect(
    (await ask("POST", "/apis/policy.karmada.io/v1alpha1/namespaces/shop/propagationpolicies", elsewhere)).code,
  ).toBe(403);
  const override = (namespace: object): Manifest => ({
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { namespace: "shop", name: "none" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", ...namespace, name: "vault" }],
      overrideRules: [{ overriders: { plaintext: [{ path: "/spec/replicas", operator: "replace", value: 0 }] } }],
    },
  });
  expect(
    (
      await ask(
        "POST",
        "/apis/policy.karmada.io/v1alpha1/namespaces/shop/overridepolicies",
        override({ namespace: "bank" }),
      )
    ).code,
  ).toBe(403);

  await make("propagationpolicies", { ...greedy });
  await make("overridepolicies", override({}));
  await fleet.run(SETTLED_MS);

  expect(await find(fleet.client, Secret, { cluster: "member2", namespace: "bank", name: "key" })).toBeUndefined();
  expect((await fleet.client.get(ResourceBinding, VAULT)).spec.clusters).toEqual([{ name: "member1", replicas: 2 }]);
  expect(
    (await fleet.client.get(Deployment, { cluster: "member1", namespace: "bank", name: "vault" })).spec.replicas,
  ).toBe(2);
});

test("a forged claim on her template does not assign a policy that does not select it", async () => {
  const bank = await fleet.client.get(PropagationPolicy, { cluster: "hub", namespace: "bank", name: "all" });
  const id = bank.metadata.labels?.["propagationpolicy.karmada.io/permanent-id"] ?? "";
  await make(
    "deployments",
    makeDeployment("shop/web")
      .with(({ metadata }) =>
        Object.assign(metadata, {
          labels: {
            "propagationpolicy.karmada.io/permanent-id": id,
            "clusterpropagationpolicy.karmada.io/permanent-id": id,
          },
          annotations: { "propagationpolicy.karmada.io/namespace": "bank", "propagationpolicy.karmada.io/name": "all" },
        }),
      )
      .build(),
  );

  expect((await fleet.client.list(ResourceBinding, { cluster: "hub", namespace: "shop" })).items).toEqual([]);
  expect(await find(fleet.client, Deployment, { cluster: "member1", namespace: "shop", name: "web" })).toBeUndefined();
  expect(
    (await fleet.client.get(PropagationPolicy, { cluster: "hub", namespace: "bank", name: "all" })).status?.matched,
  ).toBe(1);
});

test("Flotilla's own labels in a template are overwritten in its copies", async () => {
  const real = await workOf("member1", "vault");
  await make("propagationpolicies", {
    ...makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("member1").build(),
  });
  await make(
    "deployments",
    makeDeployment("shop/web")
      .with(
        ({ metadata }) =>
          (metadata.annotations = {
            "work.karmada.io/namespace": "karmada-es-member2",
            "work.karmada.io/name": real?.metadata.name ?? "",
            "resourcebinding.karmada.io/name": "vault-deployment",
            "flotilla.dev/released-from": `karmada-es-member1/${real?.metadata.name ?? ""}`,
          }),
      )
      .build(),
  );

  const { metadata } = await fleet.client.get(Deployment, { cluster: "member1", namespace: "shop", name: "web" });
  expect(metadata.annotations).toMatchObject({
    "work.karmada.io/namespace": "karmada-es-member1",
    "resourcebinding.karmada.io/name": "web-deployment",
    "resourcebinding.karmada.io/namespace": "shop",
  });
  expect((await fleet.client.get(ResourceBinding, VAULT)).status?.aggregatedStatus).toHaveLength(1);
});

describe("the proxy of a Cluster", () => {
  beforeEach(async () => {
    await fleet.client.create(ClusterRole, "hub", {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRole",
      metadata: { name: "proxy" },
      rules: [
        { apiGroups: ["cluster.karmada.io"], resources: ["clusters/proxy"], resourceNames: ["member1"], verbs: ["*"] },
      ],
    });
    await fleet.client.create(ClusterRoleBinding, "hub", {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "proxy" },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "proxy" },
      subjects: [{ apiGroup: RBAC, kind: "User", name: "ann" }],
    });
    await fleet.run(1_000);
  });
  const member1 = "/apis/cluster.karmada.io/v1alpha1/clusters/member1/proxy";

  test("allows her what the member allows her", async () => {
    const answer = await ask("GET", `${member1}/api/v1/namespaces/bank/secrets`);

    expect([answer.code, answer.body["message"]]).toEqual([
      403,
      'secrets is forbidden: User "ann" cannot list resource "secrets" in API group "" in the namespace "bank"',
    ]);
  });

  const ways: Record<string, { path: string; headers?: Record<string, string> }> = {
    "by impersonating another user": {
      path: `${member1}/api/v1/secrets`,
      headers: { "impersonate-user": "admin", "impersonate-group": "system:masters" },
    },
    "with front proxy headers": {
      path: `${member1}/api/v1/secrets`,
      headers: { "x-remote-user": "admin", "x-remote-group": "system:masters" },
    },
    "of another member": { path: "/apis/cluster.karmada.io/v1alpha1/clusters/member2/proxy/api/v1/secrets" },
    "of the hub with dots": { path: `${member1}/../hub/api/v1/secrets` },
    "of the hub with escaped dots": { path: `${member1}/%2e%2e/hub/api/v1/secrets` },
    "through the member's own clusters path": { path: `${member1}/clusters/hub/api/v1/secrets` },
  };
  for (const [way, { path, headers }] of Object.entries(ways)) {
    test(`gives no access ${way}`, async () => {
      const { code, body } = await ask("GET", path, undefined, headers);

      expect([403, 404]).toContain(code);
      expect(body["items"]).toBeUndefined();
    });
  }
});
