/** Finds the kind that a person means by `deploy`, `deployments`, `Deployment` or `clonesets.apps.kruise.io`, from the hub's discovery. */
import { dynamicKind } from "../../api/index.ts";
import { FlotillaError, UsageError } from "../../base/index.ts";
import type { AnyKind, Client } from "../../client/index.ts";
import { failureOf, readText } from "../members/ask.ts";

interface Resource {
  resource: string;
  responseKind: { kind: string };
  scope: "Namespaced" | "Cluster";
  singularResource?: string;
  shortNames?: string[];
}
interface Discovery {
  items: { metadata: { name?: string }; versions: { version: string; resources?: Resource[] }[] }[];
}

/** In the version that the hub prefers. Throws `UsageError` for a type that the hub does not serve. */
export async function resolveType(client: Client, type: string, signal: AbortSignal): Promise<AnyKind> {
  return (await resolveVersions(client, type, signal))[0];
}

/** In every version that the hub serves, the one that it prefers first. Throws `UsageError` for a type that the hub does not serve. */
export async function resolveVersions(client: Client, type: string, signal: AbortSignal): Promise<[AnyKind, ...AnyKind[]]> {
  const wanted = type.toLowerCase();
  for (const path of ["/api", "/apis"]) {
    const { items } = await discover(client, path, signal);
    for (const { metadata, versions } of items) {
      const group = metadata.name ?? "";
      const [preferred, ...others] = versions.flatMap(({ version, resources = [] }) => {
        const found = resources.find((resource) => namesOf(resource).some((name) => wanted === name || (group !== "" && wanted === `${name}.${group}`)));
        return found ? [dynamicKind({ group, version, kind: found.responseKind.kind, plural: found.resource, scope: found.scope })] : [];
      });
      if (preferred) return [preferred, ...others];
    }
  }
  throw new UsageError(`the hub does not serve a resource type '${type}'; 'kubectl api-resources' lists them`);
}

const namesOf = ({ resource, responseKind, singularResource, shortNames = [] }: Resource): string[] => [resource, responseKind.kind.toLowerCase(), ...(singularResource ? [singularResource] : []), ...shortNames];

async function discover(client: Client, path: string, signal: AbortSignal): Promise<Discovery> {
  const { status, body } = await client.raw({ method: "GET", path, cluster: "hub", headers: { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" } }, signal);
  const text = await readText(body);
  if (status !== 200) throw new FlotillaError("Discovery", "asking the hub what it serves", { cause: failureOf(status, text) });
  return JSON.parse(text) as Discovery;
}
