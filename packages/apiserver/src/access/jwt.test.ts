import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { decodeToken, hasGoodSignature, signToken } from "./jwt.ts";
import { createSigningKey, keyIdOf, openSigningKey } from "./signing-key.ts";
import type { SigningKey } from "./signing-key.ts";

let key: SigningKey;
beforeAll(async () => {
  key = openSigningKey(await createSigningKey());
});

test("a signed token can be decoded and verified", async () => {
  const decoded = decodeToken(await signToken(key, "k", { sub: "ann" }));

  expect(decoded).toMatchObject({ kid: "k", payload: { sub: "ann" } });
  expect(decoded && hasGoodSignature(key, decoded)).toBe(true);
});

test("changing any single character invalidates the signature", async () => {
  const token = await signToken(key, "k", { sub: "ann" });

  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom("a", "Z", "0", "_", "-", ".", "="), (at, character) => {
      const forged = decodeToken(token.slice(0, at) + character + token.slice(at + 1));
      const same =
        forged?.input === decodeToken(token)?.input &&
        Buffer.compare(forged?.signature ?? Buffer.alloc(0), decodeToken(token)?.signature ?? Buffer.alloc(1)) === 0;
      expect(forged !== undefined && hasGoodSignature(key, forged)).toBe(same);
    }),
    { seed: 7, numRuns: 300 },
  );
});

test("decoding never throws, whatever a client sends", () => {
  const part = fc.oneof(
    fc.string(),
    fc.json().map((text) => Buffer.from(text).toString("base64url")),
    fc.constantFrom("", "e30", "bnVsbA", "eyJhbGciOiJSUzI1NiJ9"),
  );

  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const decoded = decodeToken(parts.join("."));
      expect(decoded === undefined || !hasGoodSignature(key, decoded)).toBe(true);
    }),
    { seed: 7, numRuns: 1000 },
  );
});

test("every cluster has its own key id, also when it reuses a name", () => {
  const cluster = { name: "paris", createdAt: "2024-05-01T12:00:00Z", revision: 7 };
  const ids = [
    cluster,
    { ...cluster, name: "oslo" },
    { ...cluster, revision: 8 },
    { ...cluster, createdAt: "2024-05-01T12:00:01Z" },
  ].map((of) => keyIdOf(key, of));

  expect(new Set(ids).size).toBe(4);
});

test("rejects a signing key of another type or size", async () => {
  const { generateKeyPairSync } = await import("node:crypto");
  const { privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });

  expect(() => openSigningKey(privateKey)).toThrow("must be RSA with at least 2048 bits");
});
