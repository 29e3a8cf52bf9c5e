/**
 * CRDs of kinds that the server knows, as when a user installs OpenKruise's own CRDs on a cluster that came without.
 */
import { expect, test } from "vitest";
import { AdvancedStatefulSet, CloneSet } from "@flotilla/openkruise";
import { customResourceDefinitionOf } from "@flotilla/kubernetes";
import type { Kind } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import { MERGE, PROFILE, createTestServer, settleTicks } from "@flotilla/testing/api-server.ts";
import type { TestServer } from "@flotilla/testing/api-server.ts";

const CRDS = "/clusters/bare/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const SETS = "/clusters/bare/apis/apps.kruise.io/v1alpha1/namespaces/default/clonesets";
const KEY = { cluster: "bare", namespace: "default", name: "web" };

/** The CRD of a kind with only these versions, converted by a webhook, as upstream publishes it. */
function published(kind: Kind, versions: readonly string[], storage: string): JsonObject {
  const definition = JSON.parse(JSON.stringify(customResourceDefinitionOf(kind))) as JsonObject & {
    metadata: JsonObject;
    spec: { versions: (JsonObject & { name: string })[] };
  };
  return {
    ...definition,
    metadata: { name: definition.metadata.name ?? "" },
    spec: {
      ...definition.spec,
      versions: definition.spec.versions
        .filter(({ name }) => versions.includes(name))
        .map((version) => ({ ...version, storage: version.name === storage })),
      conversion: {
        strategy: "Webhook",
        webhook: {
          conversionReviewVersions: ["v1"],
          clientConfig: { service: { namespace: "kruise-system", name: "kruise-webhook-service", path: "/convert" } },
        },
      },
    },
  };
}

async function start(): Promise<TestServer> {
  return createTestServer({
    profiles: { hub: { ...PROFILE, customs: [CloneSet, AdvancedStatefulSet] }, bare: PROFILE },
    clusters: { hub: "hub", bare: "bare" },
  });
}

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const cloneSet = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: "apps.kruise.io/v1alpha1",
  kind: "CloneSet",
  metadata: { name: "web" },
  spec: { replicas: 2, selector: { matchLabels: { app: "web" } }, template, ...spec },
});

test("objects are defaulted and validated as on a cluster that has OpenKruise", async () => {
  const { request } = await start();
  await request("POST", CRDS, published(CloneSet, ["v1alpha1"], "v1alpha1"));

  const created = await request("POST", SETS, cloneSet());
  const refused = await request("PATCH", `${SETS}/web`, { spec: { updateStrategy: { partition: "abc" } } }, MERGE);

  expect(created.body).toMatchObject({
    apiVersion: "apps.kruise.io/v1alpha1",
    spec: {
      updateStrategy: { type: "ReCreate", maxUnavailable: "20%" },
      template: { spec: { restartPolicy: "Always" } },
    },
  });
  expect(refused).toMatchObject({
    status: 422,
    body: {
      message: expect.stringMatching(
        /^admission webhook "vcloneset\.kb\.io" denied the request: spec\.updateStrategy\.partition: /,
      ),
    },
  });
});

test("controllers see them in their own version, which is not served to clients", async () => {
  const { request, transport } = await start();
  const client = createClient({ transport, fieldManager: "controller" });
  await request("POST", CRDS, published(CloneSet, ["v1alpha1"], "v1alpha1"));
  await request("POST", SETS, cloneSet({ updateStrategy: { type: "InPlaceIfPossible", partition: 1 } }));

  const seen = await client.get(CloneSet, KEY);
  await client.updateStatus(CloneSet, "bare", {
    ...seen,
    status: { replicas: 2, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 0, updatedReadyReplicas: 0 },
  });
  const shown = await request("GET", `${SETS}/web`);
  const hidden = await request("GET", "/clusters/bare/apis/apps.kruise.io/v1beta1/namespaces/default/clonesets/web");

  expect(seen).toMatchObject({
    apiVersion: "apps.kruise.io/v1beta1",
    spec: {
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { podUpdatePolicy: "InPlaceIfPossible", partition: 1 } },
    },
  });
  expect(shown.body).toMatchObject({
    apiVersion: "apps.kruise.io/v1alpha1",
    spec: { updateStrategy: { type: "InPlaceIfPossible", partition: 1 } },
    status: { readyReplicas: 1 },
  });
  expect(hidden.status).toBe(404);
});

test("a controller that watches all clusters receives objects of a cluster whose CRD was created later", async () => {
  const { request, transport } = await start();
  const client = createClient({ transport, fieldManager: "controller" });
  const stopping = new AbortController();
  const seen: string[] = [];
  const watching = (async () => {
    for await (const batch of client.watch(CloneSet, { cluster: "*", signal: stopping.signal }))
      for (const event of batch)
        if (event.type === "ADDED") seen.push(`${event.object.apiVersion} ${event.object.metadata.name}`);
  })();
  await settleTicks();

  await request("POST", CRDS, published(CloneSet, ["v1alpha1"], "v1alpha1"));
  await request("POST", SETS, cloneSet());
  await settleTicks();
  stopping.abort();
  await watching;

  expect(seen).toEqual(["apps.kruise.io/v1beta1 web"]);
});

test("the server converts versions that a webhook would convert", async () => {
  const { request } = await start();
  await request("POST", CRDS, published(AdvancedStatefulSet, ["v1alpha1", "v1beta1"], "v1alpha1"));
  const at = (version: string): string =>
    `/clusters/bare/apis/apps.kruise.io/${version}/namespaces/default/statefulsets`;

  const created = await request("POST", at("v1beta1"), {
    ...cloneSet({ reserveOrdinals: [1] }),
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "StatefulSet",
  });
  const older = await request("GET", `${at("v1alpha1")}/web`);

  expect(created).toMatchObject({ status: 201, body: { spec: { reserveOrdinals: [1] } } });
  expect(older.body).toMatchObject({
    apiVersion: "apps.kruise.io/v1alpha1",
    spec: { podManagementPolicy: "OrderedReady" },
  });
  expect(older.body.spec).not.toHaveProperty("reserveOrdinals");
});

test("a CRD with an unknown version is served unchanged", async () => {
  const { request } = await start();
  const definition = published(CloneSet, ["v1alpha1"], "v1alpha1") as JsonObject & { spec: { versions: JsonObject[] } };
  await request("POST", CRDS, {
    ...definition,
    spec: { ...definition.spec, versions: definition.spec.versions.map((version) => ({ ...version, name: "v3" })) },
  });

  const { status } = await request("POST", SETS.replace("v1alpha1", "v3"), {
    ...cloneSet({ updateStrategy: { type: "ReCreate", partition: 0, maxUnavailable: 1, maxSurge: 0 } }),
    apiVersion: "apps.kruise.io/v3",
  });

  expect(status).toBe(201);
});

test("in a cluster that is left to other controllers, a kind is what its CRD says", async () => {
  const { request } = await createTestServer({
    profiles: { hub: { ...PROFILE, customs: [CloneSet] }, bare: { ...PROFILE, hasForeignKinds: true } },
    clusters: { hub: "hub", bare: "bare" },
  });
  const { spec, ...definition } = published(CloneSet, ["v1alpha1"], "v1alpha1");
  const { conversion: _, ...plain } = spec as JsonObject;
  await request("POST", CRDS, { ...definition, spec: plain });

  const { status, body } = await request("POST", SETS, cloneSet({ updateStrategy: { partition: "abc%" } }));

  // Rules of ours would reject the partition and fill in the rest.
  expect(status).toBe(201);
  expect((body.spec as JsonObject).updateStrategy).toEqual({ partition: "abc%" });
  expect((await request("GET", SETS.replace("v1alpha1", "v1beta1"))).status).toBe(404);
});

test("a CRD is shown for a kind defined in code, and that code converts its versions", async () => {
  const { request } = await createTestServer({ profiles: { hub: { ...PROFILE, customs: [CloneSet] } } });
  const { body } = await request(
    "GET",
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clonesets.apps.kruise.io`,
  );
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const cloneSet = (version: string): JsonObject => ({
    apiVersion: `apps.kruise.io/${version}`,
    kind: "CloneSet",
    metadata: { name: version },
    spec: { replicas: 2, selector: { matchLabels: { a: "b" } }, template },
  });

  const versions = ((body.spec as JsonObject).versions as JsonObject[]).map(({ name }) => name as string);
  for (const version of versions)
    await request("POST", `/apis/apps.kruise.io/${version}/namespaces/default/clonesets`, cloneSet(version));
  const lists = await Promise.all(
    versions.map((version) => request("GET", `/apis/apps.kruise.io/${version}/clonesets`)),
  );

  expect(body).toMatchObject({
    status: {
      conditions: expect.arrayContaining([expect.objectContaining({ type: "Established", status: "True" })]),
    },
  });
  for (const [index, list] of lists.entries())
    expect((list.body.items as JsonObject[]).map(({ apiVersion }) => apiVersion)).toEqual(
      versions.map(() => `apps.kruise.io/${versions[index]}`),
    );
});
