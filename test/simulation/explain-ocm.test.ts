/**
 * Explanations of Open Cluster Management's objects on a running hub, and of objects propagated by both Karmada and
 * OCM.
 */
import { beforeEach, expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { ClusterRole, ClusterRoleBinding, ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import {
  ManagedCluster,
  ManagedClusterSetBinding,
  ManifestWork,
  ManifestWorkReplicaSet,
  OcmPlacement,
} from "@flotilla/ocm";
import { PropagationPolicy } from "@flotilla/karmada";
import type { JsonObject } from "@flotilla/base";
import { commands, createOutput, parseCommandLine } from "@flotilla/cli";
import type { CommandContext } from "@flotilla/cli";
import type { Explanation } from "@flotilla/flotilla";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet, type TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
let fleet: TestFleet;

beforeEach(async () => {
  fleet = endsWithTest(await startTestFleet({ members: ["member1", "member2"] }));
  await fleet.client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.run(SETTLED_MS);
});

async function why(...argv: string[]): Promise<string> {
  const command = await commands.find(({ name }) => name === "why")?.load();
  if (!command) throw new Error("there is no command why");
  const { args, flags, format } = parseCommandLine(command, [...argv, "--kubeconfig", "hub.kubeconfig"]);
  let text = "";
  const output = createOutput({
    format,
    write: (part) => (text += part),
    warn: (part) => (text += part),
    showProgress: () => {},
  });
  const context = {
    args,
    flags,
    output,
    signal: new AbortController().signal,
    clock: fleet.clock,
    connect: () =>
      Promise.resolve({ client: fleet.client, server: "https://hub.example.com", close: () => Promise.resolve() }),
    environment: {},
  };
  await command.run(context as unknown as CommandContext<never>);
  return text;
}
const whyData = async (...argv: string[]): Promise<Explanation> =>
  JSON.parse(await why(...argv, "-o", "json")) as Explanation;

const work = async (cluster: string, name: string, ...manifests: unknown[]): Promise<void> => {
  await fleet.client.create(ManifestWork, HUB, {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { namespace: cluster, name },
    spec: { workload: { manifests: manifests as JsonObject[] } },
  });
  await fleet.run(SETTLED_MS);
};
const settings = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name: "settings" },
  data: { a: "1" },
};

test("a Placement explains for each cluster why it was chosen or excluded", async () => {
  await fleet.client.patch(
    ManagedCluster,
    { cluster: HUB, name: "member1" },
    { metadata: { labels: { env: "prod" } } },
    { type: "merge" },
  );
  await fleet.client.create(ManagedClusterSetBinding, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta2",
    kind: "ManagedClusterSetBinding",
    metadata: { namespace: "shop", name: "default" },
    spec: { clusterSet: "default" },
  });
  await fleet.client.create(OcmPlacement, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta1",
    kind: "Placement",
    metadata: { namespace: "shop", name: "web" },
    spec: { predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { env: "prod" } } } }] },
  });
  await fleet.run(SETTLED_MS);

  const text = await why("placement/web", "-n", "shop");

  expect(text).toMatch(/member1 +selected +200 +100 +100/);
  expect(text).toMatch(/member2 +rejected .*Predicate: it is not labelled env=prod/);
});

test("a ManifestWork explains the state of each object", async () => {
  await work("member1", "web", settings, makeDeployment("default/web").build(), {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "w", namespace: "default" },
  });

  const text = await why("manifestwork/web", "-n", "member1");

  expect(text).toContain("ConfigMap default/settings: applied, available");
  expect(text).toContain("Deployment default/web: applied, available\n    conditions  Progressing=True");
  expect(text).toContain('Widget default/w: not applied: the server doesn\'t have a resource type "Widget"');
});

test("an object that exists only on members is traced to its ManifestWork", async () => {
  await work("member2", "config", settings);

  const text = await why("configmap/settings");

  expect(text).toContain("member2: ManifestWork member2/config, applied");
  await expect(why("configmap/other")).rejects.toThrow(
    "ConfigMap other in namespace default not found on the hub, and no ManifestWork applies one to members",
  );
});

test("a kind without an explanation is rejected", async () => {
  await expect(why("managedcluster/member1")).rejects.toThrow("a ManagedCluster is not scheduled");
  await expect(why("cluster/member1")).rejects.toThrow("a Cluster is a hub object and is never propagated");
  await expect(why("placement/none")).rejects.toThrow("Placement none in namespace default not found on the hub");
});

test("an object of both a Work and a ManifestWork has one owner, and both explanations name it", async () => {
  await fleet.client.create(
    PropagationPolicy,
    HUB,
    makePolicy("default/all").selects("apps/v1", "Deployment", "web").duplicates("member1").build(),
  );
  await fleet.client.create(Deployment, HUB, makeDeployment("default/web").build());
  await fleet.run(SETTLED_MS);
  await work("member1", "web", makeDeployment("default/web").build());

  const [ofWork, ofDeployment] = [await whyData("mw/web", "-n", "member1"), await whyData("deployment/web")];

  expect(ofWork.manifests).toMatchObject([
    { kind: "Deployment", applied: false, alsoBy: "PropagationPolicy default/all" },
  ]);
  expect(ofWork.problems).toMatchObject([
    {
      what: "Deployment default/web was not applied: PropagationPolicy default/all already owns it on this member, and an object has one owner",
    },
  ]);
  expect(ofDeployment.works).toMatchObject([{ cluster: "member1", name: "web", applied: false }]);
  expect(ofDeployment.members).toMatchObject([{ cluster: "member1", applied: true }]);
});

test("an object that works deliver has the problems that its works have", async () => {
  const broken = { ...makeDeployment("default/web").build(), spec: { replicas: 1 } };
  await work("member1", "first", settings, broken);
  await work("member2", "second", broken);

  const [first, delivered] = [await whyData("mw/first", "-n", "member1"), await whyData("deployment/web")];

  expect(first.problems).toHaveLength(1);
  expect(first.problems[0]?.what).toMatch(/^Deployment default\/web was not applied: .*spec\.selector: Required value/);
  expect(delivered.problems).toEqual([
    { ...first.problems[0], what: `member1, member2: ${first.problems[0]?.what ?? ""}` },
  ]);
  expect((await whyData("configmap/settings")).problems).toEqual([]);
});

test("an explanation requires permission to read the explained object", async () => {
  const rbac = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "ann" },
  };
  const rules = (...more: object[]) =>
    ({
      rules: [{ apiGroups: ["explain.flotilla.dev"], resources: ["explanations"], verbs: ["get"] }, ...more],
    }) as Pick<ClusterRole, "rules">;
  await fleet.client.create(ClusterRole, HUB, {
    apiVersion: rbac.apiVersion,
    kind: "ClusterRole",
    metadata: { name: "ann" },
    ...rules(),
  });
  await fleet.client.create(ClusterRoleBinding, HUB, {
    ...rbac,
    kind: "ClusterRoleBinding",
    metadata: { name: "ann" },
    subjects: [{ apiGroup: rbac.roleRef.apiGroup, kind: "User", name: "ann" }],
  });
  await work("member1", "web", settings);
  const ask = async (path: string): Promise<number> =>
    (
      await fleet.hub.server.handle({
        method: "GET",
        path: `/apis/explain.flotilla.dev/v1alpha1/namespaces/${path}`,
        query: new URLSearchParams(),
        headers: { "user-agent": "test/1" },
        body: new Uint8Array(),
        user: { name: "ann", groups: ["system:authenticated"] },
        signal: new AbortController().signal,
      })
    ).status;

  const without = [
    await ask("member1/explanations/web-manifestwork"),
    await ask("default/explanations/settings-configmap"),
  ];
  await fleet.client.patch(
    ClusterRole,
    { cluster: HUB, name: "ann" },
    rules({ apiGroups: ["work.open-cluster-management.io"], resources: ["manifestworks"], verbs: ["get"] }) as never,
    { type: "merge" },
  );
  await fleet.run(1_000);

  expect(without).toEqual([403, 403]);
  expect([
    await ask("member1/explanations/web-manifestwork"),
    await ask("default/explanations/settings-configmap"),
  ]).toEqual([200, 403]);
});

test("a ManifestWorkReplicaSet explains the progress of each cluster", async () => {
  await fleet.client.create(ManagedClusterSetBinding, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta2",
    kind: "ManagedClusterSetBinding",
    metadata: { namespace: "shop", name: "default" },
    spec: { clusterSet: "default" },
  });
  await fleet.client.create(OcmPlacement, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta1",
    kind: "Placement",
    metadata: { namespace: "shop", name: "all" },
    spec: {},
  });
  await fleet.client.create(ManifestWorkReplicaSet, HUB, {
    apiVersion: "work.open-cluster-management.io/v1alpha1",
    kind: "ManifestWorkReplicaSet",
    metadata: { namespace: "shop", name: "web" },
    spec: {
      cascadeDeletionPolicy: "Background",
      manifestWorkTemplate: { workload: { manifests: [settings] } },
      placementRefs: [
        {
          name: "all",
          rolloutStrategy: { type: "Progressive", progressive: { maxConcurrency: 1, minSuccessTime: "10m" } },
        },
      ],
    },
  });
  await fleet.run(SETTLED_MS);

  const { rollout } = await whyData("mwrs/web", "-n", "shop");

  expect(rollout).toMatchObject([
    {
      placement: "all",
      strategy: "Progressive",
      counts: { Succeeded: 1, Waiting: 1 },
      clusters: [
        { cluster: "member2", state: "Waiting", message: expect.stringMatching(/^comes after member1, not before /) },
        { cluster: "member1", state: "Succeeded" },
      ],
    },
  ]);
  expect(
    await fleet.client.list(ConfigMap, {
      cluster: "member2",
      namespace: "default",
      fieldSelector: "metadata.name=settings",
    }),
  ).toMatchObject({ items: [] });
});

test("a work that is being deleted explains which objects remain, and the member's error", async () => {
  const held = { ...settings, metadata: { ...settings.metadata, name: "held", finalizers: ["example.dev/wait"] } };
  await work("member1", "web", settings, held);
  await work("member1", "system", { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } });
  for (const name of ["web", "system"])
    await fleet.client.delete(ManifestWork, { cluster: HUB, namespace: "member1", name });
  await fleet.run(SETTLED_MS);

  const [ofWeb, ofSystem] = [await why("mw/web", "-n", "member1"), await why("mw/system", "-n", "member1")];

  expect(ofWeb).toContain("ConfigMap default/settings: deleted");
  expect(ofWeb).toContain("ConfigMap default/held: still exists");
  expect(ofWeb).toContain("it is being deleted and waits for ConfigMap default/held to be removed from the member");
  expect(ofSystem).toMatch(/it is being deleted, and the member rejects the deletion: .*kube-system/);
});

test("a conflict of two works names the other work", async () => {
  await work("member1", "first", settings);
  await work("member1", "second", { ...settings, data: { a: "2" } });

  const text = await why("mw/first", "-n", "member1");

  expect(text).toContain("is also held by ManifestWork member1/second, which specifies other values");
  expect(text).toContain("remove it from one of the two works");
});
