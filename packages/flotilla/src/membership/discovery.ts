/**
 * Reads the APIs that a cluster serves from its discovery: in one document where the server supports aggregated
 * discovery, otherwise group by group. An unchanged document costs a response without a body.
 */
import { formatApiVersion } from "@flotilla/apimachinery";
import type { Cluster } from "@flotilla/karmada";
import { FlotillaError, isObject, defined } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { readJson, readText } from "@flotilla/client";
import type { Client } from "@flotilla/client";

type ApiEnablements = NonNullable<NonNullable<Cluster["status"]>["apiEnablements"]>;

export interface Enablements {
  apiEnablements: ApiEnablements;
  /** False when discovery is partial, for example because an aggregated API server does not answer. */
  isComplete: boolean;
}

export interface Discovery {
  read(signal: AbortSignal): Promise<Enablements>;
}

/** Aggregated discovery: one response instead of one per group. */
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
/** No real cluster has more groups than this. */
const MAX_GROUP_VERSIONS = 1000;
/** Groups queried concurrently. */
const PARALLEL = 4;

interface Document {
  etag: string;
  found: Enablements;
}

export function createDiscovery(client: Client, cluster: string): Discovery {
  const documents = new Map<string, Document>();

  async function ask(
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<{ status: number; etag: string; json: Json }> {
    const { status, headers: answered, body } = await client.raw({ method: "GET", path, cluster, headers }, signal);
    const etag = answered["etag"] ?? "";
    if (status === 200) return { status, etag, json: await readJson(body) };
    await readText(body);
    if (status === 304) return { status, etag, json: null };
    throw new FlotillaError("Discovery", `discovery of cluster ${cluster} failed: ${path} returned ${status}`);
  }

  async function readDocument(path: "/api" | "/apis", signal: AbortSignal): Promise<Enablements> {
    const known = documents.get(path);
    const { status, etag, json } = await ask(
      path,
      { accept: AGGREGATED, ...defined({ "if-none-match": known?.etag }) },
      signal,
    );
    if (status === 304 && known) return known.found;
    const found =
      isObject(json) && Array.isArray(json["items"])
        ? readAggregated(json["items"])
        : await readGroups(path, json, signal);
    if (etag !== "") documents.set(path, { etag, found });
    return found;
  }

  /** Servers before 1.27 list names only, so each group is queried individually. */
  async function readGroups(path: string, list: Json, signal: AbortSignal): Promise<Enablements> {
    const names = groupVersionsIn(list).slice(0, MAX_GROUP_VERSIONS);
    const found: ApiEnablements = [];
    let isComplete = true;
    const next = names.values();
    const work = async (): Promise<void> => {
      for (const groupVersion of next) {
        try {
          const { json } = await ask(`${path}/${groupVersion}`, { accept: "application/json" }, signal);
          found.push({
            groupVersion,
            resources: resourcesIn(isObject(json) ? json["resources"] : undefined, "name", "kind"),
          });
        } catch (error) {
          if (!(error instanceof FlotillaError) || error.code !== "Discovery") throw error;
          isComplete = false; // One group whose server is unavailable must not hide the others.
        }
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
    return { apiEnablements: found, isComplete };
  }

  return {
    async read(signal) {
      const parts = await Promise.all([readDocument("/api", signal), readDocument("/apis", signal)]);
      return {
        apiEnablements: sorted(parts.flatMap(({ apiEnablements }) => apiEnablements)),
        isComplete: parts.every(({ isComplete }) => isComplete),
      };
    },
  };
}

function readAggregated(items: readonly Json[]): Enablements {
  const apiEnablements: ApiEnablements = [];
  let isComplete = true;
  for (const item of items) {
    const metadata = isObject(item) ? item["metadata"] : undefined;
    const group = isObject(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : "";
    for (const version of isObject(item) && Array.isArray(item["versions"]) ? item["versions"] : []) {
      if (!isObject(version) || typeof version["version"] !== "string") continue;
      if (version["freshness"] === "Stale") isComplete = false;
      apiEnablements.push({
        groupVersion: formatApiVersion(group, version["version"]),
        resources: resourcesIn(version["resources"], "resource", "responseKind"),
      });
    }
  }
  return { apiEnablements, isComplete };
}

function groupVersionsIn(list: Json): string[] {
  if (!isObject(list)) return [];
  if (Array.isArray(list["versions"])) return list["versions"].filter((version) => typeof version === "string");
  const groups = Array.isArray(list["groups"]) ? list["groups"] : [];
  return groups.flatMap((group) =>
    isObject(group) && Array.isArray(group["versions"])
      ? group["versions"].flatMap((version) =>
          isObject(version) && typeof version["groupVersion"] === "string" ? [version["groupVersion"]] : [],
        )
      : [],
  );
}

/** Without subresources. The kind is a string, or an object that contains it. */
function resourcesIn(rows: Json | undefined, nameField: string, kindField: string): { name: string; kind: string }[] {
  return (Array.isArray(rows) ? rows : [])
    .flatMap((row) => {
      const name = isObject(row) ? row[nameField] : undefined;
      const kind = isObject(row) ? row[kindField] : undefined;
      const text = isObject(kind) ? kind["kind"] : kind;
      return typeof name === "string" && !name.includes("/")
        ? [{ name, kind: typeof text === "string" ? text : "" }]
        : [];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const sorted = (enablements: ApiEnablements): ApiEnablements =>
  enablements.sort((a, b) => (a.groupVersion < b.groupVersion ? -1 : 1));
