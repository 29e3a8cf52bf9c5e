/**
 * Replays the requests of stock karmadactl 1.18, as its log shows them, against an in-process hub, and checks the parts
 * of the responses that each command reads. The output of the commands is checked with the binary itself in
 * `test/e2e/karmadactl.test.ts`.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSigningKey } from "@flotilla/apiserver";
import type { Json, JsonObject } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { createPeer } from "./karmadactl-peer.ts";
import type { Peer } from "./karmadactl-peer.ts";

const CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters";
const POLICIES = "/apis/policy.karmada.io/v1alpha1/namespaces/shop/propagationpolicies";
const MEMBER1 = `${CLUSTERS}/member1/proxy`;
const TABLE =
  "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
const DISCOVERY =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;" +
  "v=v2beta1;as=APIGroupDiscoveryList,application/json";
/** karmadactl's typed clients prefer protobuf, and accept JSON. */
const TYPED = "application/vnd.kubernetes.protobuf,application/json";
const MERGE = { "content-type": "application/merge-patch+json" };
/** Channels of exec and attach. */
const [STDOUT, ERROR] = [1, 3];
/** The parameters of a streaming list followed by a watch. */
const STREAMED =
  "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=433&watch=true";

interface Row {
  cells: Json[];
  object: { metadata: { labels?: Record<string, string> } };
}

/** Created once, before any test starts. */
const signingKey = Promise.resolve(await createSigningKey());
let fleet: TestFleet;
let peer: Peer;

const box = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "box", namespace: "shop", annotations: { "simulation.flotilla.dev/cpu-usage": "100m" } },
  spec: {
    containers: ["main", "side"].map((name) => ({
      name,
      image: "busybox:1.37",
      command: ["sh", "-c", `echo hello from ${name}; sleep 3600`],
    })),
  },
};
const policyFor = (apiVersion: string, kind: string, name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: `${name}-policy`, namespace: "shop" },
  spec: {
    resourceSelectors: [{ apiVersion, kind, name }],
    placement: { clusterAffinity: { clusterNames: ["member1"] } },
    ...more,
  },
});
const configMap = (name: string): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop" },
  data: { colour: "blue" },
});

async function create(url: string, body: JsonObject): Promise<JsonObject> {
  const answer = await peer.ask("POST", url, { body });
  expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
  return answer.body;
}

beforeAll(async () => {
  const connectMember = (): Promise<never> => Promise.reject(new UnreachableError("no such host"));
  fleet = await startTestFleet({
    members: ["member1", "member2"],
    nodes: 1,
    kruise: "none",
    signingKey: () => signingKey,
    connectMember,
  });
  peer = createPeer(fleet.hub.server);
  await create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.settle();
  await create("/api/v1/namespaces/shop/pods", box);
  await create(POLICIES, policyFor("v1", "Pod", "box"));
  await create("/api/v1/namespaces/shop/configmaps", configMap("settings"));
  await create(POLICIES, policyFor("v1", "ConfigMap", "settings"));
  await fleet.run(30_000);
  await create("/clusters/member1/api/v1/namespaces/shop/configmaps", configMap("own"));
});
afterAll(() => fleet.stop());

describe("get", () => {
  test("lists the members, checks access to each, and reads a table in which managed objects are marked", async () => {
    const clusters = await peer.ask("GET", CLUSTERS);
    const reached = await peer.ask("GET", `${MEMBER1}/api`);
    const listed = await peer.ask("GET", `${MEMBER1}/api/v1/namespaces/shop/configmaps?limit=500`, {
      headers: { accept: TABLE },
    });

    expect(
      (clusters.body["items"] as unknown as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
    ).toEqual(["member1", "member2"]);
    expect([reached.status, reached.body["kind"]]).toEqual([200, "APIVersions"]);
    expect(listed.body).toMatchObject({
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
      columnDefinitions: [{ name: "Name" }, { name: "Data" }, { name: "Age" }],
    });
    const rows = listed.body["rows"] as unknown as Row[];
    expect(rows.map(({ cells, object }) => [cells[0], object.metadata.labels?.["karmada.io/managed"]])).toEqual([
      ["own", undefined],
      ["settings", "true"],
    ]);
  });

  test("reads objects of members unchanged, and reports missing ones", async () => {
    const found = await peer.ask("GET", `${MEMBER1}/api/v1/namespaces/shop/configmaps/settings`, {
      headers: { accept: "application/json" },
    });
    const missing = await peer.ask("GET", `${MEMBER1}/api/v1/namespaces/shop/configmaps/none`, {
      headers: { accept: "application/json" },
    });
    const nowhere = await peer.ask("GET", `${CLUSTERS}/nowhere`);

    expect(found.body).toMatchObject({ kind: "ConfigMap", metadata: { name: "settings" }, data: { colour: "blue" } });
    expect([missing.status, missing.body["message"]]).toEqual([404, 'configmaps "none" not found']);
    expect([nowhere.status, nowhere.body["message"]]).toEqual([404, 'clusters.cluster.karmada.io "nowhere" not found']);
  });

  test("watches a member through the hub, as table rows", async () => {
    const listed = await peer.ask("GET", `${MEMBER1}/api/v1/namespaces/shop/configmaps?limit=500`, {
      headers: { accept: TABLE },
    });
    const { resourceVersion } = listed.body["metadata"] as { resourceVersion: string };
    const watching = await peer.open(
      `${MEMBER1}/api/v1/namespaces/shop/configmaps?resourceVersion=${resourceVersion}&watch=true`,
      { accept: TABLE },
    );

    await peer.ask("POST", "/clusters/member1/api/v1/namespaces/shop/configmaps", { body: configMap("seen") });
    const text = await watching.until(/\n/);
    watching.close();

    const event = JSON.parse(text.split("\n")[0] ?? "") as { type: string; object: { kind: string; rows: Row[] } };
    expect(event).toMatchObject({
      type: "ADDED",
      object: { kind: "Table", rows: [{ cells: ["seen", 1, expect.anything()] }] },
    });
  });
});

test("describe reads an object of a member with its events", async () => {
  const found = await peer.ask("GET", `${MEMBER1}/api/v1/namespaces/shop/pods/box`, { headers: { accept: TYPED } });
  const { uid = "" } = found.body["metadata"] as { uid?: string };
  for (const name of ["box", "other"])
    await create("/clusters/member1/api/v1/namespaces/shop/events", {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${name}.1`, namespace: "shop" },
      involvedObject: { kind: "Pod", namespace: "shop", name, uid },
      reason: "Pulled",
    });
  const selector = encodeURIComponent(
    `involvedObject.name=box,involvedObject.namespace=shop,involvedObject.uid=${uid}`,
  );
  const events = await peer.ask("GET", `${MEMBER1}/api/v1/namespaces/shop/events?fieldSelector=${selector}&limit=500`, {
    headers: { accept: "application/json" },
  });

  expect(found.headers["content-type"]).toBe("application/vnd.kubernetes.protobuf");
  expect(events.body["kind"]).toBe("EventList");
  expect(events.body["items"]).toMatchObject([{ metadata: { name: "box.1" }, reason: "Pulled" }]);
});

test("cordon and uncordon replace the taints of a Cluster, which the response shows", async () => {
  const cordoned = await peer.ask("PATCH", `${CLUSTERS}/member2`, {
    headers: MERGE,
    body: { spec: { taints: [{ effect: "NoSchedule", key: "cluster.karmada.io/unschedulable" }] } },
  });
  const uncordoned = await peer.ask("PATCH", `${CLUSTERS}/member2`, {
    headers: MERGE,
    body: { spec: { taints: null } },
  });

  expect(cordoned).toMatchObject({
    status: 200,
    body: { spec: { taints: [{ key: "cluster.karmada.io/unschedulable", effect: "NoSchedule" }] } },
  });
  expect(uncordoned.status).toBe(200);
  expect(uncordoned.body["spec"]).not.toHaveProperty("taints");
});

test("taint with an unknown effect is rejected", async () => {
  const tainted = await peer.ask("PATCH", `${CLUSTERS}/member2`, {
    headers: MERGE,
    body: { spec: { taints: [{ effect: "NoSchedule", key: "a", value: "b" }] } },
  });
  const refused = await peer.ask("PATCH", `${CLUSTERS}/member2`, {
    headers: MERGE,
    body: { spec: { taints: [{ effect: "Sometimes", key: "a" }] } },
  });
  await peer.ask("PATCH", `${CLUSTERS}/member2`, { headers: MERGE, body: { spec: { taints: null } } });

  expect(tainted).toMatchObject({
    status: 200,
    body: { spec: { taints: [{ key: "a", value: "b", effect: "NoSchedule" }] } },
  });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("Sometimes")]);
});

test("top reads the usage of a member's pods and nodes, although it prefers protobuf", async () => {
  const headers = { accept: "application/vnd.kubernetes.protobuf, */*" };
  const groups = await peer.ask("GET", `${MEMBER1}/apis?timeout=32s`, { headers: { accept: DISCOVERY } });
  const pods = await peer.ask("GET", `${MEMBER1}/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods`, { headers });
  const nodes = await peer.ask("GET", `${MEMBER1}/apis/metrics.k8s.io/v1beta1/nodes`, { headers });

  expect(groups.text).toContain('"metrics.k8s.io"');
  expect(pods.headers["content-type"]).toBe("application/json");
  expect(pods.body).toMatchObject({
    kind: "PodMetricsList",
    items: [
      {
        metadata: { name: "box" },
        containers: [
          { name: "main", usage: { cpu: "50m" } },
          { name: "side", usage: { cpu: "50m" } },
        ],
      },
    ],
  });
  expect(nodes.body).toMatchObject({
    kind: "NodeMetricsList",
    items: [{ metadata: { name: "node-000" }, usage: { cpu: expect.anything() as string } }],
  });
});

test("logs reads the lines of a container, and continues with follow", async () => {
  const last = await peer.ask("GET", `${MEMBER1}/api/v1/namespaces/shop/pods/box/log?container=main&tailLines=1`);
  const unknown = await peer.ask("GET", `${MEMBER1}/api/v1/namespaces/shop/pods/box/log?container=none`);
  const followed = await peer.open(`${MEMBER1}/api/v1/namespaces/shop/pods/box/log?container=side&follow=true`);
  const text = await followed.until(/hello/);
  followed.close();

  expect([last.headers["content-type"], last.text]).toEqual(["text/plain", "hello from main\n"]);
  expect([unknown.status, unknown.body["message"]]).toEqual([400, "container none is not valid for pod box"]);
  expect(text).toContain("hello from side\n");
});

describe("exec", () => {
  const url = (command: string, container = "main"): string =>
    `${MEMBER1}/api/v1/namespaces/shop/pods/box/exec?command=${command}&container=${container}&stderr=true&stdout=true`;

  test("runs a command over a WebSocket through the hub, and receives its exit status", async () => {
    const connected = await peer.connect(url("hostname"));
    if ("refused" in connected) throw new Error(connected.refused.text);

    expect(connected.headers).toMatchObject({
      upgrade: "websocket",
      connection: "Upgrade",
      "sec-websocket-protocol": "v5.channel.k8s.io",
      "sec-websocket-accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
    });
    expect(JSON.parse(await connected.socket.until(ERROR, /\}$/))).toMatchObject({ status: "Success" });
    expect(await connected.socket.until(STDOUT, /\n/)).toBe("box\n");
  });

  test("receives the exit code of a command that fails", async () => {
    const connected = await peer.connect(url("curl"));
    if ("refused" in connected) throw new Error(connected.refused.text);

    expect(JSON.parse(await connected.socket.until(ERROR, /\}$/))).toMatchObject({
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "126" }] },
    });
  });

  test("is rejected before the connection is upgraded, and again on the SPDY fallback", async () => {
    const connected = await peer.connect(url("hostname", "none"));
    const fallback = await peer.ask("POST", url("hostname", "none"), {
      headers: { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v5.channel.k8s.io" },
    });

    expect("refused" in connected && [connected.refused.status, connected.refused.body["message"]]).toEqual([
      400,
      "container none is not valid for pod box",
    ]);
    expect([fallback.status, fallback.body["message"]]).toEqual([400, "container none is not valid for pod box"]);
  });
});

test("attach streams a container's output over a WebSocket through the hub", async () => {
  const connected = await peer.connect(
    `${MEMBER1}/api/v1/namespaces/shop/pods/box/attach?container=side&stderr=true&stdout=true`,
  );
  if ("refused" in connected) throw new Error(connected.refused.text);

  const text = await connected.socket.until(STDOUT, /hello/);
  connected.socket.destroy();

  expect(text).toContain("hello from side\n");
});

test("apply with clusters creates an object and a policy for it, and updates that policy later", async () => {
  const query = "fieldManager=kubectl-client-side-apply&fieldValidation=Strict";
  const absent = await peer.ask("GET", "/api/v1/namespaces/shop/configmaps/applied", {
    headers: { accept: "application/json" },
  });
  await create(`/api/v1/namespaces/shop/configmaps?${query}`, configMap("applied"));
  await create(`${POLICIES}?${query}`, policyFor("v1", "ConfigMap", "applied"));
  await fleet.settle();
  const before = await peer.ask("GET", "/clusters/member2/api/v1/namespaces/shop/configmaps/applied");
  const changed = await peer.ask("PATCH", `${POLICIES}/applied-policy?${query}`, {
    headers: MERGE,
    body: { spec: { placement: { clusterAffinity: { clusterNames: ["member1", "member2"] } } } },
  });
  await fleet.run(5_000);

  const after = await peer.ask("GET", "/clusters/member2/api/v1/namespaces/shop/configmaps/applied");
  expect([absent.status, before.status, changed.status, after.status]).toEqual([404, 404, 200, 200]);
});

describe("promote", () => {
  test("adopts an object of a member on the hub, without changing its workload", async () => {
    await peer.ask("POST", "/clusters/member1/api/v1/namespaces/shop/configmaps", { body: configMap("legacy") });
    const found = await peer.ask("GET", `${MEMBER1}/api/v1/namespaces/shop/configmaps/legacy`, {
      headers: { accept: "application/json" },
    });
    const template = {
      ...configMap("legacy"),
      metadata: {
        name: "legacy",
        namespace: "shop",
        annotations: { "work.karmada.io/conflict-resolution": "overwrite" },
      },
    };
    await create("/api/v1/namespaces/shop/configmaps", template);
    await create(
      POLICIES,
      policyFor("v1", "ConfigMap", "legacy", { conflictResolution: "Overwrite", preserveResourcesOnDeletion: true }),
    );
    await fleet.run(5_000);

    const kept = await peer.ask("GET", `${MEMBER1}/api/v1/namespaces/shop/configmaps/legacy`);
    const { uid = "" } = found.body["metadata"] as { uid?: string };
    expect(kept.body).toMatchObject({
      metadata: { uid, labels: { "karmada.io/managed": "true" } },
      data: { colour: "blue" },
    });
  });

  for (const resource of ["resourceinterpretercustomizations", "resourceinterpreterwebhookconfigurations"]) {
    test(`with dependencies reads all ${resource} in one stream, and detects the end of the list`, async () => {
      const stream = await peer.open(`/apis/config.karmada.io/v1alpha1/${resource}?${STREAMED}`, {
        accept: "application/json",
      });
      const text = await stream.until(/BOOKMARK.*\n/);
      stream.close();

      expect(text).toContain('"k8s.io/initial-events-end":"true"');
    });
  }
});

test("interpret reads a customization by name", async () => {
  const url = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations";
  const luaScript = "function GetReplicas(obj)\n  return obj.spec.size, nil\nend\n";
  await create(url, {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "fleets" },
    spec: {
      target: { apiVersion: "games.example.com/v1", kind: "GameFleet" },
      customizations: { replicaResource: { luaScript } },
    },
  });

  const found = await peer.ask("GET", `${url}/fleets`);
  const missing = await peer.ask("GET", `${url}/none`);

  expect(found.body).toMatchObject({ spec: { customizations: { replicaResource: { luaScript } } } });
  expect([missing.status, missing.body["message"]]).toEqual([
    404,
    'resourceinterpretercustomizations.config.karmada.io "none" not found',
  ]);
});

test("api-resources reads a member's discovery in two requests through the hub", async () => {
  const [core, others] = [
    await peer.ask("GET", `${MEMBER1}/api?timeout=32s`, { headers: { accept: DISCOVERY } }),
    await peer.ask("GET", `${MEMBER1}/apis?timeout=32s`, { headers: { accept: DISCOVERY } }),
  ];

  expect(core.headers["content-type"]).toBe("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  expect(core.text).toContain('"resource":"pods"');
  expect(others.text).toContain('"resource":"deployments"');
});

test("explain finds a member's OpenAPI documents under the address of the member proxy", async () => {
  const index = await peer.ask("GET", `${MEMBER1}/openapi/v3?timeout=32s`);
  const { serverRelativeURL = "" } =
    (index.body["paths"] as Record<string, { serverRelativeURL?: string }>)["api/v1"] ?? {};
  // Clients prepend their own prefix to such a path, and treat any other path as an address of the hub.
  const document = await peer.ask("GET", `${MEMBER1}${serverRelativeURL}`);

  expect(serverRelativeURL).toMatch(/^\/openapi\/v3\/api\/v1\?hash=/);
  expect(document.status).toBe(200);
  expect(document.text).toContain('"io.k8s.api.core.v1.Pod"');
});

describe("join and unjoin", () => {
  const sent = JSON.parse(readFileSync(new URL("./karmadactl-join.json", import.meta.url), "utf8")) as {
    path: string;
    body: string;
  }[];
  const PROTOBUF = { "content-type": "application/vnd.kubernetes.protobuf", accept: TYPED };

  test("join creates accounts on a cluster with protobuf, and finds their tokens in Secrets", async () => {
    const answers: number[] = [];
    for (const { path, body } of sent)
      answers.push(
        (await peer.ask("POST", `/clusters/member2${path}`, { headers: PROTOBUF, body: Buffer.from(body, "base64") }))
          .status,
      );
    await fleet.run(1_000);

    const secret = await peer.ask("GET", "/clusters/member2/api/v1/namespaces/karmada-cluster/secrets/karmada-zz", {
      headers: { accept: TYPED },
    });
    const role = await peer.ask(
      "GET",
      "/clusters/member2/apis/rbac.authorization.k8s.io/v1/clusterroles/karmada-controller-manager:karmada-zz",
    );
    expect(answers).toEqual([201, 201, 201, 201, 201, 201, 201]);
    expect(secret.body).toMatchObject({
      type: "kubernetes.io/service-account-token",
      data: { token: expect.anything() as string },
    });
    expect(role.body["rules"]).toEqual([
      { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
      { nonResourceURLs: ["*"], verbs: ["get"] },
    ]);
  });

  test("join stores credentials in hub Secrets owned by the Cluster, and unjoin waits until the Cluster is deleted", async () => {
    const secrets = "/api/v1/namespaces/karmada-cluster/secrets";
    await peer.ask("POST", "/api/v1/namespaces", {
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: "karmada-cluster" } },
    });
    for (const name of ["zz-impersonator", "zz"])
      await create(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace: "karmada-cluster" },
        stringData: { token: "t", caBundle: "c" },
      });
    const references = {
      secretRef: { namespace: "karmada-cluster", name: "zz" },
      impersonatorSecretRef: { namespace: "karmada-cluster", name: "zz-impersonator" },
    };
    const cluster = await create(CLUSTERS, {
      kind: "Cluster",
      apiVersion: "cluster.karmada.io/v1alpha1",
      metadata: { name: "zz" },
      spec: { id: "zz", syncMode: "Push", apiEndpoint: "https://zz.example.com", ...references },
      status: {},
    });
    const { uid = "" } = cluster["metadata"] as { uid?: string };
    const owner = {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      name: "zz",
      uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    const owned = await peer.ask("PATCH", `${secrets}/zz`, {
      headers: { ...MERGE, accept: TYPED },
      body: { metadata: { ownerReferences: [owner] } },
    });
    await fleet.settle();
    const deleted = await peer.ask("DELETE", `${CLUSTERS}/zz`, {
      body: { kind: "DeleteOptions", apiVersion: "cluster.karmada.io/v1alpha1" },
    });
    await fleet.run(30_000);

    const gone = await peer.ask("GET", `${CLUSTERS}/zz`);
    const credentials = await peer.ask("GET", `${secrets}/zz`);
    expect([owned.status, deleted.status, gone.status, credentials.status]).toEqual([200, 200, 404, 404]);
  });
});

test("token stores bootstrap tokens as Secrets, and lists them by type", async () => {
  const secrets = "/api/v1/namespaces/kube-system/secrets";
  await create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    stringData: { "token-id": "abcdef", "token-secret": "0123456789abcdef" },
  });

  const listed = await peer.ask("GET", `${secrets}?fieldSelector=type%3Dbootstrap.kubernetes.io%2Ftoken`, {
    headers: { accept: "application/json" },
  });

  expect(listed.body).toMatchObject({ items: [{ metadata: { name: "bootstrap-token-abcdef" } }] });
});

describe("the cluster proxy for all clusters", () => {
  const ALL = `${CLUSTERS}/*/proxy`;

  test("lists objects of every member", async () => {
    const listed = await peer.ask("GET", `${ALL}/api/v1/nodes?limit=500`);

    expect(listed.body).toMatchObject({
      kind: "NodeList",
      metadata: { resourceVersion: "" },
      items: [{ metadata: { name: "node-000" } }, { metadata: { name: "node-000" } }],
    });
  });

  test("finds an object on any member, and reads its logs there", async () => {
    const found = await peer.ask("GET", `${ALL}/api/v1/namespaces/shop/pods/box`);
    const log = await peer.ask("GET", `${ALL}/api/v1/namespaces/shop/pods/box/log?container=main&tailLines=1`);
    const several = await peer.ask("GET", `${ALL}/api/v1/namespaces/default`);

    expect([found.body["kind"], log.text]).toEqual(["Pod", "hello from main\n"]);
    expect([several.status, several.body["message"]]).toEqual([
      409,
      'Operation cannot be fulfilled on namespaces "default": conflict resource, exist in more than one cluster: member1,member2',
    ]);
  });

  test("serves the hub's discovery", async () => {
    expect((await peer.ask("GET", `${ALL}/apis`)).text).toContain('"policy.karmada.io"');
  });
});
