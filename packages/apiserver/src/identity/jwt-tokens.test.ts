/** Tokens of identity providers: signatures, times, audiences, claims, and providers that change their keys. */
import { generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { createTestServer } from "../test-server.ts";
import { readAuthenticationConfiguration } from "./authentication-configuration.ts";
import { createIssuerKeys } from "./issuer-keys.ts";
import { createJwtTokens } from "./jwt-tokens.ts";

const ISSUER = "https://id.example.com";
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = (key: KeyObject, kid: string): JsonObject => ({
  ...(key.export({ format: "jwk" }) as JsonObject),
  kid,
  use: "sig",
});
const encode = (value: Json): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const NOW = createFakeClock().now() / 1000;
const CLAIMS: JsonObject = {
  iss: ISSUER,
  aud: "flotilla",
  sub: "ann",
  exp: NOW + 600,
  groups: ["shop"],
  email: "ann@example.com",
};

function tokenOf(
  claims: JsonObject,
  { kid = "r1", alg = "RS256", key = rsa.privateKey }: { kid?: string; alg?: string; key?: KeyObject } = {},
): string {
  const input = `${encode({ alg, kid })}.${encode(claims)}`;
  const signature = sign("sha256", Buffer.from(input), alg.startsWith("ES") ? { key, dsaEncoding: "ieee-p1363" } : key);
  return `${input}.${signature.toString("base64url")}`;
}

const MAPPINGS = 'claimMappings: {username: {claim: sub, prefix: "id:"}, groups: {claim: groups, prefix: "id:"}}';
const configuration = (more: string, audiences = "[flotilla]") =>
  readAuthenticationConfiguration(
    `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: "${ISSUER}", audiences: ${audiences}}\n${more
      .split("\n")
      .map((line) => `  ${line}`)
      .join("\n")}`,
    "auth.yaml",
    "https://own",
  );

function start(more = MAPPINGS) {
  const clock = createFakeClock();
  const fetched: string[] = [];
  const provider = {
    keys: [jwk(rsa.publicKey, "r1"), jwk(ec.publicKey, "e1")] as Json[],
    isUp: true,
    answered: Promise.resolve(),
  };
  const [issuer] = configuration(more).issuers;
  if (!issuer) throw new Error("no issuer");
  const keys = createIssuerKeys({
    issuer: ISSUER,
    discoveryUrl: issuer.discoveryUrl,
    fetchJson: async (url): Promise<Json> => {
      fetched.push(url.pathname);
      await provider.answered;
      if (!provider.isUp) throw new Error("connection refused");
      return url.pathname === "/keys" ? { keys: provider.keys } : { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` };
    },
    clock,
    log: silentLog,
  });
  const tokens = createJwtTokens({ issuers: [{ ...issuer, keys }], reservedGroups: ["system:flotilla"], clock });
  const ask = async (token: string): Promise<unknown> => {
    const outcome = await tokens.authenticate(token, undefined, token);
    return outcome && "user" in outcome ? outcome.user : outcome?.error;
  };
  return { ask, clock, provider, fetched, tokens };
}

test("a token of the provider is its user, with prefixes and system:authenticated", async () => {
  const { ask, fetched } = start();

  expect(await ask(tokenOf(CLAIMS))).toEqual({
    name: "id:ann",
    uid: undefined,
    groups: ["id:shop", "system:authenticated"],
    extra: undefined,
  });
  expect(await ask(tokenOf(CLAIMS, { kid: "e1", alg: "ES256", key: ec.privateKey }))).toMatchObject({ name: "id:ann" });
  expect(fetched).toEqual(["/.well-known/openid-configuration", "/keys"]);
});

describe("tokens that are rejected", () => {
  const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const cases: Record<string, [token: string, error: string | undefined]> = {
    "another signature": [tokenOf(CLAIMS, { key: other.privateKey }), "failed to verify signature"],
    "an algorithm that the key does not have": [tokenOf(CLAIMS, { kid: "e1" }), "failed to verify signature"],
    "no signature": [`${encode({ alg: "none", kid: "r1" })}.${encode(CLAIMS)}.AA`, "failed to verify signature"],
    "a secret as key": [tokenOf(CLAIMS, { alg: "HS256" }), "failed to verify signature"],
    expired: [tokenOf({ ...CLAIMS, exp: NOW }), "token is expired"],
    "without an end": [tokenOf({ ...CLAIMS, exp: "never" }), "has no expiry"],
    "not valid yet": [tokenOf({ ...CLAIMS, nbf: NOW + 60 }), "not valid yet"],
    "for another audience": [tokenOf({ ...CLAIMS, aud: ["other"] }), 'expected audience in ["flotilla"]'],
    "of another issuer": [tokenOf({ ...CLAIMS, iss: "https://evil.example.com" }), undefined],
    "without a name": [tokenOf({ ...CLAIMS, sub: "" }), "username claim is empty"],
    "with groups that are not strings": [tokenOf({ ...CLAIMS, groups: [1] }), "claim groups is not a list of strings"],
    "no token": ["abc", undefined],
  };
  test.each(Object.entries(cases))("%s", async (_, [token, error]) => {
    const { ask } = start();

    const answer = await ask(token);

    expect(String(answer)).toContain(String(error));
  });

  test("one that claims the group of the server's own controllers", async () => {
    const { ask } = start('claimMappings: {username: {claim: sub, prefix: ""}, groups: {claim: groups, prefix: ""}}');

    expect(await ask(tokenOf({ ...CLAIMS, groups: ["system:flotilla"] }))).toContain("is reserved");
  });
});

test("expressions map and check claims and the user", async () => {
  const { ask } = start(
    [
      "claimValidationRules:",
      "- {claim: hd, requiredValue: example.com}",
      '- {expression: "claims.email_verified == true", message: "the email must be verified"}',
      "claimMappings:",
      "  username: {expression: \"claims.email.split('@')[0]\"}",
      "  groups: {expression: \"claims.?roles.orValue([]).map(r, 'role:' + r)\"}",
      "  uid: {claim: sub}",
      "  extra: [{key: example.com/tenant, valueExpression: 'claims.?tenant.orValue(\"\")'}]",
      "userValidationRules:",
      '- {expression: "!user.username.startsWith(\'system:\')", message: "reserved name"}',
    ].join("\n"),
  );
  const good = { ...CLAIMS, hd: "example.com", email_verified: true, roles: ["a", "b"], tenant: "t1" };

  expect(await ask(tokenOf(good))).toEqual({
    name: "ann",
    uid: "ann",
    groups: ["role:a", "role:b", "system:authenticated"],
    extra: { "example.com/tenant": ["t1"] },
  });
  expect(await ask(tokenOf({ ...good, hd: "other" }))).toBe("oidc: required claim hd value does not match");
  expect(await ask(tokenOf({ ...good, email_verified: false }))).toBe("oidc: the email must be verified");
  expect(await ask(tokenOf({ ...good, email: "system:x@example.com" }))).toBe("oidc: reserved name");
  expect(await ask(tokenOf({ ...good, email: 1 }))).toContain("resulted in error");
});

test("keys are read again for an unknown key, at most every ten seconds, and old ones stay while the provider is away", async () => {
  const { ask, provider, clock, fetched } = start();
  await ask(tokenOf(CLAIMS));
  const next = generateKeyPairSync("rsa", { modulusLength: 2048 });
  provider.keys = [jwk(next.publicKey, "r2")];
  const signed = (sub: string): string => tokenOf({ ...CLAIMS, sub }, { kid: "r2", key: next.privateKey });

  expect(await ask(signed("a"))).toContain("failed to verify signature");
  clock.advance(10_000);
  expect(await ask(signed("a"))).toMatchObject({ name: "id:a" });
  expect(fetched).toHaveLength(4);
  for (let count = 0; count < 5; count++) await ask(tokenOf({ ...CLAIMS, sub: String(count) }, { kid: "invented" }));
  expect(fetched).toHaveLength(4);

  provider.isUp = false;
  clock.advance(60 * 60 * 1000 + 1);
  expect(
    await ask(tokenOf({ ...CLAIMS, sub: "b", exp: NOW + 9_000 }, { kid: "r2", key: next.privateKey })),
  ).toMatchObject({
    name: "id:b",
  });
});

test("a provider that hangs delays no token whose key is known, and keys are read again meanwhile", async () => {
  const { ask, provider, clock, fetched } = start();
  await ask(tokenOf(CLAIMS));
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  provider.answered = answered;
  clock.advance(60 * 60 * 1000 + 1);
  const later = (sub: string, kid = "r1"): string => tokenOf({ ...CLAIMS, sub, exp: NOW + 9_000 }, { kid });

  expect(await ask(later("b"))).toMatchObject({ name: "id:b" });
  expect(fetched).toHaveLength(3);
  provider.keys = [jwk(rsa.publicKey, "r2")];
  resolve();
  expect(await ask(later("c", "r2"))).toMatchObject({ name: "id:c" });
  expect(await ask(later("d"))).toContain("failed to verify signature");
});

test("a token is remembered until it expires", async () => {
  const { ask, clock, provider } = start();
  const token = tokenOf(CLAIMS);
  await ask(token);
  provider.isUp = false;

  expect(await ask(token)).toMatchObject({ name: "id:ann" });
  clock.advance(600_000);
  expect(await ask(token)).toContain("token is expired");
});

test("a static token of the server ends at its time", async () => {
  const { server, clock } = await createTestServer();
  server.tokens.add({ token: "short", user: "admin", expiresMs: clock.now() + 1_000 });

  expect(await server.tokens.authenticate("hub", "short")).toMatchObject({ user: { name: "admin" } });
  clock.advance(1_000);
  expect(await server.tokens.authenticate("hub", "short")).toEqual({ error: undefined });
});

test("TokenReview and the authenticator of the server know such tokens", async () => {
  const { tokens } = start();
  const { server } = await createTestServer({ externalTokens: tokens });

  expect(await server.tokens.authenticate("hub", tokenOf(CLAIMS))).toMatchObject({ user: { name: "id:ann" } });
  expect(await server.tokens.authenticate("hub", "other")).toEqual({ error: undefined });
});

describe("a configuration that is not valid is rejected with the field", () => {
  const cases: Record<string, [more: string, audiences: string, error: string]> = {
    "no prefix": [
      "claimMappings: {username: {claim: sub}}",
      "[a]",
      "jwt[0].claimMappings.username.prefix: Required value",
    ],
    "no username": ["claimMappings: {username: {}}", "[a]", "claim or expression is required"],
    "both forms": ['claimMappings: {username: {claim: a, expression: "claims.b"}}', "[a]", "can't both be set"],
    "an expression that does not compile": [
      'claimMappings: {username: {expression: "claims."}}',
      "[a]",
      "jwt[0].claimMappings.username.expression: Invalid value",
    ],
    "an expression that is not a condition": [
      `${MAPPINGS}\nuserValidationRules: [{expression: "'a'"}]`,
      "[a]",
      "must evaluate to bool",
    ],
    "an email that is not verified": [
      'claimMappings: {username: {expression: "claims.email"}}',
      "[a]",
      "claims.email_verified must be used",
    ],
    "no audience": [MAPPINGS, "[]", "jwt[0].issuer.audiences: Required value"],
    "two audiences without a policy": [MAPPINGS, "[a, b]", "must be MatchAny for multiple audiences"],
    "an unknown field": [`${MAPPINGS}\nclaims: []`, "[a]", "unknown field jwt[0].claims"],
    "a reserved key": [
      `claimMappings: {username: {claim: sub, prefix: ""}, extra: [{key: a.k8s.io/x, valueExpression: "'a'"}]}`,
      "[a]",
      "are reserved",
    ],
  };
  test.each(Object.entries(cases))("%s", (_, [more, audiences, error]) => {
    expect(() => configuration(more, audiences)).toThrow(error);
  });

  test("an issuer that is not https, is given twice, or is the server itself", () => {
    const read = (...urls: string[]) =>
      readAuthenticationConfiguration(
        JSON.stringify({
          apiVersion: "apiserver.config.k8s.io/v1beta1",
          kind: "AuthenticationConfiguration",
          jwt: urls.map((url) => ({
            issuer: { url, audiences: ["a"] },
            claimMappings: { username: { claim: "sub", prefix: "" } },
          })),
        }),
        "auth.yaml",
        "https://own",
      );

    expect(() => read("http://a")).toThrow("URL scheme must be https");
    expect(() => read("https://a", "https://a")).toThrow("Duplicate value");
    expect(() => read("https://own")).toThrow("issuer of service account tokens");
  });

  test("anonymous requests are off, on, or on some paths", () => {
    const read = (anonymous: string) =>
      readAuthenticationConfiguration(
        `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: ${anonymous}`,
        "auth.yaml",
        "https://own",
      ).anonymous;

    expect([read("{enabled: false}"), read("{enabled: true}")]).toEqual([false, true]);
    expect(read("{enabled: true, conditions: [{path: /livez}]}")).toEqual(new Set(["/livez"]));
    expect(() => read("{enabled: false, conditions: [{path: /livez}]}")).toThrow("enabled must be true");
  });
});
