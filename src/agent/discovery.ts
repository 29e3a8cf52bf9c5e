/**
 * Whom to trust, learnt from a hub that nobody trusts yet: its `cluster-info` is signed with the token that the reader
 * has, and its authority has the digest that the reader was told. Pure.
 */
import { createHmac, hash, timingSafeEqual, X509Certificate } from "node:crypto";
import { FlotillaError } from "../base/index.ts";
import { parseKubeconfig } from "../client/index.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

export interface Discovery {
  server: string;
  /** PEM. */
  ca: string;
}

/** `data` is that of the ConfigMap. Throws when it is not what the owner of the token wrote. */
export function readClusterInfo(
  data: Readonly<Record<string, string>>,
  { token, caHashes, trustsAnyAuthority }: { token: string; caHashes: readonly string[]; trustsAnyAuthority: boolean },
): Discovery {
  const [, id, secret] = TOKEN.exec(token) ?? [];
  if (id === undefined || secret === undefined)
    throw new FlotillaError("Token", "the token has the form abcdef.0123456789abcdef; 'flotilla token' makes one");
  const text = data["kubeconfig"] ?? "";
  const signature = Object.hasOwn(data, `jws-kubeconfig-${id}`) ? data[`jws-kubeconfig-${id}`] : undefined;
  if (signature === undefined)
    throw new FlotillaError(
      "Token",
      `the hub does not know a token ${id}; it may have ended, and 'flotilla token' makes another`,
    );
  if (!isSigned(text, signature, secret))
    throw new FlotillaError(
      "Token",
      "what the hub says of itself was not signed with this token; it may be another server than it seems",
    );
  const { clusters } = parseKubeconfig(text, { source: "cluster-info" });
  const [cluster] = clusters.values();
  const server = cluster?.["server"];
  const encoded = cluster?.["certificate-authority-data"];
  if (typeof server !== "string")
    throw new FlotillaError("Discovery", "cluster-info of the hub does not say where it is");
  const ca = typeof encoded === "string" ? Buffer.from(encoded, "base64").toString("utf8") : "";
  if (!trustsAnyAuthority && !hasDigest(ca, caHashes))
    throw new FlotillaError(
      "Discovery",
      `the hub's certificate authority is not the one with ${caHashes.join(" or ")}; ask again for the command that joins`,
    );
  return { server, ca };
}

function isSigned(content: string, signature: string, secret: string): boolean {
  const [header = "", , given = ""] = signature.split(".");
  const wanted = createHmac("sha256", secret)
    .update(`${header}.${Buffer.from(content).toString("base64url")}`)
    .digest();
  const bytes = Buffer.from(given, "base64url");
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
}

function hasDigest(ca: string, digests: readonly string[]): boolean {
  try {
    return digests.includes(
      `sha256:${hash("sha256", new X509Certificate(ca).publicKey.export({ type: "spki", format: "der" }), "hex")}`,
    );
  } catch {
    return false; // No certificate at all.
  }
}
