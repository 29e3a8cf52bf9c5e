/** Sends a file of the page: `index.html` with a nonce and never cached, everything else compressed and for ever. */
import { randomBytes } from "node:crypto";
import type { ApiResponse } from "@flotilla/apiserver";
import { omitZero } from "@flotilla/base";
import type { Asset } from "./assets.ts";
import { COMMON_HEADERS, DATA_POLICY, pagePolicy } from "./page-headers.ts";

export function pageResponse({ isIndex, type, bytes, packed }: Asset, accepted: string): ApiResponse {
  const common = { ...COMMON_HEADERS, "content-type": type };
  if (isIndex) {
    const nonce = randomBytes(16).toString("base64");
    const html = Buffer.from(bytes).toString("utf8").replaceAll("__NONCE__", nonce);
    const policy = { "content-security-policy": pagePolicy(nonce), "cache-control": "no-store" };
    return { status: 200, headers: { ...common, ...policy }, body: Buffer.from(html) };
  }
  const encoding =
    accepted.includes("br") && packed.has("br")
      ? "br"
      : accepted.includes("gzip") && packed.has("gzip")
        ? "gzip"
        : undefined;
  return {
    status: 200,
    headers: {
      ...common,
      // The name of a file contains the hash of its content.
      "cache-control": "public, max-age=31536000, immutable",
      "content-security-policy": DATA_POLICY,
      vary: "accept-encoding",
      ...omitZero({ "content-encoding": encoding }),
    },
    body: (encoding && packed.get(encoding)) ?? bytes,
  };
}
