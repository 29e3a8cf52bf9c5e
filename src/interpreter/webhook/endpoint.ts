/**
 * Where a webhook is reached, from the `clientConfig` of its configuration: an address, or a Service of the hub. A
 * Service is looked up for every call, because its address may change; whatever the address is, the certificate must be
 * for `<name>.<namespace>.svc`.
 */
import type { ResourceInterpreterWebhook } from "../../api/index.ts";
import { messageOf } from "../../base/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { WebhookError } from "./webhook-error.ts";

type ClientConfig = DeepReadonly<ResourceInterpreterWebhook["clientConfig"]>;

export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** What the webhook is called in the request. */
  readonly authority: string;
  /** The name that the certificate must carry when it is not the host. */
  readonly serverName?: string;
}

export interface ServiceLocation {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Where a Service listens; undefined when the hub has no such Service. Throws for one that nobody can connect to. */
export type ResolveService = (service: ServiceLocation) => { host: string; port: number } | undefined;

const HTTPS_PORT = 443;

/** Finds the endpoint of each call. Throws `WebhookError` at once when the configuration names none. */
export function createLocator({ url, service }: ClientConfig, resolveService?: ResolveService): () => Endpoint {
  // Both at once are refused at admission; of one that got by, the Service counts, as in Karmada.
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
      `clientConfig.url starts with ${url.protocol}//, and a webhook is called by https only`,
    );
  if (url.username !== "" || url.password !== "")
    throw new WebhookError(
      "configuration",
      "clientConfig.url has user information, which a webhook is not called with",
    );
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
      // A Service that the hub does not have may be one of the cluster that the hub runs in.
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

/** Encoded, and without empty segments: Karmada's client sends no slash at the end either. */
function cleanPath(path: string): string {
  const url = new URL("https://webhook");
  url.pathname = path;
  return `/${url.pathname.split("/").filter(Boolean).join("/")}`;
}
