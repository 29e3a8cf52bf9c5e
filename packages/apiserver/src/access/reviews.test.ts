import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { ADMIN } from "../test-server.ts";
import { ANN, RBAC, bindingTo, configMaps, createAccessServer } from "./test-access.ts";
import type { AccessServer } from "./test-access.ts";

const GROUP = "/apis/authorization.k8s.io/v1";
let server: AccessServer;
beforeEach(async () => {
  server = await createAccessServer();
  await server.allow(configMaps(["get"]));
});
const get = (more: JsonObject = {}): JsonObject => ({
  verb: "get",
  resource: "configmaps",
  namespace: "default",
  ...more,
});
const statusOf = async (resource: string, spec: JsonObject, user = ADMIN): Promise<JsonObject> =>
  (await server.ask(user, "POST", `${GROUP}/${resource}`, { spec })).body.status as JsonObject;

describe("an access review", () => {
  const allowed = { allowed: true, reason: 'RBAC: allowed by RoleBinding "b/default" of Role "r" to User "ann"' };
  const cases: Record<string, { spec: JsonObject; want: JsonObject }> = {
    "names the binding that allows the access": { spec: { user: "ann", resourceAttributes: get() }, want: allowed },
    "can ask about one object": { spec: { user: "ann", resourceAttributes: get({ name: "x" }) }, want: allowed },
    "denies without a reason": {
      spec: { user: "ann", resourceAttributes: get({ verb: "list" }) },
      want: { allowed: false },
    },
    "allows administrators everything": {
      spec: { groups: ["system:masters"], resourceAttributes: get() },
      want: { allowed: true },
    },
    "can ask about nonresource paths": {
      spec: { groups: ["system:unauthenticated"], nonResourceAttributes: { path: "/version", verb: "get" } },
      want: {
        allowed: true,
        reason:
          'RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole "system:public-info-viewer" to Group "system:unauthenticated"',
      },
    },
    "ignores and reports a selector that cannot be parsed": {
      spec: {
        user: "ann",
        resourceAttributes: get({
          fieldSelector: { rawSelector: "a" },
          labelSelector: {
            requirements: [
              { key: "a", operator: "Exists" },
              { key: "b", operator: "Unheard" },
            ],
          },
        }),
      },
      want: {
        ...allowed,
        evaluationError:
          "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector partially ignored due to parse error",
      },
    },
  };
  for (const [behaviour, { spec, want }] of Object.entries(cases)) {
    test(behaviour, async () => expect(await statusOf("subjectaccessreviews", spec)).toEqual(want));
  }

  test("uses the requesting user for self reviews and the URL's namespace for local reviews", async () => {
    expect(await statusOf("selfsubjectaccessreviews", { resourceAttributes: get() }, ANN)).toEqual(allowed);
    expect(
      await statusOf("namespaces/default/localsubjectaccessreviews", { user: "ann", resourceAttributes: get() }),
    ).toEqual(allowed);
  });

  test("is rejected with all its validation errors", async () => {
    const { body } = await server.ask(ADMIN, "POST", `${GROUP}/namespaces/default/localsubjectaccessreviews`, {
      spec: { nonResourceAttributes: { path: "/x" } },
    });

    expect(body).toMatchObject({
      code: 422,
      details: {
        causes: [
          { field: "spec.user" },
          {
            field: "spec.nonResourceAttributes",
            message: 'Invalid value: {"Path":"/x","Verb":""}: disallowed on this kind of request',
          },
        ],
      },
    });
  });

  test("is not stored and cannot be read", async () => {
    await statusOf("subjectaccessreviews", { user: "ann", resourceAttributes: get() });

    expect((await server.ask(ADMIN, "GET", `${GROUP}/subjectaccessreviews`)).code).toBe(405);
    expect((await server.ask(ADMIN, "GET", `${GROUP}/subjectaccessreviews/x`)).code).toBe(404);
    expect(server.cache.count("/authorization.k8s.io/")).toBe(0);
  });
});

describe("a rules review", () => {
  test("lists the user's rules in a namespace, each binding once", async () => {
    const user = { name: "ann", groups: ["system:authenticated", "ann"] };
    await server.make(`${RBAC}/namespaces/default/rolebindings`, {
      ...bindingTo("b", { kind: "Role", name: "r" }),
      metadata: { name: "twice" },
      subjects: [
        { kind: "User", name: "ann" },
        { kind: "Group", name: "ann" },
      ],
    });

    const { resourceRules, nonResourceRules, incomplete } = await statusOf(
      "selfsubjectrulesreviews",
      { namespace: "default" },
      user,
    );

    expect(incomplete).toBe(false);
    expect(
      (resourceRules as JsonObject[]).filter(({ resources }) => (resources as string[]).includes("configmaps")),
    ).toHaveLength(2);
    expect(nonResourceRules).toContainEqual({
      verbs: ["get"],
      nonResourceURLs: ["/healthz", "/livez", "/readyz", "/version", "/version/"],
    });
  });

  test("needs a namespace", async () => {
    expect((await server.ask(ANN, "POST", `${GROUP}/selfsubjectrulesreviews`, { spec: {} })).body).toMatchObject({
      code: 400,
      message: "no namespace on request",
    });
  });

  test("reports roles that do not exist", async () => {
    await server.make(
      `${RBAC}/namespaces/default/rolebindings`,
      bindingTo("broken", { kind: "ClusterRole", name: "gone" }),
    );

    expect((await statusOf("selfsubjectrulesreviews", { namespace: "default" }, ANN)).evaluationError).toBe(
      'clusterrole.rbac.authorization.k8s.io "gone" not found',
    );
  });
});
