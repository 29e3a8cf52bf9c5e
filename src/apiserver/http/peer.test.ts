import { expect, test } from "vitest";
import { tokenDigest } from "../access/bearer-tokens.ts";
import { digestFrom } from "./peer.ts";
import type { Peer } from "./peer.ts";

test("a client that changes its token is authenticated with the new one immediately, and with the old one when it returns to it", () => {
  const peer: Peer = { validToMs: Number.POSITIVE_INFINITY, untrusted: false };

  const digests = ["first", "first", "second", "first"].map((token) => digestFrom(peer, token));

  expect(digests).toEqual(["first", "first", "second", "first"].map(tokenDigest));
});
