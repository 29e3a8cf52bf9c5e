/** Invalid credentials and privilege escalation. */
import { createHmac, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { connectHttp1 } from "../programs/raw-client.ts";
import type { Api } from "../programs/raw-client.ts";
import { openFrontDoor, signingKey, TOKENS, type FrontDoor } from "./front-door.ts";

const TOKEN_OF_DEFAULT = "/api/v1/namespaces/default/serviceaccounts/default/token";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

let door: FrontDoor;
let admin: Api;
/** A valid token of the account `default` in paris, and one with the shortest allowed lifetime. */
let accountToken: string;
beforeAll(async () => {
  door = await openFrontDoor();
  admin = door.api({ token: TOKENS.admin });
  const made = await admin.create(`/clusters/paris${TOKEN_OF_DEFAULT}`, { spec: {} });
  accountToken = (made.body.status as { token: string }).token;
});
afterEach(() => {
  expect(door.failures).toEqual([]);
});
afterAll(() => door.close());

const whoIs = (token: string, cluster = "paris"): Promise<{ status: number; text: string }> =>
  door.api({ token, cluster }).create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {});

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const decode = (part: string | undefined): Record<string, unknown> =>
  JSON.parse(Buffer.from(part ?? "", "base64url").toString()) as Record<string, unknown>;

interface Parts {
  header: Record<string, unknown>;
  payload: Record<string, unknown>;
  signature: string;
}

/** A token whose parts were modified. */
function forged(change: (parts: Parts) => Partial<Parts>): string {
  const [header, payload, signature = ""] = accountToken.split(".");
  const parts = { header: decode(header), payload: decode(payload), signature };
  const made = { ...parts, ...change(parts) };
  return `${encode(made.header)}.${encode(made.payload)}.${made.signature}`;
}

function signedWith(sign: (input: string) => string, header: Record<string, unknown>): string {
  const [, payload] = accountToken.split(".");
  const input = `${encode(header)}.${payload}`;
  return `${input}.${sign(input)}`;
}

test("a token is valid in the cluster that issued it", async () => {
  const { status, text } = await whoIs(accountToken);

  expect(status).toBe(201);
  expect(text).toContain("system:serviceaccount:default:default");
});

describe("rejected with 401", () => {
  const kid = (): unknown => decode(accountToken.split(".")[0]).kid;
  const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 });

  const tokens: Record<string, () => string | Promise<string>> = {
    "an empty bearer token": () => " ",
    "a plain word": () => "secret",
    "an overlong token": () => "a".repeat(30_000),
    "two dots": () => "..",
    "a prefix of a valid token": () => TOKENS.paris.slice(0, -1),
    "a valid token with a suffix": () => `${TOKENS.paris}x`,
    "another cluster's token": () => TOKENS.oslo,
    "a JWT without its signature": () => accountToken.slice(0, accountToken.lastIndexOf(".") + 1),
    "a JWT with one bit of its signature flipped": () =>
      `${accountToken.slice(0, -8)}${accountToken.at(-8) === "A" ? "B" : "A"}${accountToken.slice(-7)}`,
    "a JWT with another subject": () =>
      forged(({ payload }) => ({ payload: { ...payload, sub: "system:serviceaccount:kube-system:admin" } })),
    "a JWT with an extended expiration": () =>
      forged(({ payload }) => ({ payload: { ...payload, exp: 99_999_999_999 } })),
    "a JWT with algorithm none": () => forged(({ header }) => ({ header: { ...header, alg: "none" }, signature: "" })),
    "a JWT with algorithm none and a signature": () => forged(({ header }) => ({ header: { ...header, alg: "None" } })),
    "a JWT with another hash algorithm": () => forged(({ header }) => ({ header: { ...header, alg: "RS512" } })),
    "a JWT with an embedded key": () => {
      const jwk = foreign.publicKey.export({ format: "jwk" });
      return signedWith((input) => sign("RSA-SHA256", Buffer.from(input), foreign.privateKey).toString("base64url"), {
        alg: "RS256",
        kid: kid(),
        jwk,
      });
    },
    "a JWT with a key URL": () =>
      signedWith((input) => sign("RSA-SHA256", Buffer.from(input), foreign.privateKey).toString("base64url"), {
        alg: "RS256",
        kid: kid(),
        jku: "https://other.example/keys",
      }),
    "a JWT of another key under our key id": () =>
      signedWith((input) => sign("RSA-SHA256", Buffer.from(input), foreign.privateKey).toString("base64url"), {
        alg: "RS256",
        kid: kid(),
      }),
    "a JWT signed with the public key as an HMAC secret": async () => {
      const { body } = await admin.get("/clusters/paris/openid/v1/jwks", { accept: "application/jwk-set+json" });
      const [key] = (body as unknown as { keys: Record<string, string>[] }).keys;
      const pem = createPublicKey({ key: key as never, format: "jwk" }).export({ type: "spki", format: "pem" });
      return signedWith((input) => createHmac("sha256", pem).update(input).digest("base64url"), {
        alg: "HS256",
        kid: kid(),
      });
    },
    "a JWT whose key id is a path": () => forged(({ header }) => ({ header: { ...header, kid: "../../../dev/null" } })),
    "a JWT whose key id is a property of every object": () =>
      forged(({ header }) => ({ header: { ...header, kid: "__proto__" } })),
    "a JWT whose key id is not a string": () => forged(({ header }) => ({ header: { ...header, kid: ["a"] } })),
    "a JWT without a key id": () => forged(({ header: { kid: _kid, ...header } }) => ({ header })),
    "a JWT with critical extensions": () => forged(({ header }) => ({ header: { ...header, crit: ["x"] } })),
    "a JWT whose payload is not an object": () =>
      `${accountToken.split(".")[0]}.${encode([1])}.${accountToken.split(".")[2]}`,
    "a JWT for another audience": async () => {
      const made = await admin.create(`/clusters/paris${TOKEN_OF_DEFAULT}`, { spec: { audiences: ["vault"] } });
      return (made.body.status as { token: string }).token;
    },
    "a JWT of a deleted account": async () => {
      await admin.create("/clusters/paris/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "gone" } });
      const made = await admin.create("/clusters/paris/api/v1/namespaces/default/serviceaccounts/gone/token", {
        spec: {},
      });
      await admin.delete("/clusters/paris/api/v1/namespaces/default/serviceaccounts/gone");
      return (made.body.status as { token: string }).token;
    },
  };
  for (const [what, token] of Object.entries(tokens)) {
    test(what, async () => {
      const { status, text } = await whoIs(await token());

      expect(status).toBe(401);
      expect(JSON.parse(text)).toMatchObject({ kind: "Status", reason: "Unauthorized", message: "Unauthorized" });
    });
  }

  test("a JWT of another cluster's account", async () => {
    expect((await whoIs(accountToken, "oslo")).status).toBe(401);
    expect((await whoIs(accountToken, "hub")).status).toBe(401);
  });

  test("basic authentication, and an unknown scheme", async () => {
    const foreign = door.api();

    for (const authorization of ["Basic YWRtaW46YWRtaW4=", "Negotiate abc", TOKENS.admin])
      expect((await foreign.get("/api/v1/pods", { authorization })).status).toBe(401);
  });

  test("a certificate of another CA", async () => {
    const { createCertificateAuthority } = await import("@flotilla/apimachinery");
    const { systemClock } = await import("@flotilla/base");
    const other = await (
      await createCertificateAuthority({ clock: systemClock })
    ).issueClient({ commonName: "admin", organizations: ["system:masters"] });
    const api = connectHttp1({
      server: new URL(`https://127.0.0.1:${door.port}`),
      ca: door.authority.certificate,
      cert: other.certificate,
      key: other.key,
    });

    expect((await api.get("/api/v1/pods")).status).toBe(401);
    api.close();
  });
});

describe("a token with a valid signature", () => {
  const DEFAULT = "/clusters/paris/api/v1/namespaces/default";
  const UNAUTHORIZED = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "Unauthorized",
    reason: "Unauthorized",
    code: 401,
  };
  /**
   * The account's token with other claims, signed with the server's own key: attackers cannot create it, but expiry and
   * other issuers can.
   */
  async function signed(
    change: (payload: Record<string, unknown>) => Record<string, unknown>,
    head: Record<string, unknown> = {},
  ): Promise<string> {
    const [header, payload] = accountToken.split(".").map((part, index) => (index < 2 ? decode(part) : {}));
    const input = `${encode({ ...header, ...head })}.${encode({ ...payload, ...change(payload ?? {}) })}`;
    return `${input}.${sign("RSA-SHA256", Buffer.from(input), await signingKey()).toString("base64url")}`;
  }
  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;
  const tokenFor = async (account: string, spec: object = {}): Promise<string> =>
    ((await admin.create(`${DEFAULT}/serviceaccounts/${account}/token`, { spec })).body.status as { token: string })
      .token;

  /** The response does not reveal the reason: neither the body, which is that of every rejection, nor a header. */
  async function expectRefused(token: string): Promise<void> {
    for (const http1 of [false, true]) {
      const { status, headers, text } = await door
        .api({ token, cluster: "paris", http1 })
        .get("/api/v1/namespaces/default/configmaps");

      expect({
        status,
        body: JSON.parse(text) as unknown,
        reports: /expired|invalid|deleted|serviceaccount|default|token/i.exec(JSON.stringify(headers)),
      }).toEqual({ status: 401, body: UNAUTHORIZED, reports: null });
    }
  }

  test("and valid claims is accepted", async () => {
    expect((await whoIs(await signed(() => ({})))).status).toBe(201);
  });

  const claims: Record<string, () => Promise<string>> = {
    "that has expired": () => signed(() => ({ iat: inSeconds(-7200), nbf: inSeconds(-7200), exp: inSeconds(-3600) })),
    "that expired slightly more than a minute ago": () => signed(() => ({ exp: inSeconds(-65) })),
    "that is not valid yet": () => signed(() => ({ nbf: inSeconds(3600), exp: inSeconds(7200) })),
    "that is issued in the future": () => signed(() => ({ iat: inSeconds(3600), exp: inSeconds(7200) })),
    "without an expiration": () => signed(() => ({ exp: undefined })),
    "whose expiration is not a number": () => signed(() => ({ exp: "2099-01-01T00:00:00Z" })),
    "of another issuer": () => signed(() => ({ iss: "https://other.example" })),
    "for another audience": () => signed(() => ({ aud: ["vault"] })),
    "whose subject is not its account": () => signed(() => ({ sub: "system:serviceaccount:kube-system:default" })),
    "whose subject is a user": () => signed(() => ({ sub: "admin" })),
    "without the Kubernetes claims": () => signed(() => ({ "kubernetes.io": undefined })),
    "of another account with the same name": () =>
      signed((payload) => ({
        "kubernetes.io": {
          ...(payload["kubernetes.io"] as object),
          serviceaccount: { name: "default", uid: "00000000-0000-4000-8000-000000000000" },
        },
      })),
    "in the legacy format of Secrets, which does not expire": () =>
      signed(() => ({
        iss: "kubernetes/serviceaccount",
        "kubernetes.io/serviceaccount/namespace": "default",
        "kubernetes.io/serviceaccount/secret.name": "none",
        "kubernetes.io/serviceaccount/service-account.name": "default",
        "kubernetes.io/serviceaccount/service-account.uid": "x",
      })),
    "under an unknown key id": () => signed(() => ({}), { kid: "a" }),
  };
  for (const [what, made] of Object.entries(claims)) {
    test(`${what} is rejected without a reason`, async () => {
      const token = await made();

      await expect(expectRefused(token)).resolves.toBeUndefined();
    });
  }

  test("is accepted a few seconds after its expiration, because clocks differ", async () => {
    expect((await whoIs(await signed(() => ({ exp: inSeconds(-10) })))).status).toBe(201);
  });

  const bonds: Record<string, { object: object; plural: string; kind: string }> = {
    "the bound pod": {
      kind: "Pod",
      plural: "pods",
      object: {
        metadata: { name: "bond" },
        spec: { serviceAccountName: "default", containers: [{ name: "a", image: "a" }] },
      },
    },
    "the bound secret": { kind: "Secret", plural: "secrets", object: { metadata: { name: "bond" } } },
  };
  for (const [what, { object, plural, kind }] of Object.entries(bonds)) {
    test(`is rejected once ${what} is deleted, even if another of the same name is created`, async () => {
      expect((await admin.create(`${DEFAULT}/${plural}`, object)).status).toBe(201);
      const token = await tokenFor("default", { boundObjectRef: { apiVersion: "v1", kind, name: "bond" } });
      expect((await whoIs(token)).status).toBe(201);

      await admin.delete(`${DEFAULT}/${plural}/bond?gracePeriodSeconds=0`);
      await expectRefused(token);

      expect((await admin.create(`${DEFAULT}/${plural}`, object)).status).toBe(201);
      await expectRefused(token);
    });
  }

  test("is rejected once its account is deleted, even if another of the same name is created", async () => {
    await admin.create(`${DEFAULT}/serviceaccounts`, { metadata: { name: "leaver" } });
    const token = await tokenFor("leaver");
    expect((await whoIs(token)).status).toBe(201);

    await admin.delete(`${DEFAULT}/serviceaccounts/leaver`);
    await expectRefused(token);

    await admin.create(`${DEFAULT}/serviceaccounts`, { metadata: { name: "leaver" } });
    await expectRefused(token);
  });
});

describe("a user without permissions", () => {
  const ann = (): Api => door.api({ token: TOKENS.ann });

  test("can neither read, write, watch, connect nor discover objects", async () => {
    const requests: [method: string, path: string, body?: unknown][] = [
      ["GET", "/api/v1/namespaces/default/secrets"],
      ["GET", "/api/v1/secrets?watch=true"],
      ["GET", "/api/v1/watch/secrets"],
      ["HEAD", "/api/v1/secrets"],
      ["POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "a" } }],
      ["PATCH", "/api/v1/namespaces/default/configmaps/a", {}],
      ["DELETE", "/api/v1/namespaces/default/configmaps"],
      ["GET", "/api/v1/namespaces/default/pods/a/log"],
      ["POST", "/api/v1/namespaces/default/pods/a/exec?command=sh"],
      ["GET", "/api/v1/nodes/n/proxy/etc/passwd"],
      ["GET", "/metrics"],
      ["GET", "/apis/flotilla.dev/v1alpha1/logicalclusters/oslo/kubeconfig"],
      ["POST", TOKEN_OF_DEFAULT, { spec: {} }],
    ];

    for (const [method, path, body] of requests) {
      const { status, text } = await ann().request(
        method,
        path,
        body === undefined
          ? {}
          : {
              body,
              headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
            },
      );

      expect(status, `${method} ${path}`).toBe(403);
      expect(text).toMatch(method === "HEAD" ? /^$/ : /"reason":"Forbidden"/);
    }
  });

  const impersonations: Record<string, Record<string, string | string[]>> = {
    "an administrator by name": { "impersonate-user": "admin" },
    "an administrator by group": { "impersonate-user": "ann", "impersonate-group": "system:masters" },
    "several groups": { "impersonate-user": "ann", "impersonate-group": ["a", "system:masters"] },
    "a service account": { "impersonate-user": "system:serviceaccount:kube-system:default" },
    "a node": { "impersonate-user": "system:node:n" },
    "a uid": { "impersonate-user": "ann", "impersonate-uid": "0" },
    "an extra": { "impersonate-user": "ann", "impersonate-extra-scopes": "all" },
    "an extra with a malicious name": { "impersonate-user": "ann", "impersonate-extra-__proto__": "all" },
    unknownUser: { "impersonate-user": "system:anonymous" },
  };
  for (const [who, headers] of Object.entries(impersonations)) {
    test(`cannot impersonate ${who}`, async () => {
      const { status, body } = await ann().get("/api/v1/namespaces", headers);

      expect(status).toBe(403);
      expect(body).toMatchObject({ kind: "Status", reason: "Forbidden" });
    });
  }

  test("cannot impersonate a group without a user", async () => {
    expect((await ann().get("/api/v1/namespaces", { "impersonate-group": "system:masters" })).status).toBeOneOf([
      400, 403,
    ]);
  });
});

test("a user who may read everything cannot get the credentials of an administrator", async () => {
  const admin = door.api({ token: TOKENS.admin });
  await admin.create(`${RBAC}/clusterroles`, {
    metadata: { name: "reader" },
    rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }],
  });
  await admin.create(`${RBAC}/clusterrolebindings`, {
    metadata: { name: "reader" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
    subjects: [{ kind: "User", name: "rita" }],
  });
  const asRita = { "impersonate-user": "rita" };
  const clusters = "/apis/flotilla.dev/v1alpha1/logicalclusters";
  await vi.waitFor(async () => expect((await admin.get(clusters, asRita)).status).toBe(200));

  for (const cluster of ["hub", "oslo"]) {
    const kubeconfig = `${clusters}/${cluster}/kubeconfig`;
    const answers = [await admin.get(kubeconfig, asRita), await admin.request("POST", kubeconfig, { headers: asRita })];

    expect(answers.map(({ status }) => status)).toEqual([405, 403]);
    for (const { text } of answers) expect(text).not.toContain("credentials of");
  }
  expect((await admin.request("POST", `${clusters}/oslo/kubeconfig`, {})).text).toBe("credentials of oslo");
});

describe("a user who may write roles", () => {
  let ann: Api;
  beforeAll(async () => {
    ann = door.api({ token: TOKENS.ann, cluster: "paris" });
    const paris = door.api({ token: TOKENS.paris, cluster: "paris" });
    await paris.create(`${RBAC}/clusterroles`, {
      metadata: { name: "role-writer" },
      rules: [
        {
          apiGroups: ["rbac.authorization.k8s.io"],
          resources: ["*"],
          verbs: ["get", "list", "create", "update", "patch", "delete"],
        },
        { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
      ],
    });
    await paris.create(`${RBAC}/clusterrolebindings`, {
      metadata: { name: "ann" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "role-writer" },
      subjects: [{ kind: "User", name: "ann" }],
    });
    await vi.waitFor(async () => expect((await ann.get(`${RBAC}/clusterroles`)).status).toBe(200));
  });

  const roleOf = (rules: unknown[], more: object = {}): object => ({ metadata: { name: "more", ...more }, rules });
  const attempts: Record<string, () => Promise<{ status: number }>> = {
    "a role that allows everything": () =>
      ann.create(`${RBAC}/clusterroles`, roleOf([{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }])),
    "a role with an additional verb": () =>
      ann.create(
        `${RBAC}/namespaces/default/roles`,
        roleOf([{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "delete"] }]),
      ),
    "a role for secrets": () =>
      ann.create(
        `${RBAC}/namespaces/default/roles`,
        roleOf([{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]),
      ),
    "a role for non-resource URLs": () =>
      ann.create(`${RBAC}/clusterroles`, roleOf([{ nonResourceURLs: ["*"], verbs: ["*"] }])),
    "a change of its own role": () =>
      ann.patch("merge", `${RBAC}/clusterroles/role-writer`, {
        rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
      }),
    "an applied change of its own role": () =>
      ann.patch("apply", `${RBAC}/clusterroles/role-writer?fieldManager=x&force=true`, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: "role-writer" },
        rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
      }),
    "an aggregated role": () =>
      ann.create(`${RBAC}/clusterroles`, {
        metadata: { name: "gathers" },
        aggregationRule: { clusterRoleSelectors: [{}] },
      }),
    "a binding to cluster-admin": () =>
      ann.create(`${RBAC}/clusterrolebindings`, {
        metadata: { name: "more" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ kind: "User", name: "ann" }],
      }),
    "a namespaced binding to cluster-admin": () =>
      ann.create(`${RBAC}/namespaces/default/rolebindings`, {
        metadata: { name: "more" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
        subjects: [{ kind: "User", name: "ann" }],
      }),
  };
  for (const [what, attempt] of Object.entries(attempts)) {
    test(`cannot create ${what}`, async () => {
      expect((await attempt()).status).toBe(403);
    });
  }

  test("may grant permissions it has", async () => {
    expect(
      (
        await ann.create(
          `${RBAC}/namespaces/default/roles`,
          roleOf([{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }], { name: "same" }),
        )
      ).status,
    ).toBe(201);
  });

  test("has permissions in this cluster only", async () => {
    expect((await door.api({ token: TOKENS.ann, cluster: "oslo" }).get(`${RBAC}/clusterroles`)).status).toBe(403);
  });
});

test("the body of an anonymous request is not read, and the response does not reveal which objects exist", async () => {
  const open = await openFrontDoor({ anonymous: true });
  const foreign = open.api();

  const answers = [
    await foreign.get("/api/v1/namespaces/default/secrets/a"),
    await foreign.get("/api/v1/namespaces/nowhere/secrets/a"),
    await foreign.create("/api/v1/namespaces/default/secrets", "x".repeat(1_000_000)),
  ];

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(await open.isServing()).toBe(true);
  await open.close();
});
