/** What the audit log records of requests over HTTP and of controllers in the process. */
import { describe, expect, test } from "vitest";
import { createFakeClock, createSeededRandom, MetricsText } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { unauthorized } from "@flotilla/apimachinery";
import { createTestServer, makeDeployment, MERGE } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";
import { createAuditor } from "./auditor.ts";
import type { Auditor } from "./auditor.ts";
import { readAuditPolicy } from "./audit-policy.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const SECRETS = "/api/v1/namespaces/default/secrets";
const PODS = "/api/v1/namespaces/default/pods";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const map = (name: string): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { a: "1" },
});
const secret = (name: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, annotations: { "kubectl.kubernetes.io/last-applied-configuration": "cGFzcw==" } },
  data: { token: "dG9rZW4=", pass: "cGFzcw==" },
});

interface Log {
  events: JsonObject[];
  auditor: Auditor;
  at(path: string): Json[];
}

function createLog(rules: string): Log {
  const events: JsonObject[] = [];
  const auditor = createAuditor({
    clusterAnnotation: "flotilla.dev/cluster",
    policy: readAuditPolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\n${rules}`, "policy"),
    backends: [
      { name: "log", write: ({ text }) => void events.push(JSON.parse(text) as JsonObject), close: async () => {} },
    ],
    clock: createFakeClock(),
    random: createSeededRandom(1),
  });
  return { events, auditor, at: (field) => events.map((event) => event[field] ?? null) };
}

async function start(rules: string): Promise<Log & TestServer> {
  const log = createLog(rules);
  const running = await createTestServer({ auditor: log.auditor });
  log.events.length = 0;
  return { ...log, ...running };
}

test("a request has an event per stage, with its user, object, response and cluster", async () => {
  const { request, events, at } = await start("rules: [{level: Metadata}]");

  const { headers } = await request("POST", MAPS, map("a"), { "audit-id": "mine" });

  expect(at("stage")).toEqual(["RequestReceived", "ResponseComplete"]);
  expect(headers["audit-id"]).toBe("mine");
  expect(events[1]).toEqual({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level: "Metadata",
    auditID: "mine",
    stage: "ResponseComplete",
    requestURI: MAPS,
    verb: "create",
    user: { username: "admin", groups: ["system:masters", "system:authenticated"] },
    userAgent: "test/1",
    objectRef: { resource: "configmaps", namespace: "default", name: "a", apiVersion: "v1" },
    responseStatus: { metadata: {}, code: 201 },
    requestReceivedTimestamp: "2024-05-01T12:00:00.000000Z",
    stageTimestamp: "2024-05-01T12:00:00.000000Z",
    annotations: {
      "flotilla.dev/cluster": "hub",
      "authorization.k8s.io/decision": "allow",
      "authorization.k8s.io/reason": "",
    },
  });
});

test("omitted stages, requests without a rule, and levels of the policy", async () => {
  const { request, at } = await start("omitStages: [RequestReceived]\nrules: [{level: Metadata, verbs: [create]}]");

  await request("POST", MAPS, map("a"));
  await request("GET", `${MAPS}/a`);

  expect(at("verb")).toEqual(["create"]);
});

test("bodies are recorded from the level Request on, and answers with RequestResponse", async () => {
  const rules =
    "omitStages: [RequestReceived]\nomitManagedFields: true\nrules: [{level: LEVEL, resources: [{resources: [configmaps]}]}]";
  const [asked, both] = [
    await start(rules.replace("LEVEL", "Request")),
    await start(rules.replace("LEVEL", "RequestResponse")),
  ];

  for (const { request } of [asked, both]) {
    await request("POST", MAPS, map("a"));
    await request("PATCH", `${MAPS}/a`, { data: { b: "2" } }, { "content-type": "application/merge-patch+json" });
  }

  expect(asked.at("requestObject")).toMatchObject([{ data: { a: "1" } }, { data: { b: "2" } }]);
  expect(asked.at("responseObject")).toEqual([null, null]);
  expect(both.at("responseObject")).toMatchObject([{ data: { a: "1" } }, { data: { a: "1", b: "2" } }]);
  expect(JSON.stringify(both.events)).not.toContain("managedFields");
});

test("a rule for everything records no Secret, and a rule for Secrets records no token", async () => {
  const everything = await start("rules: [{level: RequestResponse}]");
  const named = await start("rules: [{level: RequestResponse, resources: [{resources: [secrets]}]}]");

  for (const { request } of [everything, named]) {
    await request("POST", SECRETS, secret("a"));
    await request("PATCH", `${SECRETS}/a`, [{ op: "add", path: "/data/token", value: "dG9rZW4=" }], {
      "content-type": "application/json-patch+json",
    });
    await request("GET", SECRETS);
  }

  expect(everything.events.length).toBe(6);
  expect(JSON.stringify(everything.events)).not.toContain("cGFzcw==");
  const text = JSON.stringify(named.events);
  expect(text).toContain('"pass":"cGFzcw=="');
  expect(text).not.toContain("dG9rZW4=");
  expect(text).not.toContain('last-applied-configuration":"');
});

test("a rejected request is recorded with its status, an impersonated one with both users", async () => {
  const { request, events } = await start("omitStages: [RequestReceived]\nrules: [{level: Metadata}]");

  await request("GET", `${PODS}/a`, undefined, { "impersonate-user": "ann" });

  expect(events[0]).toMatchObject({
    user: { username: "admin" },
    impersonatedUser: { username: "ann" },
    responseStatus: { code: 403, status: "Failure", reason: "Forbidden" },
    annotations: { "authorization.k8s.io/decision": "forbid" },
  });
});

test("the levels of Pod Security are annotations of the writes of pods and their templates", async () => {
  const { request, events } = await start("omitStages: [RequestReceived]\nrules: [{level: Metadata}]");
  const labels = { "pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/audit": "restricted" };
  const pod = (spec: JsonObject): JsonObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
  });
  const deployment = makeDeployment("d");

  await request("POST", `${PODS}?dryRun=All`, pod({}));
  await request("PATCH", "/api/v1/namespaces/default", { metadata: { labels } }, MERGE);
  await request("POST", `${PODS}?dryRun=All`, pod({}));
  await request("POST", `${PODS}?dryRun=All`, pod({ hostIPC: true }));
  await request("POST", DEPLOYMENTS, deployment);

  const noted = events.map(({ annotations }) =>
    Object.fromEntries(
      Object.entries(annotations as JsonObject)
        .filter(([key]) => key.startsWith("pod-security.kubernetes.io/"))
        .map(([key, value]) => [key.replace(/.*\//, ""), (value as string).split(":").slice(0, 2).join(":")]),
    ),
  );
  const violation = 'would violate PodSecurity "restricted:latest"';
  expect(noted).toEqual([
    { "enforce-policy": "privileged:latest" },
    {},
    { "enforce-policy": "baseline:latest", "audit-violations": violation },
    { "enforce-policy": "baseline:latest", "audit-violations": violation },
    { "audit-violations": violation },
  ]);
});

test("a watch has its events when it starts and when it ends", async () => {
  const { request, at } = await start("rules: [{level: Metadata}]");

  const { response } = await request("GET", `${MAPS}?watch=1`);
  expect(at("stage")).toEqual(["RequestReceived", "ResponseStarted"]);
  if (!("open" in response.body)) throw new Error("the watch is not a stream");
  const stop = response.body.open({ write: () => true, onDrain: () => {}, end: () => {} });
  stop();

  expect(at("stage")).toEqual(["RequestReceived", "ResponseStarted", "ResponseComplete"]);
});

test("controllers in the process are recorded like clients, with their own user", async () => {
  const { transport, events } = await start(
    "omitStages: [RequestReceived]\nrules: [{level: Request, resources: [{resources: [configmaps]}]}]",
  );
  const path = { cluster: "hub", group: "", version: "v1", resource: "configmaps", namespace: "default" };

  await transport.send({ verb: "create", path, body: map("a") });
  await expect(transport.send({ verb: "get", path: { ...path, name: "b" } })).rejects.toThrow("not found");

  expect(events).toMatchObject([
    {
      verb: "create",
      user: { username: "system:flotilla:test" },
      requestURI: MAPS,
      objectRef: { name: "a" },
      responseStatus: { code: 201 },
      requestObject: { data: { a: "1" } },
    },
    { verb: "get", requestURI: `${MAPS}/b`, responseStatus: { code: 404, reason: "NotFound" } },
  ]);
});

test("rejected credentials are recorded without the credentials", async () => {
  const { server, events } = await start("rules: [{level: Metadata}]");
  const signal = new AbortController().signal;

  server.rejected(
    {
      method: "GET",
      path: PODS,
      query: new URLSearchParams(),
      headers: { authorization: "Bearer abc.def" },
      body: new Uint8Array(),
      user: { name: "system:anonymous", groups: [] },
      address: "10.0.0.7",
      signal,
    },
    unauthorized(),
  );

  expect(events).toMatchObject([
    {
      stage: "ResponseStarted",
      user: {},
      sourceIPs: ["10.0.0.7"],
      responseStatus: { code: 401, message: "Authentication failed, attempted: bearer" },
    },
  ]);
  expect(JSON.stringify(events)).not.toContain("abc.def");
});

test("metrics count events and levels under Kubernetes' names", async () => {
  const { request, auditor } = await start("rules: [{level: Metadata, verbs: [get]}]");

  await request("GET", PODS);
  await request("GET", `${PODS}/a`);
  const text = new MetricsText();
  auditor.writeMetrics(text);

  expect(text.finish()).toContain('apiserver_audit_level_total{level="Metadata"} 1');
  expect(text.finish()).toContain("apiserver_audit_event_total 2");
  expect(text.finish()).toContain('apiserver_audit_error_total{plugin="log"} 0');
});

describe("patches of admission webhooks", () => {
  const TOKEN = "dG9rZW4=";
  const begin = (resource: string, { group = "", subresource }: { group?: string; subresource?: string } = {}) => {
    const { auditor, events } = createLog(
      `omitStages: [RequestReceived]\nrules: [{level: Request, resources: [{group: "${group}", resources: ` +
        `["${resource}"${subresource === undefined ? "" : `, "${resource}/${subresource}"`}]}]}]`,
    );
    const audit = auditor.begin({
      id: "1",
      cluster: "hub",
      user: { name: "ann", groups: [] },
      verb: "create",
      uri: "/",
      path: "/",
      resource: { group, resource, subresource },
      sourceIps: [],
      userAgent: "",
    });
    if (!audit) throw new Error("the policy leaves the request out");
    return { audit, events };
  };
  const add = (path: string, value: Json): JsonObject => ({ op: "add", path, value });

  test.each([
    ["Secrets", begin("secrets"), "/data/token"],
    ["TokenReviews", begin("tokenreviews", { group: "authentication.k8s.io" }), "/spec/token"],
    ["TokenRequests", begin("serviceaccounts", { subresource: "token" }), "/status/token"],
  ])("are recorded without the tokens of %s", (_, { audit, events }, pointer) => {
    audit.patched("patch.webhook.admission.k8s.io/round_0_index_0", { webhook: "w" }, [
      add(pointer, TOKEN),
      add(pointer.slice(0, pointer.lastIndexOf("/")), { token: TOKEN }),
      add("", { data: { token: TOKEN } }),
      add("/metadata/labels", { a: "1" }),
    ]);
    audit.completed(201);

    const text = JSON.stringify(events);
    expect(text).not.toContain(TOKEN);
    expect(text).toContain("/metadata/labels");
    expect(text).toContain("JSONPatch");
  });

  test("are left out above the limit of bodies, together with other annotations, and the event says so", () => {
    const { audit, events } = begin("configmaps");
    const large = "x".repeat(600 * 1024);

    audit.patched("patch.webhook.admission.k8s.io/round_0_index_0", {}, [add("/data/a", large)]);
    audit.patched("patch.webhook.admission.k8s.io/round_0_index_1", {}, [add("/data/b", large)]);
    audit.annotate("hook/c", large);
    audit.completed(201);

    expect(Object.keys(events[0]?.annotations as JsonObject)).toEqual([
      "flotilla.dev/cluster",
      "patch.webhook.admission.k8s.io/round_0_index_0",
      "audit.k8s.io/truncated",
    ]);
  });
});
