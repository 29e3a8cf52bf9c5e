import { beforeEach, describe, expect, test } from "vitest";
import { ANN, RBAC, bindingTo, configMaps, createAccessServer } from "./test-access.ts";
import type { AccessServer } from "./test-access.ts";

const ROLES = `${RBAC}/namespaces/default/roles`;
const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;
const rolesRule = (verbs: string[], more = {}) => ({
  apiGroups: ["rbac.authorization.k8s.io"],
  resources: ["roles", "rolebindings"],
  verbs,
  ...more,
});
const secrets = { apiGroups: [""], resources: ["secrets"], verbs: ["get"] };

let server: AccessServer;
beforeEach(async () => {
  server = await createAccessServer();
});

describe("AZ-4: who writes a role", () => {
  test("must hold every rule in it", async () => {
    await server.allow(configMaps(["get"]), rolesRule(["create"]));

    expect(
      (await server.ask(ANN, "POST", ROLES, { metadata: { name: "ok" }, rules: [configMaps(["get"])] })).code,
    ).toBe(201);
    expect(
      (await server.ask(ANN, "POST", ROLES, { metadata: { name: "bad" }, rules: [configMaps(["get"]), secrets] })).body,
    ).toMatchObject({
      code: 403,
      message:
        'roles.rbac.authorization.k8s.io "bad" is forbidden: user "ann" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    });
  });

  test("may escalate with that verb", async () => {
    await server.allow(rolesRule(["create", "escalate"]));

    expect((await server.ask(ANN, "POST", ROLES, { metadata: { name: "strong" }, rules: [secrets] })).code).toBe(201);
  });

  test("cannot keep the server busy with lists that multiply", async () => {
    await server.allow(rolesRule(["create"]));
    const many = Array.from({ length: 1000 }, (_, index) => `x${index}`);

    const { body } = await server.ask(ANN, "POST", ROLES, {
      metadata: { name: "huge" },
      rules: [{ apiGroups: many, resources: many, verbs: many }],
    });

    expect(body).toMatchObject({
      code: 403,
      message: expect.stringContaining("the rules name 1000000000 combinations") as string,
    });
  });

  test("is told of roles that could not be looked at", async () => {
    await server.allow(rolesRule(["create"]));
    await server.make(BINDINGS, bindingTo("broken", { kind: "Role", name: "gone" }));

    const { body } = await server.ask(ANN, "POST", ROLES, { metadata: { name: "bad" }, rules: [secrets] });

    expect(body.message).toMatch(
      /Verbs:\["get"\]}; resolution errors: \[roles\.rbac\.authorization\.k8s\.io "gone" not found\]$/,
    );
  });

  test("needs everything to gather the rules of others", async () => {
    await server.make(`${RBAC}/clusterroles`, {
      metadata: { name: "c" },
      rules: [{ ...rolesRule(["create"]), resources: ["clusterroles"] }],
    });
    await server.make(`${RBAC}/clusterrolebindings`, bindingTo("c", { kind: "ClusterRole", name: "c" }));

    const { body } = await server.ask(ANN, "POST", `${RBAC}/clusterroles`, {
      metadata: { name: "all" },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] },
    });

    expect(body).toMatchObject({
      code: 403,
      message:
        'clusterroles.rbac.authorization.k8s.io "all" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    });
  });

  test("may let go of one that is stronger: owners and finalizers are no rules", async () => {
    await server.allow(rolesRule(["create", "patch"]));
    await server.make(ROLES, { metadata: { name: "strong", finalizers: ["example.com/a"] }, rules: [secrets] });
    const patch = (body: object) =>
      server.ask(ANN, "PATCH", `${ROLES}/strong`, body as never, { "content-type": "application/merge-patch+json" });

    expect((await patch({ metadata: { labels: { a: "b" } } })).code).toBe(403);
    expect((await patch({ metadata: { finalizers: null } })).code).toBe(200);
  });
});

describe("AZ-4: who writes a binding", () => {
  test("must hold what the role holds", async () => {
    await server.allow(configMaps(["get"]), rolesRule(["create"]));
    await server.make(ROLES, { metadata: { name: "strong" }, rules: [secrets] });

    expect((await server.ask(ANN, "POST", BINDINGS, bindingTo("x", { kind: "Role", name: "strong" }))).code).toBe(403);
    expect(
      (await server.ask(ANN, "POST", BINDINGS, bindingTo("y", { kind: "ClusterRole", name: "cluster-admin" }))).body
        .message,
    ).toMatch(
      /\n{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]}\n{NonResourceURLs:\["\*"\], Verbs:\["\*"\]}$/,
    );
    expect((await server.ask(ANN, "POST", BINDINGS, bindingTo("z", { kind: "Role", name: "r" }))).code).toBe(201);
  });

  test("may bind a role that it was allowed to bind", async () => {
    await server.allow(rolesRule(["create"]), { ...rolesRule(["bind"]), resourceNames: ["strong"] });
    await server.make(ROLES, { metadata: { name: "strong" }, rules: [secrets] });

    expect((await server.ask(ANN, "POST", BINDINGS, bindingTo("x", { kind: "Role", name: "strong" }))).code).toBe(201);
  });

  test("cannot bind what is no role, or a role of no namespace", async () => {
    await server.make(`${RBAC}/clusterroles`, {
      metadata: { name: "c" },
      rules: [{ ...rolesRule(["create"]), resources: ["*"] }],
    });
    await server.make(`${RBAC}/clusterrolebindings`, bindingTo("c", { kind: "ClusterRole", name: "c" }));

    expect((await server.ask(ANN, "POST", BINDINGS, bindingTo("x", { kind: "Thing", name: "a" }))).body).toMatchObject({
      code: 500,
      message: 'unsupported role reference kind: "Thing"',
    });
    expect(
      (await server.ask(ANN, "POST", `${RBAC}/clusterrolebindings`, bindingTo("x", { kind: "Role", name: "a" }))).body,
    ).toMatchObject({ code: 400, message: "Namespace parameter required." });
  });

  test("cannot bind a role that is not there", async () => {
    await server.allow(rolesRule(["create"]));

    expect(
      (await server.ask(ANN, "POST", BINDINGS, bindingTo("x", { kind: "Role", name: "gone" }))).body,
    ).toMatchObject({ code: 404, message: 'rolebindings.rbac.authorization.k8s.io "gone" not found' });
  });
});
