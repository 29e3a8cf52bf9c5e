/**
 * Counts the usage of a namespace. Pods, services and claims are evaluated one by one; of other kinds only the number
 * of objects is read.
 */
import { addAmounts, readAmounts, type Amounts } from "../../quota/amounts.ts";
import { countName, quotaEvaluatorOf, quotaMatches } from "../../quota/evaluator.ts";
import { kubernetesKinds } from "../../kubernetes-definitions.ts";
import { type Kind } from "@flotilla/apimachinery";
import { type ResourceQuota } from "../../resourcequota/resourcequota-kind.ts";
import { FlotillaError, isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { CountedResource } from "./plan-status.ts";

export interface CountOptions {
  client: Client;
  cluster: string;
  namespace: string;
  nowMs: number;
  signal: AbortSignal;
}

const PAGE_SIZE = 500;

/** Built-in kinds whose objects differ in usage. */
const WEIGHED = new Set(["pods", "services", "persistentvolumeclaims"]);

export function kindOf({ group, resource }: CountedResource): Kind | undefined {
  return kubernetesKinds.find((kind) => kind.group === group && kind.plural === resource);
}

/** The usage of one resource under the quota's names for it; undefined if the cluster does not serve it. */
export async function countUsage(
  quota: DeepReadonly<ResourceQuota>,
  counted: CountedResource,
  options: CountOptions,
): Promise<Amounts | undefined> {
  const { group, resource } = counted;
  const evaluator = quotaEvaluatorOf(group, resource);
  if (!evaluator) return undefined;
  const names = Object.keys(quota.spec?.hard ?? {});
  const nothing: Amounts = readAmounts(
    Object.fromEntries(names.filter((name) => evaluator.counts(name)).map((name) => [name, "0"])),
  );
  const kind = kindOf(counted);
  if (kind && group === "" && WEIGHED.has(resource)) {
    let total = nothing;
    for await (const object of objectsOf(kind, options)) {
      if (quotaMatches(quota, names, evaluator, object))
        total = addAmounts(total, evaluator.usage(object, options.nowMs));
    }
    return total;
  }
  const isScoped = (quota.spec?.scopes?.length ?? 0) > 0 || quota.spec?.scopeSelector !== undefined;
  const count = isScoped ? 0 : await countObjects(counted, kind, options);
  if (count === undefined) return undefined;
  const amounts = readAmounts({ [countName(group, resource)]: count, [resource]: count });
  return new Map([...amounts].filter(([name]) => nothing.has(name)));
}

async function* objectsOf(
  kind: Kind,
  { client, cluster, namespace, signal }: CountOptions,
): AsyncIterable<DeepReadonly<JsonObject>> {
  let token: string | undefined;
  do {
    const page = await client.list(kind, {
      cluster,
      namespace,
      limit: PAGE_SIZE,
      continue: token || undefined,
      signal,
    });
    yield* page.items as unknown as DeepReadonly<JsonObject>[];
    token = page.continue;
  } while (token);
}

/** Reads one object; the server returns the number of remaining ones. */
async function countObjects(
  { group, resource }: CountedResource,
  kind: Kind | undefined,
  options: CountOptions,
): Promise<number | undefined> {
  const { client, cluster, namespace, signal } = options;
  if (kind) {
    const { items, remainingItemCount = 0 } = await client.list(kind, { cluster, namespace, limit: 1, signal });
    return items.length + remainingItemCount;
  }
  const version = group === "" ? undefined : await preferredVersion(group, options);
  if (version === undefined) return undefined;
  const list = await readJson(`/apis/${group}/${version}/namespaces/${namespace}/${resource}?limit=1`, options);
  if (!list) return undefined;
  const { remainingItemCount } = isObject(list.metadata) ? list.metadata : {};
  return (
    (Array.isArray(list.items) ? list.items.length : 0) +
    (typeof remainingItemCount === "number" ? remainingItemCount : 0)
  );
}

async function preferredVersion(group: string, options: CountOptions): Promise<string | undefined> {
  const description = await readJson(`/apis/${group}`, options);
  const { version } = isObject(description?.preferredVersion) ? description.preferredVersion : {};
  return typeof version === "string" ? version : undefined;
}

/** Undefined for resources that the cluster does not serve. */
async function readJson(path: string, { client, cluster, signal }: CountOptions): Promise<JsonObject | undefined> {
  const { status, body } = await client.raw({ cluster, method: "GET", path }, signal);
  if (status === 404) return undefined;
  if (status !== 200)
    throw new FlotillaError("QuotaCount", `failed to read ${path} of cluster ${cluster} for a quota: status ${status}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
}
