/** Authorization: RBAC and access reviews. */
import { omitEmpty } from "@flotilla/base";
import { expect, test } from "vitest";
import { NAMESPACE, contract, eventually } from "../../programs/api-servers.ts";
import type { Answer, Api } from "../../programs/raw-client.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const ROLES = `${RBAC}/namespaces/${NAMESPACE}/roles`;
const BINDINGS = `${RBAC}/namespaces/${NAMESPACE}/rolebindings`;
const REVIEWS = "/apis/authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";
const user = (name: string): object => ({ kind: "User", name, apiGroup: GROUP });
const roleRef = (kind: string, name: string): object => ({ kind, name, apiGroup: GROUP });
const rule = (verbs: string[], resources: string[], rest: object = {}): object => ({
  apiGroups: [""],
  resources,
  verbs,
  ...rest,
});

contract("authorization", (subject) => {
  const as = (name: string, ...groups: string[]): Api =>
    subject.api.as({ "impersonate-user": name, ...omitEmpty({ "impersonate-group": groups }) });
  const make = async (path: string, object: object): Promise<Answer> => {
    const answer = await subject.api.create(path, object);
    expect(answer.status, answer.text).toBe(201);
    return answer;
  };
  /** The real server's authorizer learns of roles through informers; Flotilla's immediately. */
  const statusOf = (api: Api, path: string, want: number): Promise<Answer> =>
    eventually(
      `${path} is answered ${want}`,
      () => api.get(path),
      ({ status }) => status === want,
    );

  test("a role allows its verbs on its resources in its namespace, and nothing else", async () => {
    await make(ROLES, { metadata: { name: "reader" }, rules: [rule(["get", "list"], ["configmaps"])] });
    await make(BINDINGS, { metadata: { name: "reader" }, roleRef: roleRef("Role", "reader"), subjects: [user("ann")] });
    const ann = as("ann");

    await statusOf(ann, `/api/v1/namespaces/${NAMESPACE}/configmaps`, 200);

    expect((await ann.get("/api/v1/namespaces/default/configmaps")).status).toBe(403);
    expect((await ann.get(`/api/v1/namespaces/${NAMESPACE}/secrets`)).status).toBe(403);
    expect((await ann.delete(`/api/v1/namespaces/${NAMESPACE}/configmaps/kube-root-ca.crt`)).status).toBe(403);
    expect((await as("bob").get(`/api/v1/namespaces/${NAMESPACE}/configmaps`)).status).toBe(403);
  });

  test("resource names and subresources need separate permissions", async () => {
    await make(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`, {
      metadata: { name: "web" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
      },
    });
    await make(ROLES, {
      metadata: { name: "scaler" },
      rules: [
        { apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["*"], resourceNames: ["web"] },
        { apiGroups: ["apps"], resources: ["*/status"], verbs: ["get"] },
      ],
    });
    await make(BINDINGS, {
      metadata: { name: "scaler" },
      roleRef: roleRef("Role", "scaler"),
      subjects: [{ kind: "Group", name: "scalers", apiGroup: GROUP }],
    });
    const cid = as("cid", "scalers");
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;

    await statusOf(cid, `${path}/web/scale`, 200);

    expect((await cid.get(`${path}/web/status`)).status).toBe(200);
    expect((await cid.get(`${path}/web`)).status).toBe(403);
    expect((await cid.get(`${path}/other/scale`)).status).toBe(403);
  });

  test("a RoleBinding limits a ClusterRole to its namespace, and service accounts are subjects", async () => {
    await make(BINDINGS, {
      metadata: { name: "viewer" },
      roleRef: roleRef("ClusterRole", "view"),
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: NAMESPACE }],
    });
    const account = as(
      `system:serviceaccount:${NAMESPACE}:default`,
      "system:serviceaccounts",
      `system:serviceaccounts:${NAMESPACE}`,
    );

    await statusOf(account, `/api/v1/namespaces/${NAMESPACE}/pods`, 200);

    expect((await account.get("/api/v1/pods")).status).toBe(403);
    expect((await account.get(`/api/v1/namespaces/${NAMESPACE}/secrets`)).status).toBe(403);
  });

  test("non-resource URLs are allowed by prefix, and system:masters may do everything", async () => {
    await make(`${RBAC}/clusterroles`, {
      metadata: { name: "measurer" },
      rules: [{ nonResourceURLs: ["/metrics*"], verbs: ["get"] }],
    });
    await make(`${RBAC}/clusterrolebindings`, {
      metadata: { name: "measurer" },
      roleRef: roleRef("ClusterRole", "measurer"),
      subjects: [user("meg")],
    });

    await statusOf(as("meg"), "/metrics", 200);

    expect((await as("meg").get("/logs")).status).toBe(403);
    expect((await as("anybody", "system:masters").get("/api/v1/secrets")).status).toBe(200);
  });

  test("the default roles of Kubernetes exist and are distinguishable from users' roles", async () => {
    const names = [
      "cluster-admin",
      "admin",
      "edit",
      "view",
      "system:discovery",
      "system:basic-user",
      "system:public-info-viewer",
      "system:auth-delegator",
      "system:node-bootstrapper",
      "system:kube-controller-manager",
      "system:kube-scheduler",
      "system:node",
      "system:monitoring",
      "system:controller:namespace-controller",
    ];
    const roles = await Promise.all(
      names.map((name) => subject.api.get(`${RBAC}/clusterroles/${encodeURIComponent(name)}`)),
    );

    expect(roles.map(({ status }) => status)).toEqual(names.map(() => 200));
    for (const { body } of roles)
      expect(body.metadata).toMatchObject({
        labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
        annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
      });
    expect((await subject.api.get(`${RBAC}/clusterrolebindings/system:discovery`)).body).toMatchObject({
      subjects: [{ kind: "Group", name: "system:authenticated" }],
      roleRef: { name: "system:discovery" },
    });
  });

  test("an aggregated ClusterRole has the rules of all roles that match its selectors, and follows them", async () => {
    const rules = async (name: string): Promise<string> => (await subject.api.get(`${RBAC}/clusterroles/${name}`)).text;
    await make(`${RBAC}/clusterroles`, {
      metadata: { name: "sum" },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "example.com/sum": "true" } }] },
      rules: [],
    });
    await make(`${RBAC}/clusterroles`, {
      metadata: {
        name: "part",
        labels: { "example.com/sum": "true", "rbac.authorization.k8s.io/aggregate-to-view": "true" },
      },
      rules: [{ apiGroups: ["parts.example.com"], resources: ["parts"], verbs: ["get"] }],
    });

    await eventually(
      "the sum",
      () => rules("sum"),
      (text) => text.includes("parts.example.com"),
    );
    await eventually(
      "view",
      () => rules("view"),
      (text) => text.includes("parts.example.com"),
    );
    await eventually(
      "admin",
      () => rules("admin"),
      (text) => text.includes("parts.example.com"),
    );
    await subject.api.delete(`${RBAC}/clusterroles/part`);

    expect(
      await eventually(
        "the sum without it",
        () => rules("sum"),
        (text) => !text.includes("parts.example.com"),
      ),
    ).not.toContain("parts.example.com");
  });

  test("a user cannot grant permissions beyond their own", async () => {
    await make(ROLES, {
      metadata: { name: "role-writer" },
      rules: [
        { apiGroups: [GROUP], resources: ["roles", "rolebindings"], verbs: ["create", "update", "patch"] },
        rule(["get"], ["pods"]),
      ],
    });
    await make(BINDINGS, {
      metadata: { name: "role-writer" },
      roleRef: roleRef("Role", "role-writer"),
      subjects: [user("dan")],
    });
    const dan = as("dan");

    const held = await eventually(
      "a role of rights that he has",
      () => dan.create(`${ROLES}?dryRun=All`, { metadata: { name: "held" }, rules: [rule(["get"], ["pods"])] }),
      ({ status }) => status === 201,
    );
    const more = await dan.create(ROLES, { metadata: { name: "more" }, rules: [rule(["get"], ["secrets"])] });
    const bound = await dan.create(BINDINGS, {
      metadata: { name: "bound" },
      roleRef: roleRef("ClusterRole", "cluster-admin"),
      subjects: [user("dan")],
    });

    expect(held.status).toBe(201);
    expect([more.status, more.body.message]).toEqual([
      403,
      expect.stringContaining(
        'user "dan" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently ' +
          'held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
      ),
    ]);
    expect([bound.status, bound.body.message]).toEqual([
      403,
      expect.stringContaining("is attempting to grant RBAC permissions not currently held"),
    ]);
  });

  test("the verbs escalate and bind allow granting further permissions", async () => {
    await make(ROLES, {
      metadata: { name: "escalator" },
      rules: [
        { apiGroups: [GROUP], resources: ["roles"], verbs: ["create", "escalate"] },
        { apiGroups: [GROUP], resources: ["rolebindings"], verbs: ["create"] },
      ],
    });
    await make(BINDINGS, {
      metadata: { name: "escalator" },
      roleRef: roleRef("Role", "escalator"),
      subjects: [user("eve")],
    });
    await make(`${RBAC}/clusterroles`, {
      metadata: { name: "binder" },
      rules: [{ apiGroups: [GROUP], resources: ["clusterroles"], resourceNames: ["edit"], verbs: ["bind"] }],
    });
    await make(`${RBAC}/clusterrolebindings`, {
      metadata: { name: "binder" },
      roleRef: roleRef("ClusterRole", "binder"),
      subjects: [user("eve")],
    });
    const eve = as("eve");

    await eventually(
      "an escalation",
      () => eve.create(`${ROLES}?dryRun=All`, { metadata: { name: "escalated" }, rules: [rule(["*"], ["*"])] }),
      ({ status }) => status === 201,
    );
    await eventually(
      "a binding",
      () =>
        eve.create(`${BINDINGS}?dryRun=All`, {
          metadata: { name: "bound-edit" },
          roleRef: roleRef("ClusterRole", "edit"),
          subjects: [user("x")],
        }),
      ({ status }) => status === 201,
    );

    expect(
      (
        await eve.create(`${BINDINGS}?dryRun=All`, {
          metadata: { name: "bound-admin" },
          roleRef: roleRef("ClusterRole", "cluster-admin"),
          subjects: [user("x")],
        })
      ).status,
    ).toBe(403);
  });

  test("the roleRef of a binding is immutable", async () => {
    await make(BINDINGS, {
      metadata: { name: "kept" },
      roleRef: roleRef("ClusterRole", "view"),
      subjects: [user("x")],
    });

    const { status, body } = await subject.api.patch("merge", `${BINDINGS}/kept`, { roleRef: { name: "edit" } });

    expect([status, body.details?.causes?.[0]?.field, body.details?.causes?.[0]?.message]).toEqual([
      422,
      "roleRef",
      expect.stringContaining("cannot change roleRef"),
    ]);
  });

  test("access reviews report the permissions of the caller and of other users", async () => {
    await make(BINDINGS, {
      metadata: { name: "reviewed" },
      roleRef: roleRef("ClusterRole", "view"),
      subjects: [user("fay")],
    });
    const attributes = (verb: string, resource: string): object => ({ namespace: NAMESPACE, verb, resource });
    const fay = as("fay");

    const self = await eventually(
      "the review",
      () =>
        fay.create(`${REVIEWS}/selfsubjectaccessreviews`, { spec: { resourceAttributes: attributes("list", "pods") } }),
      ({ body }) => (body.status as { allowed: boolean }).allowed,
    );
    const denied = await fay.create(`${REVIEWS}/selfsubjectaccessreviews`, {
      spec: { resourceAttributes: attributes("delete", "pods") },
    });
    const others = await subject.api.create(`${REVIEWS}/subjectaccessreviews`, {
      spec: { user: "fay", resourceAttributes: attributes("get", "configmaps") },
    });
    const local = await subject.api.create(`${REVIEWS}/namespaces/${NAMESPACE}/localsubjectaccessreviews`, {
      spec: { user: "fay", resourceAttributes: attributes("get", "secrets") },
    });
    const path = await subject.api.create(`${REVIEWS}/subjectaccessreviews`, {
      spec: { user: "fay", groups: ["system:authenticated"], nonResourceAttributes: { path: "/version", verb: "get" } },
    });
    const elsewhere = await subject.api.create(`${REVIEWS}/namespaces/default/localsubjectaccessreviews`, {
      spec: { user: "fay", resourceAttributes: attributes("get", "secrets") },
    });

    expect([self.status, self.body.status]).toEqual([
      201,
      {
        allowed: true,
        reason: `RBAC: allowed by RoleBinding "reviewed/${NAMESPACE}" of ClusterRole "view" to User "fay"`,
      },
    ]);
    expect(denied.body.status).toEqual({ allowed: false });
    expect(others.body.status).toMatchObject({ allowed: true });
    expect(local.body.status).toEqual({ allowed: false });
    expect(path.body.status).toMatchObject({ allowed: true });
    expect(elsewhere.status).toBe(422);
    expect((await subject.api.get(`${REVIEWS}/subjectaccessreviews`)).status).toBe(405);
  });

  test("a SelfSubjectRulesReview lists all rules of a user in a namespace", async () => {
    await make(ROLES, { metadata: { name: "listed" }, rules: [rule(["get"], ["pods/log"], { resourceNames: ["p"] })] });
    await make(BINDINGS, { metadata: { name: "listed" }, roleRef: roleRef("Role", "listed"), subjects: [user("gus")] });

    const { body } = await eventually(
      "the rules",
      () => as("gus").create(`${REVIEWS}/selfsubjectrulesreviews`, { spec: { namespace: NAMESPACE } }),
      ({ text }) => text.includes("pods/log"),
    );

    expect(body.status).toMatchObject({
      incomplete: false,
      resourceRules: expect.arrayContaining([
        { verbs: ["get"], apiGroups: [""], resources: ["pods/log"], resourceNames: ["p"] },
      ]),
      nonResourceRules: expect.arrayContaining([expect.objectContaining({ verbs: ["get"] })]),
    });
  });
});
