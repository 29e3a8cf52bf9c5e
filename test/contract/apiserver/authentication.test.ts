/** Authentication: certificates, tokens and impersonation. */
import { expect, test } from "vitest";
import { makePod, pods } from "./objects.ts";
import { NAMESPACE, contract, eventually } from "../../programs/api-servers.ts";
import type { Answer, Api } from "../../programs/raw-client.ts";

const ACCOUNTS = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";

interface UserInfo {
  username: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

contract("authentication", (subject) => {
  const whoami = async (api: Api): Promise<UserInfo> => {
    const { status, body, text } = await api.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
    expect(status, text).toBe(201);
    return (body.status as { userInfo: UserInfo }).userInfo;
  };
  const tokenFor = async (
    account: string,
    spec: object = {},
  ): Promise<{ token: string; expirationTimestamp: string; answer: Answer }> => {
    const answer = await subject.api.create(`${ACCOUNTS}/${account}/token`, { spec });
    return { ...(answer.body.status as { token: string; expirationTimestamp: string }), answer };
  };
  const claims = (token: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;

  test("a client certificate's common name is the user, its organizations are the groups", async () => {
    const api = subject.connect(await subject.certificate("certified", ["painters", "carpenters"]));

    const user = await whoami(api);

    expect(user.username).toBe("certified");
    expect(user.groups.toSorted()).toEqual(["carpenters", "painters", "system:authenticated"]);
    expect((await api.get("/api/v1/secrets")).body.message).toBe(
      'secrets is forbidden: User "certified" cannot list resource "secrets" in API group "" at the cluster scope',
    );
  });

  test("a requested token authenticates its service account, over HTTP/2 and HTTP/1.1", async () => {
    const account = (await subject.api.create(ACCOUNTS, { metadata: { name: "robot" } })).body;
    const { token } = await tokenFor("robot");

    for (const protocol of ["h2", "http/1.1"] as const) {
      const user = await whoami(subject.connect({ token }, protocol));

      expect(user).toMatchObject({ username: `system:serviceaccount:${NAMESPACE}:robot`, uid: account.metadata.uid });
      expect(user.groups).toEqual([
        "system:serviceaccounts",
        `system:serviceaccounts:${NAMESPACE}`,
        "system:authenticated",
      ]);
    }
  });

  test("a token becomes invalid with its service account, also for a new account of the same name", async () => {
    await subject.api.create(ACCOUNTS, { metadata: { name: "mortal" } });
    const { token } = await tokenFor("mortal");
    const api = subject.connect({ token });
    await whoami(api);

    await subject.api.delete(`${ACCOUNTS}/mortal`);
    await subject.api.create(ACCOUNTS, { metadata: { name: "mortal" } });

    // The real server caches a valid token for ten seconds.
    const refused = await eventually(
      "the token is refused",
      () => api.get("/version"),
      ({ status }) => status === 401,
    );
    expect(refused.body.reason).toBe("Unauthorized");
  });

  test("a token bound to a pod names the pod, and becomes invalid with it", async () => {
    const pod = (await subject.api.create(pods(NAMESPACE), makePod("bearer"))).body;
    const { token } = await tokenFor("default", {
      boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "bearer", uid: pod.metadata.uid },
    });
    const api = subject.connect({ token });

    const { extra } = await whoami(api);
    await subject.api.delete(`${pods(NAMESPACE)}/bearer?gracePeriodSeconds=0`);

    expect(extra).toMatchObject({
      "authentication.kubernetes.io/pod-name": ["bearer"],
      "authentication.kubernetes.io/pod-uid": [pod.metadata.uid],
    });
    await eventually(
      "the token is refused",
      () => api.get("/version"),
      ({ status }) => status === 401,
    );
  });

  test("a TokenRequest returns the token's expiration and audiences, and its claims are those of Kubernetes", async () => {
    const { answer, token, expirationTimestamp } = await tokenFor("default", { expirationSeconds: 1200 });
    const payload = claims(token);

    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      kind: "TokenRequest",
      spec: { expirationSeconds: 1200, audiences: [expect.stringMatching(/./)] },
    });
    expect(payload).toMatchObject({
      sub: `system:serviceaccount:${NAMESPACE}:default`,
      "kubernetes.io": { namespace: NAMESPACE, serviceaccount: { name: "default" } },
    });
    expect(payload["aud"]).toEqual((answer.body.spec as { audiences: string[] }).audiences);
    expect(Number(payload["exp"]) - Number(payload["iat"])).toBe(1200);
    expect(Date.parse(expirationTimestamp) / 1000).toBe(payload["exp"]);
  });

  test("a token request with a too short expiration or a missing account, and a token for another audience, are rejected", async () => {
    const short = await subject.api.create(`${ACCOUNTS}/default/token`, { spec: { expirationSeconds: 60 } });
    const anonymous = await subject.api.create(`${ACCOUNTS}/missing/token`, { spec: {} });
    const { token } = await tokenFor("default", { audiences: ["elsewhere"] });

    expect([short.status, short.body.details?.causes?.[0]?.field]).toEqual([422, "spec.expirationSeconds"]);
    expect(anonymous.status).toBe(404);
    expect((await subject.connect({ token }).get("/version")).status).toBe(401);
  });

  test("anonymous requests may only read health endpoints", async () => {
    // The real server closes a connection after it has answered an anonymous request.
    const asAnonymous = (path: string): Promise<Answer> => subject.connect({}).get(path);

    const open = await Promise.all(["/healthz", "/livez", "/readyz"].map(asAnonymous));
    const closed = await asAnonymous("/api/v1/namespaces");

    expect(open.map(({ status }) => status)).toEqual([200, 200, 200]);
    // docs/compatibility.md: Flotilla allows anonymous requests only for health endpoints, so other requests are not
    // even treated as anonymous.
    expect([closed.status, closed.body.reason]).toEqual(
      subject.name === "flotilla" ? [401, "Unauthorized"] : [403, "Forbidden"],
    );
  });

  const bad: Record<string, string> = {
    "a malformed token": "nonsense",
    "a token with a broken signature":
      `${Buffer.from('{"alg":"RS256"}').toString("base64url")}.` +
      `${Buffer.from(`{"sub":"system:serviceaccount:${NAMESPACE}:default"}`).toString("base64url")}.c2ln`,
    "a token with algorithm none":
      `${Buffer.from('{"alg":"none"}').toString("base64url")}.` +
      `${Buffer.from(`{"sub":"system:serviceaccount:${NAMESPACE}:default"}`).toString("base64url")}.`,
  };
  for (const [what, token] of Object.entries(bad)) {
    test(`${what} is rejected with 401, also where no credentials are needed`, async () => {
      const { status, body } = await subject.connect({ token }).get("/version");

      expect([status, body]).toEqual([
        401,
        {
          kind: "Status",
          apiVersion: "v1",
          metadata: {},
          status: "Failure",
          message: "Unauthorized",
          reason: "Unauthorized",
          code: 401,
        },
      ]);
    });
  }

  test("a user with the impersonate verb acts as another user, with groups and extras", async () => {
    const user = await whoami(
      subject.api.as({
        "impersonate-user": "jane",
        "impersonate-group": ["developers", "writers"],
        "impersonate-uid": "42",
        "impersonate-extra-scope": "read",
      }),
    );

    expect(user).toMatchObject({ username: "jane", uid: "42", extra: { scope: ["read"] } });
    expect(user.groups).toEqual(["developers", "writers", "system:authenticated"]);
  });

  test("a service account is impersonated with its groups", async () => {
    const { groups } = await whoami(
      subject.api.as({ "impersonate-user": `system:serviceaccount:${NAMESPACE}:default` }),
    );

    expect(groups).toEqual(["system:serviceaccounts", `system:serviceaccounts:${NAMESPACE}`, "system:authenticated"]);
  });

  test("impersonation is forbidden without permission, or limited to the users that a role names", async () => {
    await subject.api.create(ACCOUNTS, { metadata: { name: "actor" } });
    const actor = subject.connect({ token: (await tokenFor("actor")).token });
    const refused = await actor.as({ "impersonate-user": "jane" }).get("/version");
    await subject.api.create(`${RBAC}/clusterroles`, {
      metadata: { name: "actor" },
      rules: [{ apiGroups: [""], resources: ["users"], resourceNames: ["jane"], verbs: ["impersonate"] }],
    });
    await subject.api.create(`${RBAC}/clusterrolebindings`, {
      metadata: { name: "actor" },
      roleRef: { kind: "ClusterRole", name: "actor", apiGroup: GROUP },
      subjects: [{ kind: "ServiceAccount", name: "actor", namespace: NAMESPACE }],
    });

    await eventually(
      "the role",
      () => actor.as({ "impersonate-user": "jane" }).get("/version"),
      ({ status }) => status === 200,
    );

    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining(`User "system:serviceaccount:${NAMESPACE}:actor" cannot impersonate`),
    ]);
    expect((await actor.as({ "impersonate-user": "john" }).get("/version")).status).toBe(403);
    expect(
      (await actor.as({ "impersonate-user": "jane", "impersonate-group": "system:masters" }).get("/version")).status,
    ).toBe(403);
    expect((await actor.as({ "impersonate-group": "developers" }).get("/version")).status).not.toBe(200);
  });

  test("a TokenReview checks a token for another component", async () => {
    const { token } = await tokenFor("default");
    const review = async (spec: object): Promise<unknown> =>
      (await subject.api.create("/apis/authentication.k8s.io/v1/tokenreviews", { spec })).body.status;

    expect(await review({ token })).toMatchObject({
      authenticated: true,
      user: { username: `system:serviceaccount:${NAMESPACE}:default` },
    });
    expect(await review({ token, audiences: ["elsewhere"] })).not.toMatchObject({ authenticated: true });
    expect(await review({ token: "nonsense" })).not.toMatchObject({ authenticated: true });
  });

  test("the issuer's keys are discoverable", async () => {
    const { body } = await subject.api.get("/.well-known/openid-configuration");
    const keys = await subject.api.get("/openid/v1/jwks", { accept: "application/jwk-set+json" });
    const { token } = await tokenFor("default");
    const header = JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()) as { kid: string };

    expect(body["issuer"]).toBe(claims(token)["iss"]);
    expect((keys.body["keys"] as { kid: string }[]).map(({ kid }) => kid)).toContain(header.kid);
  });

  test("every user can create a SelfSubjectReview", async () => {
    expect((await whoami(subject.api)).groups).toContain("system:masters");
  });
});
