import { expect, test } from "vitest";
import { tokenDigest } from "../access/bearer-tokens.ts";
import { digestFrom } from "./peer.ts";
import type { Peer } from "./peer.ts";

test("a peer that changes its token is known by the new one at once, and by the old one when it comes back to it", () => {
  const peer: Peer = { validToMs: Number.POSITIVE_INFINITY, untrusted: false };

  const digests = ["first", "first", "second", "first"].map((token) => digestFrom(peer, token));

  expect(digests).toEqual(["first", "first", "second", "first"].map(tokenDigest));
});
