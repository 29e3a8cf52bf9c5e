/**
 * How a Cluster says that its member is reached: an address, a proxy, and Secrets with a token and the authorities to
 * trust. Pure, except for `openConnection`.
 *
 * All of it was written by others, who may know nothing of this machine: no file and no program of it is ever used for
 * a member.
 */
import type { Cluster, Secret } from "../api/index.ts";
import type { Clock, DeepReadonly, Json, JsonObject } from "../base/index.ts";
import { connectionOf } from "../client/index.ts";
import type { Http2TransportOptions, Kubeconfig } from "../client/index.ts";
import { CA_KEY, TOKEN_KEY } from "./well-known.ts";

/**
 * Everything that a new connection is needed for when it changes. A token is not among it: requests carry the newest.
 */
export interface Address {
  server: string;
  /** Tells two clusters at one address apart. */
  id: string;
  ca?: string;
  insecure: boolean;
  proxyUrl?: string;
  proxyHeaders?: Readonly<Record<string, readonly string[]>>;
}

export type SecretReader = (namespace: string, name: string) => DeepReadonly<Secret> | undefined;

export type AddressPlan = { address: Address } | { problem: string };

export function planAddress({ metadata: { name }, spec }: DeepReadonly<Cluster>, secretOf: SecretReader): AddressPlan {
  if (!spec.apiEndpoint) return { problem: `the api endpoint of cluster ${name} is empty` };
  if (!spec.secretRef) return { problem: `cluster ${name} does not have a secret` };
  const { namespace, name: secretName } = spec.secretRef;
  const secret = secretOf(namespace, secretName);
  if (!secret) return { problem: `the Secret ${namespace}/${secretName} of cluster ${name} is not there` };
  if (tokenIn(secret) === "")
    return { problem: `the secret for cluster ${name} is missing a non-empty value for "${TOKEN_KEY}"` };
  const ca = textIn(secret, CA_KEY);
  const insecure = spec.insecureSkipTLSVerification === true;
  if (!insecure && secret.data?.[CA_KEY] === undefined)
    return { problem: `the secret for cluster ${name} is missing the CA data key "${CA_KEY}"` };
  return {
    address: {
      server: spec.apiEndpoint,
      id: spec.id ?? "",
      insecure,
      ca: !insecure && ca !== "" ? ca : undefined,
      proxyUrl: spec.proxyURL || undefined,
      proxyHeaders: spec.proxyURL && spec.proxyHeader ? headersOf(spec.proxyHeader) : undefined,
    },
  };
}

export const tokenIn = (secret: DeepReadonly<Secret> | undefined): string => textIn(secret, TOKEN_KEY).trim();

/** Own keys only, as the data of a Secret may have any name. */
function textIn(secret: DeepReadonly<Secret> | undefined, key: string): string {
  const data = secret?.data;
  const value = data && Object.hasOwn(data, key) ? data[key] : undefined;
  return value === undefined ? "" : Buffer.from(value, "base64").toString("utf8");
}

/** One value each, or several with commas between them. */
function headersOf(headers: Readonly<Record<string, string>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.split(",")]));
}

/** The part of a transport's options that an address determines. */
export async function openConnection(
  cluster: string,
  address: Address,
  clock: Clock,
): Promise<Omit<Http2TransportOptions, "cluster">> {
  const { server, ca, insecure, proxyUrl, proxyHeaders } = address;
  const entry: JsonObject = {
    server,
    ...(ca !== undefined && { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(insecure && { "insecure-skip-tls-verify": true }),
    ...(proxyUrl !== undefined && { "proxy-url": proxyUrl }),
  };
  const named = <T extends Json | object>(value: T): ReadonlyMap<string, T> => new Map([[cluster, value]]);
  const kubeconfig: Kubeconfig = {
    source: `Cluster ${cluster}`,
    directory: ".",
    currentContext: cluster,
    contexts: named({ cluster, user: "" }),
    clusters: named(entry),
    users: new Map(),
  };
  return { ...(await connectionOf(kubeconfig, cluster, { clock, isForeign: true })), proxyHeaders };
}
