import { createHmac, createPublicKey } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { isObject, omitZero } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createAuthenticator } from "../http/authenticator.ts";
import type { UserInfo } from "../request/user-info.ts";
import { ADMIN } from "../test-server.ts";
import { ANN, createAccessServer } from "./test-access.ts";
import type { AccessServer } from "./test-access.ts";

const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const ISSUER = "https://kubernetes.default.svc.cluster.local";
const REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";

let server: AccessServer;
beforeEach(async () => {
  server = await createAccessServer();
  await server.make(ACCOUNTS, { metadata: { name: "sa" } });
});

const requestToken = async (spec: JsonObject = {}, path = `${ACCOUNTS}/sa/token`): Promise<string> => {
  const { body } = await server.ask(ADMIN, "POST", path, { spec });
  return (body.status as JsonObject).token as string;
};
const whoHas = async (bearerToken: string, cluster = "hub"): Promise<UserInfo | undefined> =>
  createAuthenticator({ clusterPrefix: "example.com:cluster:", tokens: server.server.tokens }).authenticate({
    bearerToken,
    cluster,
  });
const isRefused = (token: string, cluster = "hub"): Promise<void> =>
  expect(whoHas(token, cluster)).rejects.toMatchObject({ status: { code: 401, message: "Unauthorized" } });
const reviewOf = async (token: string, audiences?: string[]): Promise<JsonObject> =>
  (await server.ask(ADMIN, "POST", REVIEWS, { spec: { token, ...omitZero({ audiences }) } })).body.status as JsonObject;
const partsOf = (token: string): JsonObject[] =>
  token
    .split(".")
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()) as JsonObject);
const encode = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a TokenRequest", () => {
  test("returns a token for the service account, valid for an hour and for this API", async () => {
    const { body } = await server.ask(ADMIN, "POST", `${ACCOUNTS}/sa/token`, { spec: {} });

    const uid = (body.metadata as JsonObject).uid;
    expect(body).toMatchObject({
      kind: "TokenRequest",
      metadata: { name: "sa", namespace: "default" },
      spec: { audiences: [ISSUER], expirationSeconds: 3600 },
      status: { expirationTimestamp: "2024-05-01T13:00:00Z" },
    });
    const [header, payload] = partsOf((body.status as JsonObject).token as string);
    expect(header).toMatchObject({ alg: "RS256" });
    const iat = Date.UTC(2024, 4, 1, 12) / 1000;
    expect(payload).toMatchObject({
      iss: ISSUER,
      aud: [ISSUER],
      sub: "system:serviceaccount:default:sa",
      iat,
      nbf: iat,
      exp: iat + 3600,
      "kubernetes.io": { namespace: "default", serviceaccount: { name: "sa", uid } },
    });
  });

  const refused: Record<string, { body: JsonObject; want: JsonObject }> = {
    "a lifetime that is too short": {
      body: { spec: { expirationSeconds: 599 } },
      want: {
        code: 422,
        message:
          'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
      },
    },
    "a different name": {
      body: { metadata: { name: "zz" }, spec: {} },
      want: {
        code: 422,
        message:
          'TokenRequest.authentication.k8s.io "sa" is invalid: metadata.name: Invalid value: "zz": must match the service account name if specified',
      },
    },
    "the uid of a previous service account of the same name": {
      body: { metadata: { uid: "zz" }, spec: {} },
      want: { code: 409, reason: "Conflict" },
    },
    "a bound object of an unsupported kind": {
      body: { spec: { boundObjectRef: { kind: "ConfigMap", apiVersion: "v1", name: "x" } } },
      want: { code: 400, message: "cannot bind token to object of type /v1, Kind=ConfigMap" },
    },
    "a bound object that does not exist": {
      body: { spec: { boundObjectRef: { kind: "Node", apiVersion: "v1", name: "n" } } },
      want: { code: 404, message: 'nodes "n" not found' },
    },
  };
  for (const [what, { body, want }] of Object.entries(refused)) {
    test(`is rejected for ${what}`, async () =>
      expect((await server.ask(ADMIN, "POST", `${ACCOUNTS}/sa/token`, body)).body).toMatchObject(want));
  }

  test("is rejected for a missing service account, and for users without the right", async () => {
    expect((await server.ask(ADMIN, "POST", `${ACCOUNTS}/missing/token`, { spec: {} })).code).toBe(404);
    expect((await server.ask(ANN, "POST", `${ACCOUNTS}/sa/token`, { spec: {} })).code).toBe(403);
  });

  test("bound to a pod carries the pod and its node", async () => {
    const pod = await server.make("/api/v1/namespaces/default/pods", {
      metadata: { name: "p" },
      spec: { serviceAccountName: "sa", nodeName: "n1", containers: [{ name: "c", image: "i" }] },
    });

    const token = await requestToken({ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } });

    const { uid } = pod.metadata as JsonObject;
    expect(partsOf(token)[1]).toMatchObject({ "kubernetes.io": { pod: { name: "p", uid }, node: { name: "n1" } } });
    expect((await whoHas(token))?.extra).toMatchObject({
      "authentication.kubernetes.io/pod-name": ["p"],
      "authentication.kubernetes.io/node-name": ["n1"],
    });
  });
});

describe("a service account token", () => {
  test("authenticates as the service account", async () => {
    const token = await requestToken();

    const user = await whoHas(token);

    expect(user).toMatchObject({
      name: "system:serviceaccount:default:sa",
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
    expect(user?.extra?.["authentication.kubernetes.io/credential-id"]).toEqual([
      `JTI=${partsOf(token)[1]?.jti as string}`,
    ]);
  });

  test("is rejected in other clusters, even when they have a service account of the same name", async () => {
    await server.make(`/clusters/paris${ACCOUNTS}`, { metadata: { name: "sa" } });
    const token = await requestToken();
    expect((await whoHas(token))?.name).toBe("system:serviceaccount:default:sa");

    await isRefused(token, "paris");
    await isRefused(token, "nowhere");
    await isRefused(await requestToken({}, `/clusters/paris${ACCOUNTS}/sa/token`), "hub");
  });

  test("expires, with a minute of clock skew", async () => {
    const token = await requestToken({ expirationSeconds: 600 });
    await whoHas(token);

    server.clock.advance(600_000 + 59_000);
    expect(await whoHas(token)).toBeDefined();

    server.clock.advance(2_000);
    await isRefused(token);
    expect(await reviewOf(token)).toEqual({
      user: {},
      error: "[invalid bearer token, service account token has expired]",
    });
  });

  test("is invalid once the service account is deleted, even if it is recreated", async () => {
    const token = await requestToken();
    await whoHas(token);

    await server.ask(ADMIN, "DELETE", `${ACCOUNTS}/sa`);
    await isRefused(token);
    expect((await reviewOf(token)).error).toBe('[invalid bearer token, serviceaccounts "sa" not found]');

    await server.make(ACCOUNTS, { metadata: { name: "sa" } });
    await isRefused(token);
  });

  test("is invalid once its bound object is deleted", async () => {
    await server.make("/api/v1/namespaces/default/secrets", { metadata: { name: "s" } });
    const token = await requestToken({ boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "s" } });
    await whoHas(token);

    await server.ask(ADMIN, "DELETE", "/api/v1/namespaces/default/secrets/s");

    await isRefused(token);
    expect((await reviewOf(token)).error).toBe("[invalid bearer token, service account token has been invalidated]");
  });

  test("a service account token for other audiences is rejected by this API and accepted in a review for those audiences", async () => {
    const token = await requestToken({ audiences: ["vault"] });

    await isRefused(token);
    expect((await reviewOf(token)).error).toBe(
      `[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["${ISSUER}"]]`,
    );
    expect(await reviewOf(token, ["vault", "other"])).toMatchObject({ authenticated: true, audiences: ["vault"] });
  });
});

describe("a cluster that is recreated under the same name", () => {
  test("rejects its predecessor's administrator token and service account tokens", async () => {
    server.server.tokens.add({ token: "s3cret", user: "admin", groups: ["system:masters"], cluster: "paris" });
    const token = await requestToken({}, "/clusters/paris/api/v1/namespaces/default/serviceaccounts/default/token");
    expect([(await whoHas("s3cret", "paris"))?.name, (await whoHas(token, "paris"))?.name]).toEqual([
      "admin",
      "system:serviceaccount:default:default",
    ]);

    await server.server.removeCluster("paris");
    await server.server.addCluster("paris", "member");

    for (const old of ["s3cret", token])
      await expect(whoHas(old, "paris")).rejects.toMatchObject({ status: { code: 401 } });
  });
});

describe("invalid tokens are rejected", () => {
  const forgeries: Record<string, (token: string, publicKey: string) => string> = {
    "a token without a signature": (token) => `${token.split(".", 2).join(".")}.`,
    "a token with the algorithm none": (token) =>
      `${encode({ ...partsOf(token)[0], alg: "none" })}.${token.split(".")[1] ?? ""}.`,
    "a token signed with the public key as an HMAC secret": (token, publicKey) => {
      const input = `${encode({ ...partsOf(token)[0], alg: "HS256" })}.${token.split(".")[1] ?? ""}`;
      return `${input}.${createHmac("sha256", publicKey).update(input).digest("base64url")}`;
    },
    "a token whose claims were changed": (token) => {
      const [header = "", , signature = ""] = token.split(".");
      return `${header}.${encode({ ...partsOf(token)[1], sub: "system:serviceaccount:kube-system:default" })}.${signature}`;
    },
    "a token with an unknown key id": (token) =>
      `${encode({ alg: "RS256", kid: "x" })}.${token.split(".").slice(1).join(".")}`,
    "a very long token": (token) => `${token}${"A".repeat(20_000)}`,
    "a token that is not JSON": () => "YQ.YQ.YQ",
    nothing: () => "",
  };
  for (const [what, forge] of Object.entries(forgeries)) {
    test(what, async () => {
      const token = await requestToken();
      const { body } = await server.ask(ADMIN, "GET", "/openid/v1/jwks", undefined, { accept: "*/*" });
      const [jwk] = body.keys as JsonObject[];
      const publicKey = createPublicKey({ key: jwk as never, format: "jwk" })
        .export({ type: "spki", format: "pem" })
        .toString();

      await expect(whoHas(forge(token, publicKey))).rejects.toMatchObject({ status: { code: 401 } });
    });
  }
});

describe("a TokenReview", () => {
  test("returns the user of a token, also of static tokens", async () => {
    server.server.tokens.add({ token: "s3cret", user: "robot", cluster: "hub" });

    expect(await reviewOf(await requestToken())).toMatchObject({
      authenticated: true,
      user: { username: "system:serviceaccount:default:sa" },
      audiences: [ISSUER],
    });
    expect(await reviewOf("s3cret")).toMatchObject({ authenticated: true, user: { username: "robot" } });
    expect(await reviewOf("s3cret", ["vault"])).toEqual({ user: {}, error: "invalid bearer token" });
    expect(await reviewOf("wrong")).toEqual({ user: {}, error: "invalid bearer token" });
  });
});

describe("the issuer metadata", () => {
  test("is served for each cluster, with the key that verifies its tokens", async () => {
    const token = await requestToken();
    const keysOf = async (prefix: string): Promise<JsonObject[]> =>
      (await server.ask(ADMIN, "GET", `${prefix}/openid/v1/jwks`, undefined, { accept: "application/jwk-set+json" }))
        .body.keys as JsonObject[];

    const { body } = await server.ask(ADMIN, "GET", "/clusters/paris/.well-known/openid-configuration", undefined, {
      host: "hub.example:6443",
    });

    expect(body).toMatchObject({ issuer: ISSUER, jwks_uri: "https://hub.example:6443/clusters/paris/openid/v1/jwks" });
    expect((await keysOf(""))[0]?.kid).toBe(partsOf(token)[0]?.kid);
    expect((await keysOf("/clusters/paris"))[0]?.kid).not.toBe(partsOf(token)[0]?.kid);
    expect((await keysOf("")).every((key) => isObject(key) && !("d" in key))).toBe(true);
  });

  test("is served to service accounts, and not to all users", async () => {
    const account = { name: "system:serviceaccount:default:sa", groups: ["system:serviceaccounts"] };

    expect((await server.ask(account, "GET", "/openid/v1/jwks", undefined, { accept: "*/*" })).code).toBe(200);
    expect((await server.ask(ANN, "GET", "/openid/v1/jwks", undefined, { accept: "*/*" })).code).toBe(403);
  });
});

describe("a token in a Secret", () => {
  test("authenticates as the service account while the Secret holds it", async () => {
    const account = (await server.ask(ADMIN, "GET", `${ACCOUNTS}/sa`)).body.metadata as { name: string; uid: string };
    const token = await server.server.issueSecretToken("hub", "default", account, "t");
    const secret = {
      metadata: { name: "t", annotations: { "kubernetes.io/service-account.name": "sa" } },
      type: "kubernetes.io/service-account-token",
      data: { token: Buffer.from(token).toString("base64") },
    };
    await isRefused(token);

    await server.make("/api/v1/namespaces/default/secrets", secret);
    expect(await whoHas(token)).toMatchObject({ name: "system:serviceaccount:default:sa", uid: account.uid });
    await isRefused(token, "paris");

    await server.settle();
    expect((await server.ask(ADMIN, "GET", "/api/v1/namespaces/default/secrets/t")).body).toMatchObject({
      metadata: { labels: { "kubernetes.io/legacy-token-last-used": "2024-05-01" } },
    });

    await server.ask(
      ADMIN,
      "PATCH",
      "/api/v1/namespaces/default/secrets/t",
      { data: { token: "eA==" } },
      { "content-type": "application/merge-patch+json" },
    );
    await isRefused(token);
  });
});
