/**
 * Bootstraps trust in a hub: its `cluster-info` is signed with the token that the reader has, and its certificate
 * authority has the digest that the reader was given. Pure.
 */
import { createHmac, hash, timingSafeEqual, X509Certificate } from "node:crypto";
import { FlotillaError } from "@flotilla/base";
import { parseKubeconfig } from "@flotilla/client";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

export interface Discovery {
  server: string;
  /** PEM. */
  ca: string;
}

/** `data` is that of the ConfigMap. Throws if the signature does not match the token. */
export function readClusterInfo(
  data: Readonly<Record<string, string>>,
  { token, caHashes, trustsAnyAuthority }: { token: string; caHashes: readonly string[]; trustsAnyAuthority: boolean },
): Discovery {
  const [, id, secret] = TOKEN.exec(token) ?? [];
  if (id === undefined || secret === undefined)
    throw new FlotillaError(
      "Token",
      "the token must have the form abcdef.0123456789abcdef; create one with 'flotilla token --through karmada'",
    );
  const text = data["kubeconfig"] ?? "";
  const signature = Object.hasOwn(data, `jws-kubeconfig-${id}`) ? data[`jws-kubeconfig-${id}`] : undefined;
  if (signature === undefined)
    throw new FlotillaError(
      "Token",
      `the hub does not recognize token ${id}; it has expired or was used already. Create another with 'flotilla token --through karmada'`,
    );
  if (!isSigned(text, signature, secret))
    throw new FlotillaError(
      "Token",
      "the cluster-info of the hub was not signed with this token; the server may not be the hub",
    );
  const { clusters } = parseKubeconfig(text, { source: "cluster-info" });
  const [cluster] = clusters.values();
  const server = cluster?.["server"];
  const encoded = cluster?.["certificate-authority-data"];
  if (typeof server !== "string")
    throw new FlotillaError("Discovery", "the cluster-info of the hub contains no server address");
  const ca = typeof encoded === "string" ? Buffer.from(encoded, "base64").toString("utf8") : "";
  if (!trustsAnyAuthority && !hasDigest(ca, caHashes))
    throw new FlotillaError(
      "Discovery",
      `the hub's certificate authority does not match ${caHashes.join(" or ")}; request a new join command`,
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
    return false; // Not a certificate.
  }
}
