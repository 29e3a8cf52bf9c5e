/** Deletes the objects of a namespace that aggregated servers hold. */
import { FlotillaError, isObject } from "@flotilla/base";
import type { Clock, Json } from "@flotilla/base";
import { ask } from "./remote-calls.ts";
import { deletableResources } from "./remote-discovery.ts";
import { isAvailable } from "./remote-service.ts";
import type { RemoteService } from "./remote-service.ts";

/** One pass deletes up to this many objects of a kind without `deletecollection`; the next pass deletes the rest. */
const PAGE = 500;
/** One pass takes about this long: afterwards no kind and no deletion of an object is begun. */
const PASS_MS = 10_000;

/** What an emptying namespace still waits for. */
export interface ForeignContent {
  /** Versions whose servers do not respond. */
  readonly unknown: readonly string[];
  /** The number of objects left, by resource and group. */
  readonly remaining: ReadonlyMap<string, number>;
  /** False when the time of the pass ended before everything was deleted and counted. */
  readonly isComplete: boolean;
}

export async function removeForeignContent(
  remotes: readonly RemoteService[],
  namespace: string,
  context: { clock: Clock; signal: AbortSignal },
): Promise<ForeignContent> {
  const unknown: string[] = [];
  const remaining = new Map<string, number>();
  const endMs = context.clock.now() + PASS_MS;
  const isOver = (): boolean => context.clock.now() >= endMs;
  for (const remote of remotes) {
    const { group, version, discovered } = remote;
    if (!isAvailable(remote) || !discovered) {
      unknown.push(`${group}/${version}`);
      continue;
    }
    for (const { name, hasCollection } of deletableResources(discovered)) {
      if (isOver()) return { unknown, remaining, isComplete: false };
      const path = `/apis/${group}/${version}/namespaces/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
      if (hasCollection) await ask(remote, path, context, { method: "DELETE" });
      else
        for (const object of await listed(remote, path, context)) {
          if (isOver()) return { unknown, remaining, isComplete: false };
          await ask(remote, `${path}/${encodeURIComponent(object)}`, context, { method: "DELETE" });
        }
      const left = (await listed(remote, path, context)).length;
      if (left > 0) remaining.set(`${name}.${group}`, left);
    }
  }
  return { unknown, remaining, isComplete: true };
}

async function listed(
  remote: RemoteService,
  path: string,
  context: { clock: Clock; signal: AbortSignal },
): Promise<string[]> {
  const { status, json = null } = await ask(remote, `${path}?limit=${PAGE}`, context);
  // A kind that is listed in discovery may not be in all namespaces.
  if (status === 404 || status === 405) return [];
  if (status < 200 || status > 299)
    throw new FlotillaError("AggregatedServer", `listing ${path} at the server of ${remote.name}: status ${status}`);
  return namesIn(json);
}

function namesIn(list: Json): string[] {
  const items = isObject(list) && Array.isArray(list.items) ? list.items.filter(isObject) : [];
  return items.flatMap(({ metadata }) => {
    const name = isObject(metadata) ? metadata.name : undefined;
    return typeof name === "string" ? [name] : [];
  });
}
