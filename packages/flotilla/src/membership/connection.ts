/**
 * How a Cluster specifies access to its member: an address, a proxy, and Secrets with a token and a CA bundle. Pure,
 * except for `openConnection`.
 *
 * Users of the hub write all of this and may not know this machine: no local file or program is ever used to reach a
 * member.
 */
import { defined } from "@flotilla/base";
import type { Cluster } from "@flotilla/karmada";
import type { Secret } from "@flotilla/kubernetes";
import type { Clock, DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { connectionOf } from "@flotilla/client";
import type { Http2TransportOptions, Kubeconfig } from "@flotilla/client";
import { CA_KEY, TOKEN_KEY } from "@flotilla/karmada";

/** Every setting whose change requires a new connection. The token is not included: requests carry the latest. */
export interface Address {
  server: string;
  /** Distinguishes two clusters at one address. */
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
  if (!secret) return { problem: `secret ${namespace}/${secretName} of cluster ${name} does not exist` };
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

/** Own keys only, because the data of a Secret may have any key. */
function textIn(secret: DeepReadonly<Secret> | undefined, key: string): string {
  const data = secret?.data;
  const value = data && Object.hasOwn(data, key) ? data[key] : undefined;
  return value === undefined ? "" : Buffer.from(value, "base64").toString("utf8");
}

/** One value each, or several separated by commas. */
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
    ...defined({
      "certificate-authority-data": ca === undefined ? undefined : Buffer.from(ca).toString("base64"),
      "insecure-skip-tls-verify": insecure ? true : undefined,
      "proxy-url": proxyUrl,
    }),
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
