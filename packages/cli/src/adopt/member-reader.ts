/**
 * Reads one member's objects through the hub's cluster proxy, so that the user needs no credentials for the member.
 * Read-only.
 */
import { formatApiVersion, HUB } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError, isObject, omitZero } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { queryText, resourcePath } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { failureOf, readText } from "../members/ask.ts";
import { whereToLook } from "../members/each-place.ts";
import { proxyPath } from "../members/members-places.ts";

export type Live = DeepReadonly<KubernetesObject>;

export interface MemberReader {
  /** Undefined when the member does not have it. */
  get(kind: AnyKind, key: { namespace?: string; name: string }): Promise<Live | undefined>;
  /** Lists one namespace, if the kind is namespaced. */
  list(kind: AnyKind, selection: { namespace: string; labelSelector?: string }): Promise<Live[]>;
  /** Whether the member serves the kind in this version; a group may serve it in only some of its versions. */
  serves(kind: AnyKind): Promise<boolean>;
}

/** Lists are paginated because response bodies are limited in size. */
const PAGE = 500;

export function createMemberReader(client: Pick<Client, "raw">, cluster: string, signal: AbortSignal): MemberReader {
  const proxy = proxyPath(cluster);

  /** Undefined for 404. */
  async function ask(path: string): Promise<JsonObject | undefined> {
    const { status, body } = await client.raw(
      { method: "GET", path: `${proxy}${path}`, cluster: HUB, headers: { accept: "application/json" } },
      signal,
    );
    const text = await readText(body);
    if (status === 404) return undefined;
    if (status !== 200)
      throw new FlotillaError(
        "Member",
        `reading ${path} on ${cluster} through the hub: ${failureOf(status, text).message}${status >= 500 ? whereToLook(cluster) : ""}`,
      );
    const value: unknown = JSON.parse(text);
    if (!isObject(value))
      throw new FlotillaError(
        "Member",
        `reading ${path} on ${cluster} through the hub: the response is not a JSON object`,
      );
    return value;
  }

  const collection = (kind: AnyKind, namespace: string | undefined) => ({
    cluster,
    group: kind.group,
    version: kind.storageVersion,
    resource: kind.plural,
    namespace: kind.scope === "Namespaced" && namespace ? namespace : undefined,
  });

  return {
    async get(kind, { namespace, name }) {
      return (await ask(resourcePath({ ...collection(kind, namespace), name }))) as unknown as Live | undefined;
    },
    async list(kind, { namespace, labelSelector }) {
      const items: Live[] = [];
      for (let next: string | undefined = ""; next !== undefined;) {
        const query: Record<string, string> = {
          limit: String(PAGE),
          ...omitZero({ labelSelector, continue: next }),
        };
        const page = await ask(`${resourcePath(collection(kind, namespace))}${queryText(query)}`);
        // List items carry no apiVersion and kind.
        for (const item of Array.isArray(page?.["items"]) ? page["items"].filter(isObject) : [])
          items.push({
            ...item,
            apiVersion: formatApiVersion(kind.group, kind.storageVersion),
            kind: kind.kind,
          } as unknown as Live);
        const more = isObject(page?.["metadata"]) ? page["metadata"]["continue"] : undefined;
        next = typeof more === "string" && more !== "" ? more : undefined;
      }
      return items;
    },
    async serves({ group, storageVersion, plural }) {
      const answer = await ask(
        group
          ? `/apis/${encodeURIComponent(group)}/${encodeURIComponent(storageVersion)}`
          : `/api/${encodeURIComponent(storageVersion)}`,
      );
      return (
        Array.isArray(answer?.["resources"]) &&
        answer["resources"].some((resource) => isObject(resource) && resource["name"] === plural)
      );
    },
  };
}
