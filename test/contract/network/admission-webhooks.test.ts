/** What admission webhooks receive and may do, beyond what the recordings of the real server show. */
import { EventEmitter, once } from "node:events";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Kind } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import {
  EndpointSlice,
  Endpoints,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  Service,
  ServiceAccount,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "@flotilla/kubernetes";
import { startWebhookServer } from "@flotilla/testing/webhook-server.ts";
import type { WebhookServer } from "@flotilla/testing/webhook-server.ts";
import { ADDRESS_ANNOTATION, PROFILE, createTestServer } from "@flotilla/testing/api-server.ts";
import type { TestServer } from "@flotilla/testing/api-server.ts";

const KINDS: Kind[] = [
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  Service,
  EndpointSlice,
  Endpoints,
  ServiceAccount,
];
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1";

/** What a webhook answers to a request; by default it allows it. */
type Decide = (request: JsonObject) => JsonObject | Promise<JsonObject>;

let subject: TestServer;
let hooks: WebhookServer;
/** The webhooks by path, and the requests that they got, in order. */
let decisions: Record<string, Decide>;
let asked: { path: string; request: JsonObject }[];

beforeEach(async () => {
  decisions = {};
  asked = [];
  hooks = await startWebhookServer(
    async (path, review) => {
      const request = review.request as JsonObject;
      asked.push({ path, request });
      const response = { uid: request.uid ?? "", allowed: true, ...(await decisions[path]?.(request)) };
      return { body: JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind, response }) };
    },
    ["hooks.default.svc"],
  );
  subject = await createTestServer({
    profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, ...KINDS] } },
  });
  onTestFinished(() => hooks.close());
});

const patch = (...operations: JsonObject[]): JsonObject => ({
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

interface Hook {
  path: string;
  type?: "Mutating" | "Validating";
  resources?: string[];
  operations?: string[];
  [setting: string]: Json | undefined;
}

async function configure(...settings: Hook[]): Promise<void> {
  for (const [
    index,
    { path, type = "Validating", resources = ["configmaps"], operations = ["*"], ...rest },
  ] of settings.entries()) {
    const { status, text } = await subject.request(
      "POST",
      `${CONFIGURATIONS}/${type.toLowerCase()}webhookconfigurations`,
      {
        metadata: { name: `hook-${index}` },
        webhooks: [
          {
            name: `hook${index}.example.com`,
            clientConfig: { url: `${hooks.url}${path}`, caBundle: hooks.caBundle },
            admissionReviewVersions: ["v1"],
            sideEffects: "None",
            rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations, resources }],
            ...rest,
          },
        ],
      },
    );
    expect(status, text).toBe(201);
  }
  await subject.settle();
}

const makeConfigMap = (name: string, rest: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { a: "1" },
  ...rest,
});
const metadataOf = (request: JsonObject | undefined, field: "object" | "oldObject" = "object"): JsonObject => {
  const object = request?.[field];
  return isObject(object) && isObject(object.metadata) ? object.metadata : {};
};
const pathsAsked = (): string[] => asked.map(({ path }) => path);

describe("mutating webhooks", () => {
  test("one with reinvocationPolicy IfNeeded sees what later ones changed, once more", async () => {
    await configure(
      { path: "/first", type: "Mutating", reinvocationPolicy: "IfNeeded" },
      { path: "/second", type: "Mutating" },
    );
    decisions["/second"] = () => patch({ op: "add", path: "/data/second", value: "x" });

    const { status, body } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    expect(status).toBe(201);
    expect(body.data).toEqual({ a: "1", second: "x" });
    expect(pathsAsked()).toEqual(["/first", "/second", "/first"]);
    expect(asked[2]?.request).toMatchObject({ object: { data: { second: "x" } } });
  });

  test("a generated name is not known to them, but to validating ones", async () => {
    await configure({ path: "/change", type: "Mutating" }, { path: "/check" });

    await subject.request("POST", CONFIG_MAPS, { ...makeConfigMap(""), metadata: { generateName: "made-" } });

    const [change, check] = asked.map(({ request }) => request);
    expect(change).not.toHaveProperty("name");
    expect(metadataOf(change)).not.toHaveProperty("name");
    expect(check?.name).toMatch(/^made-/);
    expect(metadataOf(check).name).toBe(check?.name);
  });

  test("see the name of an object that also has a generateName", async () => {
    await configure({ path: "/change", type: "Mutating" });

    await subject.request("POST", CONFIG_MAPS, {
      ...makeConfigMap(""),
      metadata: { name: "made-by-hand", generateName: "made-" },
    });

    expect(asked[0]?.request.name).toBe("made-by-hand");
    expect(metadataOf(asked[0]?.request).name).toBe("made-by-hand");
  });

  test("may name an object that has only a generateName", async () => {
    await configure({ path: "/name", type: "Mutating" });
    decisions["/name"] = () => patch({ op: "add", path: "/metadata/name", value: "made-by-hook" });

    const { body } = await subject.request("POST", CONFIG_MAPS, {
      ...makeConfigMap(""),
      metadata: { generateName: "made-" },
    });

    expect((body.metadata as JsonObject).name).toBe("made-by-hook");
  });

  test("cannot change the status with a write of the object, nor the spec with a write of its status", async () => {
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const merge = { "content-type": "application/merge-patch+json" };
    await configure({ path: "/change", type: "Mutating", resources: ["deployments", "deployments/status"] });
    const ready = (count: number): JsonObject =>
      patch(
        { op: "add", path: "/status", value: { replicas: count, readyReplicas: count } },
        { op: "add", path: "/spec/paused", value: true },
      );
    decisions["/change"] = () => ready(1);

    const created = await subject.request("POST", deployments, {
      metadata: { name: "d" },
      spec: {
        selector: { matchLabels: { app: "d" } },
        template: { metadata: { labels: { app: "d" } }, spec: { containers: [{ name: "c", image: "c" }] } },
      },
    });
    decisions["/change"] = () => ({});
    await subject.request("PATCH", `${deployments}/d`, { spec: { paused: false } }, merge);
    await subject.request("PATCH", `${deployments}/d/status`, { status: { observedGeneration: 2 } }, merge);
    decisions["/change"] = () => ready(3);
    const updated = await subject.request("PATCH", `${deployments}/d`, { spec: { replicas: 5 } }, merge);
    decisions["/change"] = () => ({});
    const { body } = await subject.request("PATCH", `${deployments}/d`, { spec: { paused: false } }, merge);
    decisions["/change"] = () => ready(4);
    const reported = await subject.request("PATCH", `${deployments}/d/status`, { status: { replicas: 5 } }, merge);

    expect([created.body.spec, created.body.status]).toMatchObject([{ paused: true }, {}]);
    expect(created.body.status).not.toHaveProperty("readyReplicas");
    expect([updated.body.spec, updated.body.status]).toMatchObject([{ paused: true }, { observedGeneration: 2 }]);
    expect(updated.body.status).not.toHaveProperty("readyReplicas");
    expect(reported.body.status).toEqual({ replicas: 4, readyReplicas: 4 });
    expect(reported.body.spec).toEqual(body.spec);
  });

  test("cannot forge the identity or the field managers of an object", async () => {
    await configure({ path: "/forge", type: "Mutating" });
    decisions["/forge"] = () =>
      patch(
        { op: "add", path: "/metadata/uid", value: "forged" },
        { op: "add", path: "/metadata/managedFields", value: [] },
        { op: "add", path: "/metadata/labels", value: { by: "hook" } },
      );

    const { body } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    expect(body.metadata).toMatchObject({ labels: { by: "hook" }, managedFields: [{ manager: expect.any(String) }] });
    expect((body.metadata as JsonObject).uid).not.toBe("forged");
  });

  test("a patch that cannot be applied rejects the request, whatever the failure policy", async () => {
    await configure({ path: "/wrong", type: "Mutating", failurePolicy: "Ignore" });
    decisions["/wrong"] = () => patch({ op: "test", path: "/data/a", value: "other" });

    const { status, body } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    expect(status).toBe(500);
    expect(body.message).toContain('the patch of admission webhook "hook0.example.com" cannot be applied');
    expect((await subject.request("GET", "/metrics")).text).toContain(
      'operation="CREATE",error_type="apiserver_internal_error",rejection_code="0"} 1',
    );
  });
});

describe("deletions", () => {
  test("webhooks are called for each deletion of a collection, with the old object", async () => {
    for (const name of ["a", "b"]) await subject.request("POST", CONFIG_MAPS, makeConfigMap(name));
    await configure({ path: "/check", operations: ["DELETE"] });
    decisions["/check"] = ({ name }) => ({ allowed: name !== "b", status: { message: "keep b" } });

    const { status, body } = await subject.request("DELETE", CONFIG_MAPS);

    expect([status, body.message]).toEqual([400, 'admission webhook "hook0.example.com" denied the request: keep b']);
    expect(new Map(asked.map(({ request }) => [request.name, metadataOf(request, "oldObject").name]))).toEqual(
      new Map([
        ["a", "a"],
        ["b", "b"],
      ]),
    );
    expect((await subject.request("GET", `${CONFIG_MAPS}/b`)).status).toBe(200);
  });
});

test("a deletion by garbage collection is asked about with DeleteOptions", async () => {
  const { body } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("owner"));
  const { uid = "" } = body.metadata as JsonObject;
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid };
  await subject.request(
    "POST",
    CONFIG_MAPS,
    makeConfigMap("", { metadata: { name: "dependent", ownerReferences: [owner] } }),
  );
  await configure({ path: "/check", operations: ["DELETE"] });

  await subject.request("DELETE", `${CONFIG_MAPS}/owner`);
  await expect.poll(() => asked.length).toBe(2);

  expect(asked[1]?.request).toMatchObject({
    name: "dependent",
    options: { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1" },
  });
  await expect.poll(async () => (await subject.request("GET", `${CONFIG_MAPS}/dependent`)).status).toBe(404);
});

describe("evictions", () => {
  test("are asked about as a create of the subresource", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    await subject.request("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
    const { status, text } = await subject.request("POST", pods, {
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    expect(status, text).toBe(201);
    await configure({ path: "/check", resources: ["pods/eviction"], operations: ["CREATE"] });
    decisions["/check"] = () => ({ allowed: false, status: { message: "budget" } });

    const evicted = await subject.request("POST", `${pods}/p/eviction`, {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "p" },
    });

    expect([evicted.status, evicted.body.message]).toEqual([
      400,
      'admission webhook "hook0.example.com" denied the request: budget',
    ]);
    expect(asked[0]?.request).toMatchObject({
      kind: { group: "policy", version: "v1", kind: "Eviction" },
      resource: { resource: "pods" },
      subResource: "eviction",
    });
    expect((await subject.request("GET", `${pods}/p`)).status).toBe(200);
  });
});

test("a webhook may write the object that it is asked about", async () => {
  await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));
  await configure({ path: "/writes", operations: ["UPDATE"] });
  let isFirst = true;
  decisions["/writes"] = async () => {
    if (!isFirst) return {};
    isFirst = false;
    const inner = await subject.request("PATCH", `${CONFIG_MAPS}/m`, { data: { inner: "1" } }, MERGE);
    expect(inner.status).toBe(200);
    return {};
  };

  const outer = await subject.request("PATCH", `${CONFIG_MAPS}/m`, { data: { outer: "1" } }, MERGE);

  expect(outer.status, outer.text).toBe(200);
  expect(outer.body.data).toEqual({ a: "1", inner: "1", outer: "1" });
});

const MERGE = { "content-type": "application/merge-patch+json" };

describe("a webhook that is a Service", () => {
  const service = { namespace: "default", name: "hooks", path: "/check" };
  const useService = (): Promise<void> => configure({ path: "", clientConfig: { service, caBundle: hooks.caBundle } });

  test("is called where its annotation says, with the Service's name in the certificate", async () => {
    await subject.request("POST", "/api/v1/namespaces/default/services", {
      metadata: { name: "hooks", annotations: { [ADDRESS_ANNOTATION]: `127.0.0.1:${hooks.port}` } },
      spec: { ports: [{ name: "https", port: 443 }] },
    });
    await useService();
    decisions["/check"] = () => ({ warnings: ["seen by the service"] });

    const { status, headers, text } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    expect(status, text).toBe(201);
    expect(headers.warning).toEqual(['299 - "seen by the service"']);
  });

  test("a webhook that is a Service that does not exist rejects requests with its name", async () => {
    await useService();

    const { status, body } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    expect(status).toBe(500);
    expect(body.message).toContain('service "hooks" not found');
  });
});

test("webhooks of one server share its connections, and each call has a uid of its own", async () => {
  await configure({ path: "/a", type: "Mutating" }, { path: "/b", type: "Mutating" }, { path: "/c" });

  const { status } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));

  expect(status).toBe(201);
  expect(pathsAsked()).toEqual(["/a", "/b", "/c"]);
  expect(new Set(asked.map(({ request }) => request.uid)).size).toBe(3);
  expect(asked.map(({ request }) => (request.object as JsonObject).data)).toEqual([{ a: "1" }, { a: "1" }, { a: "1" }]);
  expect(hooks.connections()).toBe(1);
});

test("a webhook that is down and whose failures are ignored is soon not called any more", async () => {
  await configure({ path: "/down", failurePolicy: "Ignore" });
  hooks.close();

  for (let index = 0; index < 5; index++)
    expect((await subject.request("POST", CONFIG_MAPS, makeConfigMap(`m${index}`))).status).toBe(201);

  const { text } = await subject.request("GET", "/metrics");
  expect(text).toContain('apiserver_admission_webhook_fail_open_count{name="hook0.example.com",type="validating"} 5');
  expect(text).toContain(
    'flotilla_admission_webhook_failures{name="hook0.example.com",type="validating",configuration="hook-0"} 3',
  );
});

describe("a webhook that hangs and whose failures are ignored", () => {
  /** Resolves when the webhook gets the next call. */
  let nextCall: () => Promise<unknown>;
  /** Answers all calls that wait. */
  let answer: () => void;
  const create = async (name: string): Promise<number> =>
    (await subject.request("POST", CONFIG_MAPS, makeConfigMap(name))).status;
  const failures = async (): Promise<string | undefined> =>
    /flotilla_admission_webhook_failures\{name="hook0[^}]*} (\d+)/.exec(
      (await subject.request("GET", "/metrics")).text,
    )?.[1];

  /** The webhook does not answer the creation of this object in time, and is then asked in the background. */
  const failOnce = async (name: string): Promise<void> => {
    const first = nextCall();
    const created = create(name);
    await first;
    subject.clock.advance(10_000);
    await created;
    const probe = nextCall();
    subject.clock.advance(0);
    await probe;
  };

  beforeEach(async () => {
    const arrivals = new EventEmitter();
    const waiting: ((verdict: JsonObject) => void)[] = [];
    decisions["/hangs"] = () => {
      arrivals.emit("call");
      return new Promise((resolve) => waiting.push(resolve));
    };
    nextCall = () => once(arrivals, "call");
    answer = () => {
      for (const resolve of waiting.splice(0)) resolve({});
    };
    await configure({ path: "/hangs", failurePolicy: "Ignore", timeoutSeconds: 10 });
  });

  test("delays the requests of its first ten seconds, until the first of them has waited for its timeout, and no other", async () => {
    const first = nextCall();
    const early = create("a");
    await first;
    subject.clock.advance(9_000);
    const second = nextCall();
    const late = create("b");
    await second;

    subject.clock.advance(1_000);

    expect(await Promise.all([early, late])).toEqual([201, 201]);
    expect(await Promise.all(["c", "d", "e"].map(create))).toEqual([201, 201, 201]);
  });

  test("is asked again in the background, in a dry run, and then for each request", async () => {
    await failOnce("a");
    expect(asked.map(({ request }) => [request.name, request.dryRun, request.options])).toMatchObject([
      ["a", false, { kind: "CreateOptions" }],
      ["a", true, { kind: "CreateOptions", dryRun: ["All"] }],
    ]);

    answer();

    await expect.poll(failures).toBe("0");
    decisions["/hangs"] = () => ({ allowed: false });
    expect(await create("c")).toBe(400);
  });

  test("is asked about another request, too: it may have no answer to one alone", async () => {
    await failOnce("slow");
    decisions["/hangs"] = () => ({ allowed: false });

    expect(await create("skipped")).toBe(201);

    await expect.poll(failures).toBe("0");
    expect(await create("asked")).toBe(400);
    expect(asked.map(({ request }) => request.name)).toEqual(["slow", "slow", "skipped", "asked"]);
  });
});

test("an answer that is too large, too deep or for another request counts as a failed call", async () => {
  await configure({ path: "/wrong" });
  const answers: Record<string, () => JsonObject> = {
    'received invalid webhook response: expected response.uid="': () => ({ uid: "another" }),
    "validating webhook may not return response.patch": () => patch(),
    "is nested more than": () => ({ status: { message: "x" }, deep: nested(1200) }),
    "is longer than": () => ({ status: { message: "x".repeat(5 * 1024 * 1024) } }),
  };

  for (const [message, response] of Object.entries(answers)) {
    decisions["/wrong"] = response;
    const { status, body } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));
    expect(status).toBe(500);
    expect(body.message).toContain(message);
  }
});

test("a patch that cannot be read is a failed call, and its failures may be ignored", async () => {
  decisions["/wrong"] = () => ({ patchType: "JSONPatch", patch: Buffer.from("{").toString("base64") });
  await configure({ path: "/wrong", type: "Mutating", failurePolicy: "Ignore" });
  expect((await subject.request("POST", CONFIG_MAPS, makeConfigMap("a"))).status).toBe(201);

  await configure({ path: "/unused", resources: ["pods"] }, { path: "/wrong", type: "Mutating" });
  const { status, body } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("b"));

  expect(status).toBe(500);
  expect(body.message).toContain(
    'failed calling webhook "hook1.example.com": received undecodable patch in webhook response: ',
  );
});

test("a patch of a request without an object, such as a deletion, rejects it", async () => {
  await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));
  decisions["/patch"] = () => patch({ op: "remove", path: "/data" });
  await configure({ path: "/patch", type: "Mutating", operations: ["DELETE"] });

  const { status, body } = await subject.request("DELETE", `${CONFIG_MAPS}/m`);

  expect([status, body.message]).toEqual([
    500,
    'Internal error occurred: admission webhook "hook0.example.com" attempted to modify the object, which is not supported for this operation',
  ]);
  decisions["/patch"] = () => patch();
  expect((await subject.request("DELETE", `${CONFIG_MAPS}/m`)).status).toBe(200);
});

test("metrics have the labels of kube-apiserver", async () => {
  decisions["/deny"] = ({ name }) => ({ allowed: name !== "denied", status: { code: 403 } });
  await configure({ path: "/change", type: "Mutating" }, { path: "/deny" });
  await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));
  await subject.request("POST", CONFIG_MAPS, makeConfigMap("denied"));
  hooks.close();
  await subject.request("POST", CONFIG_MAPS, makeConfigMap("failed"));

  const { text } = await subject.request("GET", "/metrics");

  const labels = (index: number, type: string): string =>
    `name="hook${index}.example.com",type="${type}",operation="CREATE"`;
  for (const line of [
    `apiserver_admission_webhook_request_total{${labels(0, "admit")},code="200",rejected="false"} 2`,
    `apiserver_admission_webhook_request_total{${labels(0, "admit")},code="503",rejected="true"} 1`,
    `apiserver_admission_webhook_request_total{${labels(1, "validating")},code="200",rejected="false"} 1`,
    `apiserver_admission_webhook_request_total{${labels(1, "validating")},code="403",rejected="true"} 1`,
    `apiserver_admission_webhook_admission_duration_seconds_count{${labels(0, "admit")},rejected="true"} 1`,
    `apiserver_admission_webhook_rejection_count{${labels(0, "admit")},error_type="calling_webhook_error",rejection_code="503"} 1`,
    `apiserver_admission_webhook_rejection_count{${labels(1, "validating")},error_type="no_error",rejection_code="403"} 1`,
  ])
    expect(text.split("\n")).toContain(line);
});

function nested(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

test("a configuration that was deleted asks nothing any more", async () => {
  await configure({ path: "/check" });
  decisions["/check"] = () => ({ allowed: false });
  expect((await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"))).status).toBe(400);

  await subject.request("DELETE", `${CONFIGURATIONS}/validatingwebhookconfigurations/hook-0`);
  await subject.settle();

  expect((await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"))).status).toBe(201);
});

describe("policies and webhooks", () => {
  async function addPolicy(type: "mutating" | "validating", spec: JsonObject): Promise<void> {
    const rules = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["configmaps"] }];
    const policy = { metadata: { name: "p" }, spec: { matchConstraints: { resourceRules: rules }, ...spec } };
    const binding = { policyName: "p", validationActions: type === "validating" ? ["Deny"] : undefined };
    for (const [path, body] of [
      ["policies", policy],
      ["policybindings", { metadata: { name: "b" }, spec: binding }],
    ] as const) {
      const { status, text } = await subject.request("POST", `${CONFIGURATIONS}/${type}admission${path}`, body);
      expect(status, text).toBe(201);
    }
    await subject.settle();
  }
  const appendsOnce = (reinvocationPolicy: string): JsonObject => ({
    reinvocationPolicy,
    mutations: [
      {
        patchType: "ApplyConfiguration",
        applyConfiguration: { expression: 'Object{data: {"seen": string(size(object.data))}}' },
      },
    ],
  });

  test("a webhook sees what a mutating policy changed", async () => {
    await configure({ path: "/change", type: "Mutating" });
    await addPolicy("mutating", appendsOnce("Never"));

    const { body } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    expect(asked[0]?.request).toMatchObject({ object: { data: { a: "1", seen: "1" } } });
    expect(body.data).toEqual({ a: "1", seen: "1" });
  });

  test("a policy with reinvocationPolicy IfNeeded sees once more what a webhook changed", async () => {
    await configure({ path: "/change", type: "Mutating" });
    decisions["/change"] = () => patch({ op: "add", path: "/data/hook", value: "x" });
    await addPolicy("mutating", appendsOnce("IfNeeded"));

    const { body } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    expect(body.data).toEqual({ a: "1", hook: "x", seen: "3" });
    expect(pathsAsked()).toEqual(["/change"]);
  });

  test("a validating webhook is not called for a request that a policy denies", async () => {
    await configure({ path: "/check" });
    await addPolicy("validating", { validations: [{ expression: "false", message: "no" }] });

    const { status } = await subject.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    expect({ status, asked: pathsAsked() }).toEqual({ status: 422, asked: [] });
  });
});
