import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { tokenDigest } from "../access/bearer-tokens.ts";
import { digestFrom, peerOf } from "./peer.ts";
import type { Peer } from "./peer.ts";

test("a trusted certificate that cannot be read completely is not trusted", async () => {
  const authority = await createCertificateAuthority({ clock: createFakeClock(Date.parse("2026-01-01T00:05:00Z")) });
  const bytes = Buffer.from(new X509Certificate(authority.certificate).raw);
  bytes.write("260231", bytes.indexOf("260101"));

  const peer = peerOf({ authorized: true, getPeerX509Certificate: () => new X509Certificate(bytes) });

  expect(peer).toEqual({
    validToMs: 0,
    untrusted: true,
    problem: "the client certificate cannot be read: a time of the validity is malformed",
  });
});

test("a client that changes its token is authenticated with the new one immediately, and with the old one when it returns to it", () => {
  const peer: Peer = { validToMs: Number.POSITIVE_INFINITY, untrusted: false };

  const digests = ["first", "first", "second", "first"].map((token) => digestFrom(peer, token));

  expect(digests).toEqual(["first", "first", "second", "first"].map(tokenDigest));
});
