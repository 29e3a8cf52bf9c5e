import { describe, expect, test } from "vitest";
import { CloneSet, LogicalCluster, builtInAdmissions, logicalClusterAdmission } from "../api/index.ts";
import { createSeededRandom, silentLog } from "../base/index.ts";
import type { JsonObject } from "../base/index.ts";
import { createClusterRegistry } from "./clusters.ts";
import { InFlight } from "./in-flight.ts";
import { createProfileLayer } from "./profiles.ts";
import { MERGE, PROFILE, createTestServer, makeConfigMap, makeDefinition } from "./test-server.ts";

const profiles = { hub: PROFILE, member: { ...PROFILE, customs: [CloneSet] } };
const clusters = { hub: "hub", paris: "member", oslo: "member" };
const CRDS = "apis/apiextensions.k8s.io/v1/customresourcedefinitions";

describe("logical clusters", () => {
  test("are whole APIs of their own, and the hub is also at the root", async () => {
    const { request } = await createTestServer({ profiles, clusters });

    await request("POST", "/clusters/paris/api/v1/namespaces/default/configmaps", makeConfigMap("m"));

    expect((await request("GET", "/clusters/paris/api/v1/namespaces/default/configmaps/m")).status).toBe(200);
    expect((await request("GET", "/clusters/oslo/api/v1/namespaces/default/configmaps/m")).status).toBe(404);
    expect((await request("GET", "/api/v1/namespaces/default")).body).toEqual((await request("GET", "/clusters/hub/api/v1/namespaces/default")).body);
    expect((await request("GET", "/clusters/nowhere/api/v1/pods")).body.message).toBe('logicalclusters.flotilla.dev "nowhere" not found');
  });

  test("start with the objects of their profile, which cost no write", async () => {
    const { request, cache } = await createTestServer({ profiles, clusters });

    const { body } = await request("GET", "/clusters/paris/api/v1/namespaces");

    expect((body.items as JsonObject[]).map(({ metadata }) => (metadata as JsonObject).name)).toEqual(["default", "kube-system"]);
    expect(cache.list("/core/")).toEqual([]);
  });

  test("give the same object another uid in each cluster, and always the same one", async () => {
    const { request } = await createTestServer({ profiles, clusters });
    const uidIn = async (cluster: string): Promise<unknown> => ((await request("GET", `/clusters/${cluster}/api/v1/namespaces/default`)).body.metadata as JsonObject).uid;

    expect(await uidIn("paris")).toBe(await uidIn("paris"));
    expect(await uidIn("paris")).not.toBe(await uidIn("oslo"));
  });

  test("copy an object of the profile up when it is written", async () => {
    const { request } = await createTestServer({ profiles, clusters });
    const before = await request("GET", "/clusters/paris/api/v1/namespaces/default");

    const { body } = await request("PATCH", "/clusters/paris/api/v1/namespaces/default", { metadata: { labels: { team: "a" } } }, MERGE);

    expect((body.metadata as JsonObject).uid).toBe((before.body.metadata as JsonObject).uid);
    expect(((await request("GET", "/clusters/oslo/api/v1/namespaces/default")).body.metadata as JsonObject).labels).toEqual({ "kubernetes.io/metadata.name": "default" });
  });

  test("keep a deleted object of the profile away, and let it be made again", async () => {
    const { request, settle } = await createTestServer({ profiles, clusters });

    await request("DELETE", `/clusters/paris/${CRDS}/clonesets.apps.kruise.io`);
    await settle();
    const gone = await request("GET", `/clusters/paris/${CRDS}/clonesets.apps.kruise.io`);
    const elsewhere = await request("GET", `/clusters/oslo/${CRDS}/clonesets.apps.kruise.io`);
    const served = await request("GET", "/clusters/paris/apis/apps.kruise.io/v1alpha1/clonesets");

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

  test("go with everything in them", async () => {
    const { request, server, cache } = await createTestServer({ profiles, clusters });
    await request("POST", "/clusters/paris/api/v1/namespaces/default/configmaps", makeConfigMap("m"));

    await server.removeCluster("paris");

    expect(server.clusters()).toEqual(["hub", "oslo"]);
    expect(cache.list("/").filter(({ key }) => key.includes("paris"))).toEqual([]);
  });

  describe("as objects of the hub", () => {
    const LOGICAL = "/apis/flotilla.dev/v1alpha1/logicalclusters";
    const served = { ...profiles, hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, LogicalCluster] } };
    const admissions = [...builtInAdmissions, logicalClusterAdmission(["hub", "member"])];
    const start = (): ReturnType<typeof createTestServer> => createTestServer({ profiles: served, clusters, admissions });

    test("are listed, and made by creating one", async () => {
      const { request } = await start();

      const created = await request("POST", LOGICAL, { metadata: { name: "rome" }, spec: { profile: "member" } });
      const { body } = await request("GET", LOGICAL);

      expect(created.status).toBe(201);
      expect((body.items as JsonObject[]).map(({ metadata }) => (metadata as JsonObject).name)).toEqual(["hub", "oslo", "paris", "rome"]);
      expect((await request("GET", "/clusters/rome/api/v1/namespaces/default")).status).toBe(200);
    });

    test("go with everything in them when one is deleted", async () => {
      const { request, server, settle, cache } = await start();
      await request("POST", "/clusters/paris/api/v1/namespaces/default/configmaps", makeConfigMap("m"));

      const deleted = await request("DELETE", `${LOGICAL}/paris`);
      await settle();

      expect(deleted.status).toBe(200);
      expect(server.clusters()).toEqual(["hub", "oslo"]);
      expect(cache.list("/").filter(({ key }) => key.includes("paris"))).toEqual([]);
    });

    const refusals: Record<string, [method: string, path: string, body: object | undefined, status: number, text: string]> = {
      "a profile that nobody knows": ["POST", LOGICAL, { metadata: { name: "rome" }, spec: { profile: "x" } }, 422, 'spec.profile: Unsupported value: "x": supported values: "hub", "member"'],
      "no profile": ["POST", LOGICAL, { metadata: { name: "rome" }, spec: {} }, 422, "spec.profile: Required value"],
      "a name that is no path": ["POST", LOGICAL, { metadata: { name: "a.b" }, spec: { profile: "member" } }, 422, "a name is lower-case letters, digits and '-'"],
      "a change": ["PUT", `${LOGICAL}/paris`, { metadata: { name: "paris" }, spec: { profile: "hub" } }, 405, "does not allow this method"],
      "the end of the hub": ["DELETE", `${LOGICAL}/hub`, undefined, 422, "the hub cannot be deleted"],
    };
    for (const [what, [method, path, body, status, text]] of Object.entries(refusals)) {
      test(`refuse ${what}`, async () => {
        const { request } = await start();

        const answer = await request(method, path, body);

        expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(text)]);
      });
    }
  });

  test("can be added twice with the same profile, not with another", async () => {
    const { server } = await createTestServer({ profiles, clusters });

    await server.addCluster("paris", "member");

    await expect(server.addCluster("paris", "hub")).rejects.toThrow("exists with profile member");
    await expect(server.addCluster("Not A Name", "hub")).rejects.toThrow("a name is lower-case letters");
    await expect(server.addCluster("rome", "nope")).rejects.toThrow("there is no profile nope");
  });

  test("share one resource table until their definitions differ, and share again when they are equal", async () => {
    const { request, cache, clock } = await createTestServer({ profiles, clusters });
    const registry = createClusterRegistry({ cache, clock, random: createSeededRandom(2), log: silentLog, profiles: new Map([["hub", createProfileLayer("hub", PROFILE)], ["member", createProfileLayer("member", profiles.member)]]), knownKinds: [], inFlight: new InFlight() });
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
});
