/** Authorization webhooks: what they are asked, what their answers mean, and what happens when they fail. */
import { describe, expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { FULL_PROFILE } from "../access/test-access.ts";
import { createTestServer } from "../test-server.ts";
import type { AccessRequest } from "../request/authorize.ts";
import { readAuthorizationConfiguration } from "./authorization-configuration.ts";
import { createAuthorizationWebhook, opinionOf } from "./authorization-webhook.ts";

const GET: AccessRequest = {
  user: { name: "ann", groups: ["shop"], extra: { "example.com/a": ["1"], "flotilla.dev/cluster": ["forged"] } },
  verb: "get",
  cluster: "hub",
  resource: { group: "apps", version: "v1", resource: "deployments", namespace: "shop", name: "web" },
};
const ALLOWED: Json = { status: { allowed: true, reason: "because" } };

const webhookYaml = (more: string): string => `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
  - type: Webhook
    name: guard
    webhook:
      timeout: 3s
      subjectAccessReviewVersion: v1
      matchConditionSubjectAccessReviewVersion: v1
      connectionInfo: { type: KubeConfigFile, kubeConfigFile: guard.kubeconfig }
      ${more}
  - { type: RBAC, name: rbac }`;

function start(answer: (spec: JsonObject) => Json | Promise<Json>, more = "failurePolicy: Deny") {
  const clock = createFakeClock();
  const asked: JsonObject[] = [];
  const [first] = readAuthorizationConfiguration(webhookYaml(more), "authorization.yaml");
  if (first?.type !== "Webhook") throw new Error("the first authorizer is the webhook");
  const webhook = createAuthorizationWebhook(first.settings, {
    clusterKey: "flotilla.dev/cluster",
    post: async (body) => {
      const review = JSON.parse(body.toString()) as { spec: JsonObject };
      asked.push(review.spec);
      return answer(review.spec);
    },
    clock,
    log: silentLog,
  });
  return { webhook, clock, asked };
}

test("asks with a SubjectAccessReview that names the logical cluster, and remembers the answer", async () => {
  const { webhook, clock, asked } = start(() => ALLOWED);

  const answers = await Promise.all([webhook.ask(GET), webhook.ask(GET)]);

  expect(answers).toEqual([
    { opinion: "allow", reason: "because" },
    { opinion: "allow", reason: "because" },
  ]);
  expect(asked).toEqual([
    {
      user: "ann",
      uid: "",
      groups: ["shop"],
      extra: { "example.com/a": ["1"], "flotilla.dev/cluster": ["hub"] },
      resourceAttributes: {
        namespace: "shop",
        verb: "get",
        group: "apps",
        version: "v1",
        resource: "deployments",
        subresource: "",
        name: "web",
      },
    },
  ]);
  clock.advance(299_000);
  expect(webhook.ask(GET)).not.toBeInstanceOf(Promise);
  clock.advance(1_000);
  await webhook.ask(GET);
  expect(asked).toHaveLength(2);
  await webhook.ask({ ...GET, cluster: "other" });
  expect(asked).toHaveLength(3);
});

test("answers that do not allow are remembered for a shorter time", async () => {
  const { webhook, clock, asked } = start(() => ({ status: { denied: true } }));

  await webhook.ask(GET);
  clock.advance(29_000);
  await webhook.ask(GET);
  clock.advance(1_000);
  await webhook.ask(GET);

  expect(asked).toHaveLength(2);
});

test("answers are not remembered where the configuration says so", async () => {
  const { webhook, asked } = start(() => ALLOWED, "failurePolicy: Deny\n      cacheAuthorizedRequests: false");

  await webhook.ask(GET);
  await webhook.ask(GET);

  expect(asked).toHaveLength(2);
});

describe("a webhook that fails", () => {
  const failure = (): never => {
    throw new Error("connection refused");
  };
  const error = 'the authorization webhook "guard" cannot be called: connection refused';

  test("denies with failurePolicy Deny, has no opinion with NoOpinion, and is asked again", async () => {
    const denying = start(failure);
    const open = start(failure, "failurePolicy: NoOpinion");

    expect(await denying.webhook.ask(GET)).toEqual({ opinion: "deny", reason: "", error });
    expect(await open.webhook.ask(GET)).toEqual({ opinion: "none", reason: "", error });
    await denying.webhook.ask(GET);
    expect(denying.asked).toHaveLength(2);
  });

  test("fails after its timeout", async () => {
    const clock = createFakeClock();
    const { promise: hung, reject } = Promise.withResolvers<Json>();
    const stuck = createAuthorizationWebhook(
      {
        name: "guard",
        timeoutMs: 3_000,
        authorizedTtlMs: 0,
        unauthorizedTtlMs: 0,
        failurePolicy: "Deny",
        conditions: () => ({ matches: true }),
      },
      {
        clusterKey: "flotilla.dev/cluster",
        post: (_, signal) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
          return hung;
        },
        clock,
        log: silentLog,
      },
    );

    const answer = stuck.ask(GET);
    await Promise.resolve();
    clock.advance(3_000);

    expect(await answer).toMatchObject({ opinion: "deny", error: expect.stringContaining("no response within 3 s") });
  });
});

describe("answers", () => {
  test.each<[string, Json, unknown]>([
    ["allowed", { status: { allowed: true } }, { opinion: "allow", reason: "" }],
    ["denied", { status: { allowed: false, denied: true, reason: "no" } }, { opinion: "deny", reason: "no" }],
    ["neither", { status: { allowed: false } }, { opinion: "none", reason: "" }],
  ])("%s", (_, answer, want) => expect(opinionOf(answer)).toEqual(want));

  test.each<[string, Json, string]>([
    ["both", { status: { allowed: true, denied: true } }, "allows and denies"],
    ["no status", {}, "has no status"],
    ["texts", { status: { allowed: "true" } }, "must be booleans"],
  ])("%s is not an answer", (_, answer, problem) => expect(() => opinionOf(answer)).toThrow(problem));
});

describe("match conditions", () => {
  const conditions = (expression: string, policy = "Deny"): string =>
    `failurePolicy: ${policy}\n      matchConditions: [{expression: ${JSON.stringify(expression)}}]`;

  test("a webhook is called only for requests that its conditions select", async () => {
    const { webhook, asked } = start(
      () => ALLOWED,
      conditions(
        "has(request.resourceAttributes) && request.resourceAttributes.namespace == 'shop' && 'hub' in request.extra['flotilla.dev/cluster']",
      ),
    );

    await webhook.ask(GET);
    await webhook.ask({ ...GET, resource: { group: "", resource: "pods", namespace: "other" } });
    await webhook.ask({ user: GET.user, cluster: "hub", verb: "get", path: "/version" });

    expect(asked).toHaveLength(1);
  });

  test("one that fails is a failure of the webhook", () => {
    const { webhook } = start(() => ALLOWED, conditions("request.extra['missing'][0] == 'x'"));

    expect(webhook.ask(GET)).toMatchObject({ opinion: "deny", error: expect.stringContaining("no such key") });
  });
});

describe("configurations that are rejected", () => {
  const cases: Record<string, [more: string, problem: string]> = {
    "no failure policy": ["authorizedTTL: 5m", "authorizers[0].webhook.failurePolicy: Required value"],
    "an unknown field of a request": [
      "failurePolicy: Deny\n      matchConditions: [{expression: request.nothing == ''}]",
      "matchConditions[0].expression: Invalid value",
    ],
    "a condition that is not a bool": [
      "failurePolicy: Deny\n      matchConditions: [{expression: request.user}]",
      "must evaluate to bool, not string",
    ],
    "a time without a unit": ["failurePolicy: Deny\n      authorizedTTL: '5'", "authorizedTTL: Invalid value"],
  };
  test.each(Object.entries(cases))("%s", (_, [more, problem]) => {
    expect(() => readAuthorizationConfiguration(webhookYaml(more), "f.yaml")).toThrow(problem);
  });

  test("a long timeout, other types, and the same name twice", () => {
    const long = webhookYaml("failurePolicy: Deny").replace("timeout: 3s", "timeout: 31s");
    const read = (authorizers: string) => () =>
      readAuthorizationConfiguration(
        `{apiVersion: apiserver.config.k8s.io/v1, kind: AuthorizationConfiguration, authorizers: ${authorizers}}`,
        "f.yaml",
      );

    expect(() => readAuthorizationConfiguration(long, "f.yaml")).toThrow("must be at most 30s");
    expect(read("[{type: ABAC, name: abac}]")).toThrow('supported values: "Node", "RBAC", "Webhook"');
    expect(read("[{type: Node, name: a}, {type: Node, name: b}]")).toThrow('Duplicate value: "Node"');
    expect(read("[{type: RBAC, name: a}, {type: RBAC, name: a}]")).toThrow("Duplicate value");
    expect(read("[]")).toThrow("at least one authorizer");
  });
});

describe("a server with a webhook before its roles", () => {
  const PODS = "/api/v1/namespaces/default/configmaps";
  const serve = async (answer: (spec: JsonObject) => Json, more?: string) => {
    const { webhook, asked } = start(answer, more);
    const { request } = await createTestServer({
      user: { name: "ann", groups: ["system:authenticated"] },
      profiles: { hub: FULL_PROFILE },
      authorization: { authorizers: [webhook, "roles"] },
    });
    return { request, asked };
  };
  const attributes = (spec: JsonObject) => spec.resourceAttributes as { verb: string; resource: string } | undefined;

  test("allows what no role allows", async () => {
    const { request } = await serve(() => ALLOWED);

    expect((await request("GET", PODS)).status).toBe(200);
    expect((await request("GET", "/metrics")).status).toBe(200);
  });

  test("denies with its reason, and asks the roles where it has no opinion", async () => {
    const { request } = await serve((spec) =>
      attributes(spec)?.resource === "secrets"
        ? { status: { allowed: false, denied: true, reason: "never" } }
        : { status: { allowed: false, denied: false, reason: "" } },
    );

    expect((await request("GET", "/api/v1/namespaces/default/secrets")).body).toMatchObject({
      code: 403,
      message: expect.stringMatching(/cannot list resource "secrets" .*: never$/),
    });
    expect((await request("GET", PODS)).status).toBe(403);
    expect((await request("GET", "/version")).status).toBe(200);
  });

  test("answers 500 when it fails and its policy is Deny", async () => {
    const { request } = await serve(() => {
      throw new Error("connection refused");
    });

    expect((await request("GET", PODS)).body).toMatchObject({
      code: 500,
      message: expect.stringContaining('the authorization webhook "guard" cannot be called: connection refused'),
    });
  });

  test("is asked about access reviews, and SelfSubjectRulesReviews are incomplete", async () => {
    const { request } = await serve((spec) => ({
      status: { allowed: attributes(spec)?.resource !== "secrets", denied: attributes(spec)?.resource === "secrets" },
    }));
    const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" };

    const { body } = await request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      ...review,
      spec: { resourceAttributes: { verb: "get", resource: "secrets" } },
    });
    const rules = await request("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
      ...review,
      kind: "SelfSubjectRulesReview",
      spec: { namespace: "default" },
    });

    expect(body.status).toEqual({ allowed: false, denied: true });
    expect(rules.body.status).toMatchObject({ incomplete: true });
  });

  test("decides on impersonation, on roles beyond one's own, and on create through update", async () => {
    const { request, asked } = await serve((spec) => ({
      status: { allowed: !["bind", "escalate"].includes(attributes(spec)?.verb ?? "") },
    }));
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "r", namespace: "default" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    };

    const made = await request("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", role);
    const impersonated = await request("GET", PODS, undefined, { "impersonate-user": "bob" });
    const put = await request(
      "PATCH",
      `${PODS}/c?fieldManager=t`,
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } },
      { "content-type": "application/apply-patch+yaml" },
    );

    expect([made.status, impersonated.status, put.status]).toEqual([403, 200, 201]);
    expect(asked.map((spec) => attributes(spec)?.verb)).toEqual(
      expect.arrayContaining(["escalate", "impersonate:user-info", "create"]),
    );
  });

  test("decides on the checks of a policy, whose expression runs again with the answer", async () => {
    const { webhook } = start(
      (spec) => ({ status: { allowed: attributes(spec)?.verb !== "fly" } }),
      "failurePolicy: Deny\n      cacheUnauthorizedRequests: false",
    );
    const { request } = await createTestServer({
      user: { name: "ann", groups: ["system:authenticated"] },
      profiles: { hub: FULL_PROFILE },
      authorization: { authorizers: [webhook, "roles"] },
    });
    const GROUP = "admissionregistration.k8s.io";
    const kind = (name: string) => ({ apiVersion: `${GROUP}/v1`, kind: name, metadata: { name: "p" } });
    await request("POST", `/apis/${GROUP}/v1/validatingadmissionpolicies`, {
      ...kind("ValidatingAdmissionPolicy"),
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
        },
        validations: [
          {
            expression:
              "authorizer.group('').resource('pods').check('walk').allowed() && authorizer.group('').resource('pods').check('fly').allowed()",
            message: "flying is not allowed",
          },
        ],
      },
    });
    await request("POST", `/apis/${GROUP}/v1/validatingadmissionpolicybindings`, {
      ...kind("ValidatingAdmissionPolicyBinding"),
      spec: { policyName: "p", validationActions: ["Deny"] },
    });

    const { body } = await request("POST", PODS, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } });

    expect(body).toMatchObject({ code: 422, message: expect.stringContaining("flying is not allowed") });
  });

  test("is not asked about administrators and the controllers of the server", async () => {
    const { webhook, asked } = start(() => ({ status: { denied: true } }));
    const { request, transport } = await createTestServer({ authorization: { authorizers: [webhook, "roles"] } });

    expect((await request("GET", PODS)).status).toBe(200);
    await transport.send({
      verb: "list",
      path: { cluster: "hub", group: "", version: "v1", resource: "configmaps", namespace: "default" },
    });
    expect(asked).toEqual([]);
  });
});
