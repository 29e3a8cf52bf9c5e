import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { ADMIN, CONTROLLERS } from "../test-server.ts";
import { ANN, RBAC, bindingTo, createAccessServer } from "./test-access.ts";
import type { AccessServer } from "./test-access.ts";

const WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
let server: AccessServer;
beforeEach(async () => {
  server = await createAccessServer();
});

const whoIs = async (headers: Record<string, string>, user = ADMIN): Promise<JsonObject> => {
  const { body } = await server.ask(user, "POST", WHO, {}, headers);
  return (body.status as JsonObject).userInfo as JsonObject;
};
const refusal = async (headers: Record<string, string>, user = ANN): Promise<JsonObject> =>
  (await server.ask(user, "POST", WHO, {}, headers)).body;
/** Cluster-wide rights for ann. */
const allowAnn = async (...rules: JsonObject[]): Promise<void> => {
  await server.make(`${RBAC}/clusterroles`, { metadata: { name: "c" }, rules });
  await server.make(`${RBAC}/clusterrolebindings`, bindingTo("c", { kind: "ClusterRole", name: "c" }));
};

describe("an administrator impersonates", () => {
  const cases: Record<string, { headers: Record<string, string>; want: JsonObject }> = {
    "a user": { headers: { "impersonate-user": "jane" }, want: { username: "jane", groups: ["system:authenticated"] } },
    "a user in groups": {
      headers: { "impersonate-user": "jane", "impersonate-group": "g1, g2" },
      want: { username: "jane", groups: ["g1", "g2", "system:authenticated"] },
    },
    "a user with a uid and extras, whose names are escaped": {
      headers: { "impersonate-user": "jane", "impersonate-uid": "u-1", "impersonate-extra-example.com%2fx": "y" },
      want: { username: "jane", uid: "u-1", groups: ["system:authenticated"], extra: { "example.com/x": ["y"] } },
    },
    "a service account, with its groups": {
      headers: { "impersonate-user": "system:serviceaccount:shop:sa" },
      want: {
        username: "system:serviceaccount:shop:sa",
        groups: ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"],
      },
    },
    "a node, with its group": {
      headers: { "impersonate-user": "system:node:n1" },
      want: { username: "system:node:n1", groups: ["system:nodes", "system:authenticated"] },
    },
    "an administrator, through system:masters": {
      headers: { "impersonate-user": "jane", "impersonate-group": "system:masters" },
      want: { username: "jane", groups: ["system:masters", "system:authenticated"] },
    },
    "a user with a hostile extra key": {
      headers: { "impersonate-user": "jane", "impersonate-extra-__proto__": "x" },
      want: {
        username: "jane",
        groups: ["system:authenticated"],
        extra: JSON.parse('{"__proto__":["x"]}') as JsonObject,
      },
    },
  };
  for (const [whom, { headers, want }] of Object.entries(cases)) {
    test(whom, async () => expect(await whoIs(headers)).toEqual(want));
  }

  test("but not the controllers of the server, whom no limit applies to", async () => {
    expect(
      await refusal({ "impersonate-user": "jane", "impersonate-group": `devs, ${CONTROLLERS}` }, ADMIN),
    ).toMatchObject({ code: 403, message: expect.stringContaining("is not allowed") as string });
  });

  test("the anonymous user, who is not allowed anything", async () => {
    expect(await refusal({ "impersonate-user": "system:anonymous" }, ADMIN)).toMatchObject({
      code: 403,
      message: expect.stringContaining('User "system:anonymous" cannot create') as string,
    });
  });

  test("a group whose name contains a comma, when each header line is separate", async () => {
    const rawHeaders = ["Impersonate-User", "jane", "Impersonate-Group", "cn=a, ou=b"];

    const { body } = await server.server.handle({
      method: "POST",
      path: WHO,
      query: new URLSearchParams(),
      headers: { "impersonate-user": "jane", "impersonate-group": "cn=a, ou=b" },
      rawHeaders,
      body: Buffer.from("{}"),
      user: ADMIN,
      signal: new AbortController().signal,
    });

    expect(Buffer.concat([body].flat() as Uint8Array[]).toString()).toContain(
      '"groups":["cn=a, ou=b","system:authenticated"]',
    );
  });
});

describe("impersonation without a user name is rejected", () => {
  for (const header of ["impersonate-group", "impersonate-uid", "impersonate-extra-a"]) {
    test(header, async () =>
      expect(await refusal({ [header]: "x" }, ADMIN)).toMatchObject({ code: 400, reason: "BadRequest" }),
    );
  }
});

describe("other users need the right to impersonate", () => {
  test("and the error names the constrained right that is missing", async () => {
    const denied = (mode: string): JsonObject => ({
      code: 403,
      message:
        `selfsubjectreviews.authentication.k8s.io is forbidden: User "ann" cannot impersonate-on:${mode}:create ` +
        `resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope`,
    });

    expect(await refusal({ "impersonate-user": "jane" })).toMatchObject(denied("user-info"));
    expect(await refusal({ "impersonate-user": "system:serviceaccount:shop:x" })).toMatchObject(
      denied("serviceaccount"),
    );
    expect(await refusal({ "impersonate-user": "system:node:n1" })).toMatchObject(denied("arbitrary-node"));
  });

  test("legacy impersonation: the verb impersonate on every name", async () => {
    await allowAnn({ apiGroups: [""], resources: ["users"], verbs: ["impersonate"], resourceNames: ["jane"] });

    expect((await whoIs({ "impersonate-user": "jane" }, ANN)).username).toBe("jane");
    const beyond: Record<string, string>[] = [
      { "impersonate-user": "joe" },
      { "impersonate-user": "jane", "impersonate-group": "system:masters" },
      { "impersonate-user": "jane", "impersonate-uid": "1" },
    ];
    for (const headers of beyond) expect(await refusal(headers)).toMatchObject({ code: 403 });
  });

  test("constrained impersonation: rights on the user and on the action", async () => {
    await allowAnn(
      {
        apiGroups: ["authentication.k8s.io"],
        resources: ["users"],
        verbs: ["impersonate:user-info"],
        resourceNames: ["jane"],
      },
      {
        apiGroups: ["authentication.k8s.io"],
        resources: ["selfsubjectreviews"],
        verbs: ["impersonate-on:user-info:create"],
      },
    );

    expect((await whoIs({ "impersonate-user": "jane" }, ANN)).username).toBe("jane");
    expect((await server.ask(ANN, "GET", "/api/v1/pods", undefined, { "impersonate-user": "jane" })).code).toBe(403);
    expect((await refusal({ "impersonate-user": "jane", "impersonate-group": "system:masters" })).message).toMatch(
      /impersonating the system:masters group is not allowed$/,
    );
  });

  test("a node's own pods may act as that node", async () => {
    await allowAnn(
      { apiGroups: ["authentication.k8s.io"], resources: ["nodes"], verbs: ["impersonate:associated-node"] },
      {
        apiGroups: ["authentication.k8s.io"],
        resources: ["selfsubjectreviews"],
        verbs: ["impersonate-on:associated-node:create"],
      },
    );
    const account = {
      name: "system:serviceaccount:default:agent",
      groups: [],
      extra: { "authentication.kubernetes.io/node-name": ["n1"] },
    };
    await server.make(
      `${RBAC}/clusterrolebindings`,
      bindingTo(
        "agent",
        { kind: "ClusterRole", name: "c" },
        { kind: "ServiceAccount", name: "agent", namespace: "default" },
      ),
    );

    expect((await whoIs({ "impersonate-user": "system:node:n1" }, account)).username).toBe("system:node:n1");
    expect(await refusal({ "impersonate-user": "system:node:n2" }, account)).toMatchObject({ code: 403 });
  });
});
