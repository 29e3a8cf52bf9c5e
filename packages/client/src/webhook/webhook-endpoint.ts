/**
 * Resolves the endpoint of a webhook from its `clientConfig`: a URL, or a Service of the hub. A Service is resolved for
 * every call, because its address may change; whatever the address is, the certificate must be for
 * `<name>.<namespace>.svc`.
 */
import type { WebhookClientConfig } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { messageOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { WebhookError } from "./webhook-error.ts";

type ClientConfig = DeepReadonly<WebhookClientConfig>;

export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The Host of the request. */
  readonly authority: string;
  /** The name that the certificate must have when it differs from the host. */
  readonly serverName?: string;
}

export interface ServiceLocation {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/**
 * The address of a Service; undefined when the hub has no such Service. Throws for a Service without a usable address.
 */
export type ResolveService = (service: ServiceLocation) => { host: string; port: number } | undefined;

const HTTPS_PORT = 443;

/** Resolves the endpoint for each call. Throws `WebhookError` at once if the configuration has none. */
export function createWebhookLocator({ url, service }: ClientConfig, resolveService?: ResolveService): () => Endpoint {
  // Admission rejects configurations with both; if one exists anyway, the Service wins, as in Karmada.
  if (service) {
    const { namespace, name, path = "/", port = HTTPS_PORT } = service;
    return createServiceLocator({ namespace, name, port }, cleanPath(path), resolveService);
  }
  if (url === undefined) throw new WebhookError("configuration", "clientConfig has neither url nor service");
  const endpoint = endpointOf(url);
  return () => endpoint;
}

function endpointOf(text: string): Endpoint {
  if (!URL.canParse(text)) throw new WebhookError("configuration", "clientConfig.url is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:")
    throw new WebhookError(
      "configuration",
      `clientConfig.url starts with ${url.protocol}//, but webhooks must use https`,
    );
  if (url.username !== "" || url.password !== "")
    throw new WebhookError("configuration", "clientConfig.url must not contain user information");
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || HTTPS_PORT),
    path: cleanPath(url.pathname),
    authority: url.host,
  };
}

function createServiceLocator(
  service: ServiceLocation,
  path: string,
  resolveService: ResolveService | undefined,
): () => Endpoint {
  const serverName = `${service.name}.${service.namespace}.svc`;
  const known = { path, authority: `${serverName}:${service.port}`, serverName };
  return () => {
    try {
      // A Service that the hub does not have may belong to the cluster that the hub runs in.
      return { ...known, ...(resolveService?.(service) ?? { host: serverName, port: service.port }) };
    } catch (error) {
      throw new WebhookError(
        "configuration",
        `the Service ${service.namespace}/${service.name} cannot be used (${messageOf(error)})`,
        { cause: error },
      );
    }
  };
}

/** Encoded, and without empty segments: Karmada's client does not send a trailing slash either. */
function cleanPath(path: string): string {
  const url = new URL("https://webhook");
  url.pathname = path;
  return `/${url.pathname.split("/").filter(Boolean).join("/")}`;
}
