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

describe("a user who writes a role", () => {
  test("must hold every rule in the role", async () => {
    await server.allow(configMaps(["get"]), rolesRule(["create"]));

    expect(
      (await server.ask(ANN, "POST", ROLES, { metadata: { name: "ok" }, rules: [configMaps(["get"])] })).code,
    ).toBe(201);
    expect(
      (await server.ask(ANN, "POST", ROLES, { metadata: { name: "bad" }, rules: [configMaps(["get"]), secrets] })).body,
    ).toMatchObject({
      code: 403,
      message:
        'roles.rbac.authorization.k8s.io "bad" is forbidden: user "ann" (groups=["system:authenticated"]) is ' +
        'attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], ' +
        'Verbs:["get"]}',
    });
  });

  test("needs no rules with the verb escalate", async () => {
    await server.allow(rolesRule(["create", "escalate"]));

    expect((await server.ask(ANN, "POST", ROLES, { metadata: { name: "strong" }, rules: [secrets] })).code).toBe(201);
  });

  test("is rejected when the rules multiply into too many combinations", async () => {
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

  test("receives the resolution errors of roles that do not exist", async () => {
    await server.allow(rolesRule(["create"]));
    await server.make(BINDINGS, bindingTo("broken", { kind: "Role", name: "gone" }));

    const { body } = await server.ask(ANN, "POST", ROLES, { metadata: { name: "bad" }, rules: [secrets] });

    expect(body.message).toMatch(
      /Verbs:\["get"\]}; resolution errors: \[roles\.rbac\.authorization\.k8s\.io "gone" not found\]$/,
    );
  });

  test("needs full authority to write an aggregationRule", async () => {
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

  test("may remove owners and finalizers from a stronger role", async () => {
    await server.allow(rolesRule(["create", "patch"]));
    await server.make(ROLES, { metadata: { name: "strong", finalizers: ["example.com/a"] }, rules: [secrets] });
    const patch = (body: object) =>
      server.ask(ANN, "PATCH", `${ROLES}/strong`, body as never, { "content-type": "application/merge-patch+json" });

    expect((await patch({ metadata: { labels: { a: "b" } } })).code).toBe(403);
    expect((await patch({ metadata: { finalizers: null } })).code).toBe(200);
  });
});

describe("a user who writes a binding", () => {
  test("must hold the rules of the role", async () => {
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

  test("needs no rules with the verb bind on the role", async () => {
    await server.allow(rolesRule(["create"]), { ...rolesRule(["bind"]), resourceNames: ["strong"] });
    await server.make(ROLES, { metadata: { name: "strong" }, rules: [secrets] });

    expect((await server.ask(ANN, "POST", BINDINGS, bindingTo("x", { kind: "Role", name: "strong" }))).code).toBe(201);
  });

  test("cannot bind an unsupported kind, or a Role outside a namespace", async () => {
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

  test("cannot bind a role that does not exist", async () => {
    await server.allow(rolesRule(["create"]));

    expect(
      (await server.ask(ANN, "POST", BINDINGS, bindingTo("x", { kind: "Role", name: "gone" }))).body,
    ).toMatchObject({ code: 404, message: 'rolebindings.rbac.authorization.k8s.io "gone" not found' });
  });
});
