import { describe, expect, onTestFinished, test, vi } from "vitest";
import { LogicalCluster, logicalClusterAdmission } from "./logical-cluster-kind.ts";
import { ResourceQuota, kubernetesAdmissions } from "@flotilla/kubernetes";
import { dynamicKind } from "@flotilla/apimachinery";
import { createSeededRandom, silentLog } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createClusterRegistry } from "./clusters.ts";
import { createProfileLayer } from "./profiles.ts";
import {
  MERGE,
  PROFILE,
  createTestServer,
  holdCommits,
  makeConfigMap,
  makeDefinition,
  settleTicks,
} from "../test-server.ts";

const Gadget = dynamicKind({
  group: "example.com",
  version: "v1",
  kind: "Gadget",
  plural: "gadgets",
  scope: "Namespaced",
});
const profiles = { hub: PROFILE, member: { ...PROFILE, customs: [Gadget] } };
const clusters = { hub: "hub", paris: "member", oslo: "member" };
const CRDS = "apis/apiextensions.k8s.io/v1/customresourcedefinitions";

describe("logical clusters", () => {
  test("are separate APIs, and the hub is also served at the root", async () => {
    const { request } = await createTestServer({ profiles, clusters });

    await request("POST", "/clusters/paris/api/v1/namespaces/default/configmaps", makeConfigMap("m"));

    expect((await request("GET", "/clusters/paris/api/v1/namespaces/default/configmaps/m")).status).toBe(200);
    expect((await request("GET", "/clusters/oslo/api/v1/namespaces/default/configmaps/m")).status).toBe(404);
    expect((await request("GET", "/api/v1/namespaces/default")).body).toEqual(
      (await request("GET", "/clusters/hub/api/v1/namespaces/default")).body,
    );
    expect((await request("GET", "/clusters/nowhere/api/v1/pods")).body.message).toBe(
      'logicalclusters.flotilla.dev "nowhere" not found',
    );
  });

  test("contain the objects of their profile without a write", async () => {
    const { request, cache } = await createTestServer({ profiles, clusters });

    const { body } = await request("GET", "/clusters/paris/api/v1/namespaces");

    expect((body.items as JsonObject[]).map(({ metadata }) => (metadata as JsonObject).name)).toEqual([
      "default",
      "kube-system",
    ]);
    expect(cache.list("/core/")).toEqual([]);
  });

  test("give the same object a different but stable uid in each cluster", async () => {
    const { request } = await createTestServer({ profiles, clusters });
    const uidIn = async (cluster: string): Promise<unknown> =>
      ((await request("GET", `/clusters/${cluster}/api/v1/namespaces/default`)).body.metadata as JsonObject).uid;

    expect(await uidIn("paris")).toBe(await uidIn("paris"));
    expect(await uidIn("paris")).not.toBe(await uidIn("oslo"));
  });

  test("resolve owner references between objects of the profile in every cluster", async () => {
    const owned = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "owned",
        namespace: "default",
        ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "" }],
      },
    };
    const member = {
      ...PROFILE,
      objects: [
        ...PROFILE.objects,
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner", namespace: "default" } },
        owned,
      ],
    };
    const { request } = await createTestServer({ profiles: { hub: PROFILE, member }, clusters });
    const metadataOf = async (cluster: string, name: string): Promise<JsonObject> =>
      (await request("GET", `/clusters/${cluster}/api/v1/namespaces/default/configmaps/${name}`)).body
        .metadata as JsonObject;

    for (const cluster of ["paris", "oslo"]) {
      const { uid } = await metadataOf(cluster, "owner");
      expect((await metadataOf(cluster, "owned")).ownerReferences).toEqual([
        { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid },
      ]);
    }
  });

  test("copy an object of the profile on its first write", async () => {
    const { request } = await createTestServer({ profiles, clusters });
    const before = await request("GET", "/clusters/paris/api/v1/namespaces/default");

    const { body } = await request(
      "PATCH",
      "/clusters/paris/api/v1/namespaces/default",
      { metadata: { labels: { team: "a" } } },
      MERGE,
    );

    expect((body.metadata as JsonObject).uid).toBe((before.body.metadata as JsonObject).uid);
    expect(
      ((await request("GET", "/clusters/oslo/api/v1/namespaces/default")).body.metadata as JsonObject).labels,
    ).toEqual({ "kubernetes.io/metadata.name": "default" });
  });

  test("hide a deleted object of the profile, and allow it to be recreated", async () => {
    const { request, settle } = await createTestServer({ profiles, clusters });

    await request("DELETE", `/clusters/paris/${CRDS}/gadgets.example.com`);
    await settle();
    const gone = await request("GET", `/clusters/paris/${CRDS}/gadgets.example.com`);
    const elsewhere = await request("GET", `/clusters/oslo/${CRDS}/gadgets.example.com`);
    const served = await request("GET", "/clusters/paris/apis/example.com/v1/gadgets");

    expect([gone.status, elsewhere.status, served.status]).toEqual([404, 200, 404]);
  });

  test("survive a restart", async () => {
    const first = await createTestServer({ profiles, clusters });
    await first.request("POST", "/clusters/paris/api/v1/namespaces/default/configmaps", makeConfigMap("m"));
    const before = await first.request("GET", "/clusters/paris/api/v1/namespaces/default");
    await first.server.close();

    const second = await createTestServer({ profiles, clusters: {}, engine: first.engine });

    expect(second.server.clusters()).toEqual(["hub", "oslo", "paris"]);
    expect((await second.request("GET", "/clusters/paris/api/v1/namespaces/default")).body).toEqual(before.body);
    expect((await second.request("GET", "/clusters/paris/api/v1/namespaces/default/configmaps/m")).status).toBe(200);
  });

  test("are removed with all their objects", async () => {
    const { request, server, cache } = await createTestServer({ profiles, clusters });
    await request("POST", "/clusters/paris/api/v1/namespaces/default/configmaps", makeConfigMap("m"));

    await server.removeCluster("paris");

    expect(server.clusters()).toEqual(["hub", "oslo"]);
    expect(cache.list("/").filter(({ key }) => key.includes("paris"))).toEqual([]);
    expect(server.writes.counts().filter(({ cluster }) => cluster === "paris")).toEqual([]);
  });

  test("leave nothing to a later cluster of the same name when the server crashes during removal", async () => {
    const first = await createTestServer({ profiles, clusters });
    await first.request("POST", `/clusters/paris/${CRDS}`, makeDefinition());
    await first.settle();
    const WIDGETS = "/clusters/paris/apis/example.com/v1/namespaces/default/widgets";
    await first.request("POST", WIDGETS, {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "secret" },
    });
    const { commit } = first.engine;
    // The CRD is deleted but its object is not: the process ends here.
    const died = Promise.withResolvers<void>();
    first.engine.commit = (write) => {
      if (!write.key.startsWith("/example.com/widgets/paris/")) return commit.call(first.engine, write);
      died.resolve();
      return new Promise(() => {});
    };
    void first.server.removeCluster("paris");
    await died.promise;
    first.engine.commit = commit;
    const definitions = first.cache.count("/apiextensions.k8s.io/customresourcedefinitions/paris/");

    const second = await createTestServer({ profiles, clusters: {}, engine: first.engine });

    expect(definitions).toBe(0);
    expect(second.cache.list("/").filter(({ key }) => key.includes("paris"))).toEqual([]);
  });

  test("are removed with all their objects when their profile is no longer known", async () => {
    const first = await createTestServer({ profiles, clusters });
    await first.request("POST", "/clusters/paris/api/v1/namespaces/default/configmaps", makeConfigMap("m"));
    const record = first.cache.list("/flotilla.dev/logicalclusters/hub/paris").at(0);
    const marked = new TextDecoder()
      .decode(record?.value)
      .replace('"metadata":{', '"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z",');
    await first.server.close();
    await first.engine.commit({ key: record?.key ?? "", expect: "any", value: new TextEncoder().encode(marked) });
    await first.engine.commit({ key: "/flotilla.dev/logicalclusters/hub/oslo", expect: "any", value: null });

    const second = await createTestServer({ profiles: { hub: PROFILE }, clusters: {}, engine: first.engine });

    expect(second.cache.list("/").filter(({ key }) => key.includes("paris"))).toEqual([]);
  });

  test("reject a write that was held back while they were removed, also when they are added again", async () => {
    const { request, server, engine, cache, settle } = await createTestServer({ profiles, clusters });
    const held = holdCommits(engine, (key) => key.endsWith("/early"));
    const early = request("POST", "/clusters/paris/api/v1/namespaces/default/configmaps", makeConfigMap("early"));
    await held.reached;

    await server.removeCluster("paris");
    await server.addCluster("paris", "member");
    held.release();
    const answer = await early;
    await settle();

    expect([answer.status, answer.body.message]).toEqual([404, 'logicalclusters.flotilla.dev "paris" not found']);
    expect(cache.list("/").filter(({ key }) => key.includes("/paris/"))).toEqual([]);
    expect((await request("GET", "/clusters/paris/api/v1/namespaces/default/configmaps/early")).status).toBe(404);
  });

  test("reject writes that were requested before the removal and reach the store after it", async () => {
    const served = { ...profiles, member: { ...PROFILE, builtIns: [...PROFILE.builtIns, ResourceQuota] } };
    const { request, server, engine, cache } = await createTestServer({ profiles: served, clusters });
    await request("POST", "/clusters/paris/api/v1/namespaces/default/resourcequotas", {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "q" },
      spec: { hard: { "count/configmaps": "5" } },
    });
    await request(
      "PATCH",
      "/clusters/paris/api/v1/namespaces/default/resourcequotas/q/status",
      { status: { hard: { "count/configmaps": "5" }, used: { "count/configmaps": "0" } } },
      MERGE,
    );
    // The quota charge is in flight while the cluster is marked, and the object is written after it.
    const held = holdCommits(engine, (key) => key.endsWith("/q"));
    const late = request("POST", "/clusters/paris/api/v1/namespaces/default/configmaps", makeConfigMap("late"));
    await held.reached;

    const removed = server.removeCluster("paris");
    await settleTicks();
    held.release();
    await removed;

    expect((await late).body.message).toBe('logicalclusters.flotilla.dev "paris" not found');
    expect(cache.list("/").filter(({ key }) => key.includes("paris"))).toEqual([]);
  });

  test("notify subscribers of their removal, with the id that they had", async () => {
    const { server } = await createTestServer({ profiles, clusters });
    const id = server.clusterId("paris");
    const reported: string[][] = [];
    server.onClusterGone((...gone) => reported.push(gone));

    await server.removeCluster("paris");
    await server.removeCluster("nowhere");

    expect(reported).toEqual([["paris", id]]);
  });

  test("require the hub, which stores the list of clusters", async () => {
    const { server } = await createTestServer({ profiles, clusters });

    await expect(server.removeCluster("hub")).rejects.toThrow("the hub cannot be removed");
    expect(server.clusters()).toContain("hub");
  });

  describe("as objects of the hub", () => {
    const LOGICAL = "/apis/flotilla.dev/v1alpha1/logicalclusters";
    const served = { ...profiles, hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, LogicalCluster] } };
    const admissions = [...kubernetesAdmissions, logicalClusterAdmission(["hub", "member"])];
    const start = (): ReturnType<typeof createTestServer> =>
      createTestServer({ profiles: served, clusters, admissions });

    test("are listed, and created by creating a LogicalCluster", async () => {
      const { request } = await start();

      const created = await request("POST", LOGICAL, { metadata: { name: "rome" }, spec: { profile: "member" } });
      const { body } = await request("GET", LOGICAL);

      expect(created.status).toBe(201);
      expect((body.items as JsonObject[]).map(({ metadata }) => (metadata as JsonObject).name)).toEqual([
        "hub",
        "oslo",
        "paris",
        "rome",
      ]);
      expect((await request("GET", "/clusters/rome/api/v1/namespaces/default")).status).toBe(200);
    });

    test("are removed with all their objects when their LogicalCluster is deleted", async () => {
      const { request, server, settle, cache } = await start();
      await request("POST", "/clusters/paris/api/v1/namespaces/default/configmaps", makeConfigMap("m"));

      const deleted = await request("DELETE", `${LOGICAL}/paris`);
      await settle();

      expect(deleted.status).toBe(200);
      expect(server.clusters()).toEqual(["hub", "oslo"]);
      expect(cache.list("/").filter(({ key }) => key.includes("paris"))).toEqual([]);
    });

    const refusals: Record<
      string,
      [method: string, path: string, body: object | undefined, status: number, text: string]
    > = {
      "an unknown profile": [
        "POST",
        LOGICAL,
        { metadata: { name: "rome" }, spec: { profile: "x" } },
        422,
        'spec.profile: Unsupported value: "x": supported values: "hub", "member"',
      ],
      "a missing profile": [
        "POST",
        LOGICAL,
        { metadata: { name: "rome" }, spec: {} },
        422,
        "spec.profile: Required value",
      ],
      "a name that is not a path segment": [
        "POST",
        LOGICAL,
        { metadata: { name: "a.b" }, spec: { profile: "member" } },
        422,
        "must consist of lower-case letters, digits and '-'",
      ],
      "an update": [
        "PUT",
        `${LOGICAL}/paris`,
        { metadata: { name: "paris" }, spec: { profile: "hub" } },
        405,
        "does not allow this method",
      ],
      "deletion of the hub": ["DELETE", `${LOGICAL}/hub`, undefined, 422, "the hub cannot be deleted"],
    };
    for (const [what, [method, path, body, status, text]] of Object.entries(refusals)) {
      test(`reject ${what}`, async () => {
        const { request } = await start();

        const answer = await request(method, path, body);

        expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(text)]);
      });
    }
  });

  test("can be added twice with the same profile, but not with another", async () => {
    const { server } = await createTestServer({ profiles, clusters });

    await server.addCluster("paris", "member");

    await expect(server.addCluster("paris", "hub")).rejects.toThrow("exists with profile member");
    await expect(server.addCluster("Not A Name", "hub")).rejects.toThrow("a name consists of lower-case letters");
    await expect(server.addCluster("rome", "nope")).rejects.toThrow("there is no profile nope");
  });

  test("share one resource table until their CRDs differ, and share again when they are equal", async () => {
    const { request, cache, clock } = await createTestServer({ profiles, clusters });
    const registry = createClusterRegistry({
      cache,
      clock,
      random: createSeededRandom(2),
      log: silentLog,
      profiles: new Map([
        ["hub", createProfileLayer("hub", PROFILE)],
        ["member", createProfileLayer("member", profiles.member)],
      ]),
      knownKinds: [],
    });
    const tables = (): unknown[] => ["paris", "oslo"].map((name) => registry.get(name)?.table);
    const [paris, oslo] = tables();
    expect(paris).toBe(oslo);

    await request("POST", `/clusters/paris/${CRDS}`, makeDefinition());
    for (const cluster of registry.all()) registry.refresh(cluster);
    const [own, shared] = tables();
    await request("POST", `/clusters/oslo/${CRDS}`, makeDefinition());
    for (const cluster of registry.all()) registry.refresh(cluster);
    const [left, right] = tables();

    expect(own).not.toBe(paris);
    expect(shared).toBe(oslo);
    expect(left).toBe(right);
    registry.close();
  });

  test("parse the content of a CRD once, however often the clusters are refreshed", async () => {
    const { request, cache, clock, settle } = await createTestServer({ profiles, clusters });
    await request("POST", `/clusters/paris/${CRDS}`, makeDefinition());
    await settle();
    const registry = createClusterRegistry({
      cache,
      clock,
      random: createSeededRandom(2),
      log: silentLog,
      profiles: new Map([
        ["hub", createProfileLayer("hub", PROFILE)],
        ["member", createProfileLayer("member", profiles.member)],
      ]),
      knownKinds: [],
    });
    const stringify = vi.spyOn(JSON, "stringify");
    onTestFinished(() => stringify.mockRestore());

    for (const cluster of registry.all()) registry.refresh(cluster);

    expect(stringify).not.toHaveBeenCalled();
    registry.close();
  });
});
