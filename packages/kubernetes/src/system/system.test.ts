/** The controllers that every cluster has, with two clusters and a fake clock. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClusterRole } from "../rbac/cluster-role.ts";
import { ConfigMap } from "../configmap/configmap-kind.ts";
import { Namespace } from "../namespace/namespace-kind.ts";
import { Secret } from "../secret/secret-kind.ts";
import { ServiceAccount } from "../serviceaccount/serviceaccount-kind.ts";
import { bootstrapRbac } from "../rbac/bootstrap-objects.ts";
import { kubernetesKinds } from "../kubernetes-definitions.ts";
import type { KubernetesObject, Kind } from "@flotilla/apimachinery";
import { createSeededRandom, silentLog } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { createInformers, createManager } from "@flotilla/controller-runtime";
import { createTestServer } from "@flotilla/testing/api-server.ts";
import { countWrites } from "@flotilla/testing/count-writes.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import type { WriteCounter } from "@flotilla/testing/count-writes.ts";
import { createSystemControllers } from "./create-system-controllers.ts";
import { defaultServiceAccount } from "./service-accounts/default-account.ts";
import { rootCertificateConfigMap } from "./root-certificates/config-map.ts";

const CERTIFICATE = "-----BEGIN CERTIFICATE-----\n";
const furnished = (name: string): KubernetesObject[] => [
  { apiVersion: "v1", kind: "Namespace", metadata: { name } },
  defaultServiceAccount(name),
  rootCertificateConfigMap(name, CERTIFICATE),
];
const profiles = {
  member: {
    builtIns: kubernetesKinds,
    customs: [],
    objects: [...furnished("default"), ...furnished("kube-system"), ...bootstrapRbac()],
  },
};

let client: Client;
let writes: WriteCounter;
let settle: () => Promise<void>;
let stop: () => Promise<void>;
beforeEach(async () => {
  const { server, clock, transport } = await createTestServer({
    profiles,
    clusters: { hub: "member", paris: "member" },
  });
  writes = countWrites(transport);
  const own = createClient({ transport: writes.transport, fieldManager: "kube-controller-manager" });
  client = createClient({ transport, fieldManager: "user" });
  const informers = createInformers({
    client: own,
    clock,
    log: silentLog,
    scope: { cluster: "*" },
    random: createSeededRandom(2),
  });
  const manager = createManager({ client: own, informers, clock, log: silentLog });
  manager.add(
    ...createSystemControllers({
      client: own,
      informers,
      clock,
      log: silentLog,
      home: "hub",
      rootCertificate: CERTIFICATE,
      issueSecretToken: async (cluster, namespace, { name }, secret) =>
        `token of ${cluster}/${namespace}/${name} in ${secret}`,
    }),
  );
  manager.start(new AbortController().signal);
  settle = () => reconcileUntilQuiet({ managers: [manager], server });
  stop = async () => {
    await manager.stop();
    informers.close();
    await server.close();
  };
  await settle();
});
afterEach(() => stop());

const find = async <T extends KubernetesObject>(
  kind: Kind<T>,
  name: string,
  namespace?: string,
  cluster = "paris",
): Promise<DeepReadonly<T> | undefined> => {
  const { items } = await client.list(kind, { cluster, namespace, fieldSelector: `metadata.name=${name}` });
  return items[0];
};
const addNamespace = async (name: string): Promise<void> => {
  await client.create(Namespace, "paris", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  await settle();
};
const textOf = (secret: DeepReadonly<Secret> | undefined, key: string): string =>
  Buffer.from(secret?.data?.[key] ?? "", "base64").toString();

test("writes nothing to unchanged clusters", () => {
  expect(writes.total()).toBe(0);
});

describe("a namespace", () => {
  test("gets its default service account and the root certificate, in its own cluster only", async () => {
    await addNamespace("shop");

    expect(await find(ServiceAccount, "default", "shop")).toBeDefined();
    expect((await find(ConfigMap, "kube-root-ca.crt", "shop"))?.data).toEqual({ "ca.crt": CERTIFICATE });
    expect(await find(ServiceAccount, "default", "shop", "hub")).toBeUndefined();
    expect(writes.total()).toBe(2);
  });

  test("gets them again when they are deleted, including those of the profile", async () => {
    await addNamespace("shop");
    for (const namespace of ["shop", "default"]) {
      await client.delete(ServiceAccount, { cluster: "paris", namespace, name: "default" });
      await client.delete(ConfigMap, { cluster: "paris", namespace, name: "kube-root-ca.crt" });
    }
    await settle();

    for (const namespace of ["shop", "default"]) {
      expect(await find(ServiceAccount, "default", namespace)).toBeDefined();
      expect(await find(ConfigMap, "kube-root-ca.crt", namespace)).toBeDefined();
    }
  });

  test("has a changed certificate corrected, and keeps annotations of other writers", async () => {
    await client.patch(
      ConfigMap,
      { cluster: "paris", namespace: "default", name: "kube-root-ca.crt" },
      { metadata: { annotations: { a: "b" } }, data: { "ca.crt": "forged", more: "x" } },
      { type: "merge" },
    );
    await settle();

    const configMap = await find(ConfigMap, "kube-root-ca.crt", "default");
    expect(configMap?.data).toEqual({ "ca.crt": CERTIFICATE });
    expect(configMap?.metadata.annotations).toMatchObject({ a: "b" });
  });

  test("gets nothing while it is terminating", async () => {
    await addNamespace("shop");
    await client.create(ConfigMap, "paris", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "held", namespace: "shop", finalizers: ["example.com/a"] },
    });

    await client.delete(Namespace, { cluster: "paris", name: "shop" });
    await settle();

    expect(await find(ServiceAccount, "default", "shop")).toBeUndefined();
  });
});

describe("a service account token Secret", () => {
  const ask = async (name: string, account: string): Promise<void> => {
    const metadata = { name, namespace: "default", annotations: { "kubernetes.io/service-account.name": account } };
    await client.create(Secret, "paris", {
      apiVersion: "v1",
      kind: "Secret",
      metadata,
      type: "kubernetes.io/service-account-token",
    });
    await settle();
  };

  test("is filled with a token", async () => {
    await ask("t", "default");

    const secret = await find(Secret, "t", "default");
    expect(textOf(secret, "token")).toBe("token of paris/default/default in t");
    expect([textOf(secret, "namespace"), textOf(secret, "ca.crt")]).toEqual(["default", CERTIFICATE]);
    expect(secret?.metadata.annotations?.["kubernetes.io/service-account.uid"]).toBe(
      (await find(ServiceAccount, "default", "default"))?.metadata.uid,
    );
  });

  test("a service account token Secret for a missing account is deleted", async () => {
    await ask("t", "missing");

    expect(await find(Secret, "t", "default")).toBeUndefined();
  });

  test("is deleted with its account", async () => {
    await client.create(ServiceAccount, "paris", {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "sa", namespace: "default" },
    });
    await ask("t", "sa");
    await ask("other", "default");

    await client.delete(ServiceAccount, { cluster: "paris", namespace: "default", name: "sa" });
    await settle();

    expect([await find(Secret, "t", "default"), await find(Secret, "other", "default")]).toEqual([
      undefined,
      expect.anything(),
    ]);
  });

  test("is removed from its account's secrets when it is deleted", async () => {
    await client.create(ServiceAccount, "paris", {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "sa", namespace: "default" },
      secrets: [{ name: "t" }, { name: "u" }],
    });
    await ask("t", "sa");

    await client.delete(Secret, { cluster: "paris", namespace: "default", name: "t" });
    await settle();

    expect((await find(ServiceAccount, "sa", "default"))?.secrets).toEqual([{ name: "u" }]);
  });
});

describe("an aggregated cluster role", () => {
  const role = (name: string, labels: Record<string, string>, resource: string): ClusterRole => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name, labels },
    rules: [{ verbs: ["get"], apiGroups: ["example.com"], resources: [resource] }],
  });
  const resourcesOf = async (name: string, cluster = "paris"): Promise<string[]> =>
    ((await find(ClusterRole, name, undefined, cluster))?.rules ?? []).flatMap(({ resources = [] }) => resources);

  test("follows the roles that it selects, transitively", async () => {
    await client.create(
      ClusterRole,
      "paris",
      role("widgets", { "rbac.authorization.k8s.io/aggregate-to-view": "true" }, "widgets"),
    );
    await settle();
    for (const name of ["view", "edit", "admin"]) expect(await resourcesOf(name)).toContain("widgets");
    expect(await resourcesOf("view", "hub")).not.toContain("widgets");

    await client.delete(ClusterRole, { cluster: "paris", name: "widgets" });
    await settle();

    for (const name of ["view", "edit", "admin"]) expect(await resourcesOf(name)).not.toContain("widgets");
  });

  test("an aggregated cluster role of a user aggregates rules by name, each rule once", async () => {
    const selector = { a: "b" };
    await client.create(ClusterRole, "paris", {
      ...role("all", {}, "nothing"),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: selector }, { matchLabels: selector }] },
    });
    await client.create(ClusterRole, "paris", role("y", selector, "ys"));
    await client.create(ClusterRole, "paris", role("x", selector, "xs"));
    await settle();

    expect(await resourcesOf("all")).toEqual(["xs", "ys"]);
  });
});
