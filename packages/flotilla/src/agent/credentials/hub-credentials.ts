/**
 * An agent's hub credentials: the hub's address and a client certificate. Decides whether they are valid for the hub in
 * the bootstrap kubeconfig, and when to renew them. Pure.
 */
import { X509Certificate } from "node:crypto";
import { isPair, renderKubeconfig } from "@flotilla/client";

/** The address of a hub. The same certificate at another address would belong to another hub. */
export interface HubAddress {
  /** The name of the entry in the kubeconfig. */
  name: string;
  server: string;
  /** PEM; empty trusts the system's authorities. */
  ca: string;
  proxyUrl: string;
  /** More addresses of the hub. */
  others: readonly string[];
}

export interface HubCredentials {
  address: HubAddress;
  cluster: string;
  agent: string;
  /** PEM. */
  cert: string;
  key: string;
}

/** Undefined when they can be used; otherwise the reason, for the log. */
export function problemWith(
  credentials: HubCredentials,
  wanted: { address: HubAddress | undefined; cluster: string; commonName: string },
  nowMs: number,
): string | undefined {
  const { address, cert, key } = credentials;
  if (wanted.address) {
    const { name, server, ca, proxyUrl, others } = wanted.address;
    if (
      server !== address.server ||
      others.join() !== address.others.join() ||
      proxyUrl !== address.proxyUrl ||
      ca.trim() !== address.ca.trim() ||
      name !== address.name
    )
      return "they are for another hub than the one in the bootstrap kubeconfig";
  }
  if (credentials.cluster !== wanted.cluster) return `they are for cluster ${credentials.cluster}`;
  const certificate = read(cert);
  if (!certificate || !isPair(cert, key)) return "the certificate cannot be parsed, or does not match the key";
  if (commonNameOf(certificate) !== wanted.commonName)
    return `the certificate is for ${commonNameOf(certificate) ?? "no user"}`;
  if (certificate.validToDate.getTime() <= nowMs)
    return `the certificate expired on ${certificate.validToDate.toISOString()}`;
  return undefined;
}

/** The time when `share` of its lifetime is left. A certificate that cannot be parsed is due at once. */
export function renewalDueMs(cert: string, share: number): number {
  const certificate = read(cert);
  if (!certificate) return 0;
  const [fromMs, toMs] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  return toMs - (toMs - fromMs) * share;
}

export function expiresMs(cert: string): number {
  return read(cert)?.validToDate.getTime() ?? 0;
}

/**
 * Returns the stored credentials, unless the given ones are for another hub or cluster, or expire later: the cluster
 * was registered again.
 */
export function latestOf(kept: HubCredentials | undefined, given: HubCredentials): HubCredentials {
  const isOfSame =
    kept?.cluster === given.cluster &&
    kept.address.server === given.address.server &&
    kept.address.ca.trim() === given.address.ca.trim();
  return kept && isOfSame && expiresMs(kept.cert) >= expiresMs(given.cert) ? kept : given;
}

/** A self-contained kubeconfig, for `kubectl` and for agents that read one. */
export function kubeconfigOf({ address, cert, key }: HubCredentials): string {
  return renderKubeconfig({
    name: address.name,
    server: address.server,
    ca: address.ca !== "" ? address.ca : undefined,
    cert,
    key,
    namespace: "configuration",
  });
}

function read(cert: string): X509Certificate | undefined {
  try {
    return new X509Certificate(cert);
  } catch {
    return undefined; // Not a certificate; the caller reports it.
  }
}

/** The `CN=…` line of the subject. */
function commonNameOf({ subject }: X509Certificate): string | undefined {
  return subject
    .split("\n")
    .find((line) => line.startsWith("CN="))
    ?.slice("CN=".length);
}
