/** Policies on a running server, beyond what the recordings of the real server show. */
import { defined } from "@flotilla/base";
import { beforeEach, describe, expect, test } from "vitest";
import type { Kind } from "@flotilla/apimachinery";
import type { Json, JsonObject } from "@flotilla/base";
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "@flotilla/kubernetes";
import { PROFILE, createTestServer } from "../test-server.ts";
import type { Answered, TestServer } from "../test-server.ts";

const KINDS: Kind[] = [
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
];
const API = "/apis/admissionregistration.k8s.io/v1";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const MERGE = { "content-type": "application/merge-patch+json" };

let subject: TestServer;

beforeEach(async () => {
  subject = await createTestServer({
    profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, ...KINDS] } },
    clusters: { hub: "hub", other: "hub" },
  });
});

async function post(path: string, body: JsonObject): Promise<Answered> {
  const answer = await subject.request("POST", path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer;
}

interface Setting {
  name?: string;
  rule?: JsonObject;
  /** Fields of the match constraints besides the rule. */
  match?: JsonObject;
  spec?: JsonObject;
  binding?: JsonObject;
}

async function configure(type: "validating" | "mutating", setting: Setting): Promise<void> {
  const { name = "p", rule, match, spec, binding } = setting;
  const resourceRules = [
    { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["configmaps"], ...rule },
  ];
  await post(`${API}/${type}admissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules, ...match },
      ...defined({
        validations: type === "validating" ? [{ expression: "false", message: "no" }] : undefined,
        reinvocationPolicy: type === "validating" ? undefined : "Never",
      }),
      ...spec,
    },
  });
  await post(`${API}/${type}admissionpolicybindings`, {
    metadata: { name: `${name}-b` },
    spec: {
      policyName: name,
      ...defined({ validationActions: type === "validating" ? ["Deny"] : undefined }),
      ...binding,
    },
  });
  await subject.settle();
}
const validating = (setting: Setting = {}): Promise<void> => configure("validating", setting);
const mutating = (expression: string, { spec, ...setting }: Setting = {}): Promise<void> =>
  configure("mutating", {
    ...setting,
    spec: {
      mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }],
      ...spec,
    },
  });

const makeConfigMap = (name: string, rest: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { a: "1" },
  ...rest,
});
const create = (name: string, rest?: JsonObject): Promise<Answered> =>
  subject.request("POST", CONFIG_MAPS, makeConfigMap(name, rest));
const messageOf = ({ body }: Answered): Json | undefined => body.message;

describe("a validating policy", () => {
  test("is for the cluster in which it is configured, and ends with its binding", async () => {
    await validating();

    expect((await create("m")).status).toBe(422);
    const other = await subject.request("POST", `/clusters/other${CONFIG_MAPS}`, makeConfigMap("m"));
    expect(other.status).toBe(201);
    await subject.request("DELETE", `${API}/validatingadmissionpolicybindings/p-b`);
    await subject.settle();
    expect((await create("m")).status).toBe(201);
  });

  test("a validating policy that changes is compiled again", async () => {
    await validating();

    await subject.request(
      "PATCH",
      `${API}/validatingadmissionpolicies/p`,
      [{ op: "replace", path: "/spec/validations/0/message", value: "still no" }],
      { "content-type": "application/json-patch+json" },
    );
    await subject.settle();

    expect(messageOf(await create("m"))).toMatch(/denied request: still no$/);
  });

  const matching: Record<string, { setting: Setting; denied: string[] }> = {
    "names of objects": { setting: { rule: { resourceNames: ["x"] } }, denied: ["x"] },
    "excluded rules": {
      setting: {
        match: {
          excludeResourceRules: [
            { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["*"], resourceNames: ["x"] },
          ],
        },
      },
      denied: ["m", "labelled"],
    },
    "labels of objects": { setting: { match: { objectSelector: { matchLabels: { a: "b" } } } }, denied: ["labelled"] },
    "labels of namespaces": {
      setting: { match: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "other" } } } },
      denied: [],
    },
    "the scope of resources": { setting: { rule: { scope: "Cluster" } }, denied: [] },
    "what the binding selects": {
      setting: { binding: { matchResources: { objectSelector: { matchLabels: { a: "b" } } } } },
      denied: ["labelled"],
    },
    "operations that the binding names": {
      setting: {
        binding: {
          matchResources: {
            resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["DELETE"], resources: ["*"] }],
          },
        },
      },
      denied: [],
    },
  };
  for (const [what, { setting, denied }] of Object.entries(matching))
    test(`is for ${what}`, async () => {
      await validating(setting);

      const answers = {
        x: await create("x"),
        m: await create("m"),
        labelled: await create("labelled", { metadata: { name: "labelled", labels: { a: "b" } } }),
      };

      expect(Object.entries(answers).flatMap(([name, { status }]) => (status === 422 ? [name] : []))).toEqual(denied);
    });

  test("sees an object in the version that its rules name, unless it wants exact matches", async () => {
    await post(CRDS, makeCrd());
    const rule = { apiGroups: ["example.com"], apiVersions: ["v1"], resources: ["widgets"] };
    const spec = {
      validations: [{ expression: "false", messageExpression: "request.kind.version + object.apiVersion" }],
    };
    const widget = { apiVersion: "example.com/v2", kind: "Widget", metadata: { name: "w" } };
    await validating({ rule, spec });

    const denied = await subject.request("POST", "/apis/example.com/v2/namespaces/default/widgets", widget);
    expect(messageOf(denied)).toMatch(/denied request: v1example.com\/v1$/);

    await subject.request("DELETE", `${API}/validatingadmissionpolicies/p`);
    await validating({ name: "exact", rule, spec, match: { matchPolicy: "Exact" } });
    const allowed = await subject.request("POST", "/apis/example.com/v2/namespaces/default/widgets", widget);
    expect(allowed.status).toBe(201);
  });

  test("is not asked about policies and bindings, but about webhook configurations", async () => {
    await validating({ rule: { resources: ["*"] } });

    const webhooks = await subject.request("POST", `${API}/validatingwebhookconfigurations`, {
      metadata: { name: "w" },
    });
    const policy = await subject.request("DELETE", `${API}/validatingadmissionpolicies/p`);

    expect({ webhooks: webhooks.status, policy: policy.status }).toEqual({ webhooks: 422, policy: 200 });
  });

  test("is asked about connections", async () => {
    await post("/api/v1/namespaces/default/pods", {
      metadata: { name: "pod" },
      spec: { containers: [{ name: "c", image: "i" }], nodeName: "n" },
    });
    await validating({
      rule: { resources: ["pods/exec"], operations: ["CONNECT"] },
      spec: {
        validations: [{ expression: "object.command[0] != 'sh'", messageExpression: "'no ' + object.command[0]" }],
      },
    });

    const answer = await subject.request("POST", "/api/v1/namespaces/default/pods/pod/exec?command=sh");

    expect(answer.status).toBe(422);
    expect(messageOf(answer)).toMatch(/^pods "pod" is forbidden: .* denied request: no sh$/);
  });

  test("reports the code of its reason", async () => {
    await validating({ spec: { validations: [{ expression: "false", reason: "RequestEntityTooLarge" }] } });

    const { status, body } = await create("m");

    expect({ status, reason: body.reason }).toEqual({ status: 413, reason: "RequestEntityTooLarge" });
  });

  test("may warn and deny, with what the user may do", async () => {
    await validating({
      spec: { validations: [{ expression: "!authorizer.group('').resource('pods').check('create').allowed()" }] },
      binding: { validationActions: ["Deny"] },
    });
    await validating({ name: "q", binding: { validationActions: ["Warn", "Audit"] } });

    const { status, headers } = await create("m");

    expect(status).toBe(422);
    expect(headers.warning).toEqual([
      `299 - "Validation failed for ValidatingAdmissionPolicy 'q' with binding 'q-b': no"`,
    ]);
  });
});

describe("parameters", () => {
  const paramKind = { apiVersion: "example.com/v1", kind: "Widget" };
  const spec = {
    paramKind,
    validations: [{ expression: "object.data.a == params.want", messageExpression: "'want ' + params.want" }],
  };
  const widgets = (namespace: string): string => `/apis/example.com/v1/namespaces/${namespace}/widgets`;
  const makeWidget = (name: string, want: string): JsonObject => ({
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name, labels: { set: "yes" } },
    want,
  });
  beforeEach(() => post(CRDS, makeCrd()));

  test("parameters of a custom kind are those of the namespace of the request", async () => {
    await post(widgets("default"), makeWidget("limits", "2"));
    await validating({ spec, binding: { paramRef: { name: "limits", parameterNotFoundAction: "Deny" } } });

    expect(messageOf(await create("m"))).toMatch(/denied request: want 2$/);
    expect((await create("m", { data: { a: "2" } })).status).toBe(201);
  });

  test("parameters by selector are all that match, and each is a check", async () => {
    await post(widgets("kube-system"), makeWidget("one", "1"));
    await post(widgets("kube-system"), makeWidget("two", "2"));
    await validating({
      spec,
      binding: {
        paramRef: {
          namespace: "kube-system",
          selector: { matchLabels: { set: "yes" } },
          parameterNotFoundAction: "Deny",
        },
      },
    });

    expect(messageOf(await create("m"))).toMatch(/denied request: want 2$/);
  });

  const missing: Record<string, { action: string; failurePolicy: string; status: number }> = {
    "deny with parameterNotFoundAction Deny": { action: "Deny", failurePolicy: "Fail", status: 422 },
    "allow with parameterNotFoundAction Allow": { action: "Allow", failurePolicy: "Fail", status: 201 },
    "allow where failures are ignored": { action: "Deny", failurePolicy: "Ignore", status: 201 },
  };
  for (const [what, { action, failurePolicy, status }] of Object.entries(missing))
    test(`that do not exist ${what}`, async () => {
      await validating({
        spec: { ...spec, failurePolicy },
        binding: { paramRef: { name: "limits", parameterNotFoundAction: action } },
      });

      expect((await create("m")).status).toBe(status);
    });

  test("parameters of a namespaced kind cannot be found for an object without one", async () => {
    await validating({
      rule: { resources: ["namespaces"] },
      spec,
      binding: { paramRef: { name: "limits", parameterNotFoundAction: "Allow" } },
    });

    const answer = await subject.request("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });

    expect(messageOf(answer)).toMatch(
      /failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources$/,
    );
  });

  test("parameters of a kind that is not served deny what the policy is for", async () => {
    await validating({
      spec: { ...spec, paramKind: { apiVersion: "example.com/v9", kind: "Gone" } },
      binding: { paramRef: { name: "limits", parameterNotFoundAction: "Allow" } },
    });

    expect(messageOf(await create("m"))).toBe(
      `configmaps "m" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: ` +
        "failed to find resource referenced by paramKind: 'example.com/v9, Kind=Gone'",
    );
  });
});

describe("a mutating policy", () => {
  const setData = (key: string, value: string): string => `Object{data: {"${key}": ${value}}}`;

  test("changes what is created and updated, without a field manager", async () => {
    await mutating(setData("b", "request.operation"));

    const created = await create("m");
    const updated = await subject.request("PATCH", `${CONFIG_MAPS}/m`, { data: { a: "2" } }, MERGE);

    expect(created.body.data).toEqual({ a: "1", b: "CREATE" });
    expect(updated.body.data).toEqual({ a: "2", b: "UPDATE" });
    expect(updated.body.metadata).toMatchObject({
      managedFields: [{ manager: "test", fieldsV1: { "f:data": { ".": {}, "f:a": {} } } }],
    });
  });

  /** The suffixes that two policies append, one after the other. The results are those of kube-apiserver 1.36. */
  const repeated: Record<string, { policies: [first: string, second: string]; want: string }> = {
    "none with Never": { policies: ["Never", "Never"], want: "1xy" },
    "the first after the second": { policies: ["IfNeeded", "Never"], want: "1xyx" },
    "the second after its own change": { policies: ["Never", "IfNeeded"], want: "1xyy" },
    both: { policies: ["IfNeeded", "IfNeeded"], want: "1xyxy" },
  };
  for (const [what, { policies, want }] of Object.entries(repeated))
    test(`runs in the order of names, and again with IfNeeded: ${what}`, async () => {
      for (const [index, reinvocationPolicy] of policies.entries())
        await mutating(`Object{data: {"a": object.data.a + "${"xy"[index]}"}}`, {
          name: `p${index}`,
          spec: { reinvocationPolicy },
        });

      expect((await create("m")).body.data).toEqual({ a: want });
    });

  test("reads its parameters and is limited by its conditions", async () => {
    await post(CONFIG_MAPS, makeConfigMap("limits", { data: { b: "from params" } }));
    await mutating(setData("b", "params.data.b"), {
      spec: {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        matchConditions: [{ name: "c", expression: "object.metadata.name != 'skipped'" }],
      },
      binding: { paramRef: { name: "limits", parameterNotFoundAction: "Deny" } },
    });

    expect((await create("m")).body.data).toEqual({ a: "1", b: "from params" });
    expect((await create("skipped")).body.data).toEqual({ a: "1" });
  });

  test("is validated by validating policies as it was changed, also in a dry run", async () => {
    await mutating(setData("b", "'bad'"));
    await validating({ name: "v", spec: { validations: [{ expression: "object.data.b != 'bad'", message: "bad" }] } });

    const answer = await subject.request("POST", `${CONFIG_MAPS}?dryRun=All`, makeConfigMap("m"));

    expect(messageOf(answer)).toMatch(/denied request: bad$/);
  });

  test("a mutating policy that fails denies the request, unless its failures are ignored", async () => {
    await mutating(setData("b", "object.data.missing"));

    const { status, body } = await create("m");

    const message =
      "policy 'p' with binding 'p-b' denied request: expression 'Object{data: {\"b\": object.data.missing}}' resulted in error: no such key: missing";
    expect({ status, body }).toEqual({
      status: 403,
      body: {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message,
        reason: "Invalid",
        details: { name: "m", kind: "configmaps", causes: [{ message }] },
        code: 403,
      },
    });
    await subject.request("DELETE", `${API}/mutatingadmissionpolicies/p`);
    await mutating(setData("b", "object.data.missing"), { name: "ignored", spec: { failurePolicy: "Ignore" } });
    expect((await create("m")).body.data).toEqual({ a: "1" });
  });

  test("may rename what is created, but neither move it nor rename what exists", async () => {
    await mutating(`Object{metadata: Object.metadata{name: "renamed", namespace: "kube-system"}}`, {
      spec: { matchConditions: [{ name: "c", expression: "object.metadata.name == 'm'" }] },
    });

    const created = await create("m");
    const read = await subject.request("GET", `${CONFIG_MAPS}/renamed`);
    expect([created.body.metadata, read.body.metadata]).toMatchObject([
      { name: "renamed", namespace: "default" },
      { name: "renamed", namespace: "default" },
    ]);

    await subject.request("DELETE", `${API}/mutatingadmissionpolicybindings/p-b`);
    await subject.settle();
    await create("m");
    await post(`${API}/mutatingadmissionpolicybindings`, { metadata: { name: "p-b" }, spec: { policyName: "p" } });
    await subject.settle();
    const updated = await subject.request("PATCH", `${CONFIG_MAPS}/m`, { data: { a: "2" } }, MERGE);
    expect(updated.body).toMatchObject({ metadata: { name: "m", namespace: "default" }, data: { a: "2" } });
  });

  test("completes what it adds with the defaults of the kind", async () => {
    const container = 'Object.spec.containers{name: "side", image: "s"}';
    await mutating(`Object{spec: Object.spec{containers: [${container}]}}`, { rule: { resources: ["pods"] } });

    const { body } = await post("/api/v1/namespaces/default/pods", {
      metadata: { name: "pod" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });

    expect(body.spec).toMatchObject({
      containers: [{ name: "c" }, { name: "side", image: "s", terminationMessagePath: "/dev/termination-log" }],
    });
  });
});

test("type checking is reported once per generation", async () => {
  const rule = { apiGroups: [""], apiVersions: ["v1"] };
  await validating({ name: "clean", rule });
  await validating({ name: "typo", rule, spec: { validations: [{ expression: "object.dat.a == '1'" }] } });

  subject.clock.advance(1_000);
  await subject.settle();

  const statusOf = async (name: string): Promise<Json | undefined> =>
    (await subject.request("GET", `${API}/validatingadmissionpolicies/${name}`)).body.status;

  expect(await statusOf("clean")).toEqual({ observedGeneration: 1, typeChecking: {} });
  expect(await statusOf("typo")).toMatchObject({
    observedGeneration: 1,
    typeChecking: { expressionWarnings: [{ fieldRef: "spec.validations[0].expression" }] },
  });
  const { metadata } = (await subject.request("GET", `${API}/validatingadmissionpolicies/typo`)).body;
  expect(metadata).toMatchObject({ generation: 1 });
  const written = subject.server.writes.total();
  await subject.request(
    "PATCH",
    `${API}/validatingadmissionpolicies/typo`,
    { metadata: { labels: { a: "b" } } },
    MERGE,
  );
  await subject.settle();
  expect(subject.server.writes.total() - written).toBe(1);
});

/** A kind in two versions, without a schema. */
function makeCrd(): JsonObject {
  const version = (name: string, storage: boolean): JsonObject => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  });
  return {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [version("v1", true), version("v2", false)],
    },
  };
}

test("evaluations are counted by policy, binding and what was done", async () => {
  await validating({ binding: { validationActions: ["Warn"] } });
  await mutating("Object{data: {'b': '2'}}", { name: "m" });
  await create("a");

  const { text } = await subject.request("GET", "/metrics");

  expect(text).toContain(
    'apiserver_validating_admission_policy_check_total{policy="p",policy_binding="p-b",error_type="no_error",enforcement_action="warn"} 1',
  );
  expect(text).toContain(
    'apiserver_mutating_admission_policy_check_total{policy="m",policy_binding="m-b",error_type="no_error"} 1',
  );
});
