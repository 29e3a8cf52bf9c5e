/** What aggregated servers serve, for the documents about a cluster. */
import { isObject } from "@flotilla/base";
import type { Clock, Json, JsonObject } from "@flotilla/base";
import type { ForeignVersion } from "../discovery/discovery.ts";
import { askForOpenApi } from "./remote-calls.ts";
import { isAvailable } from "./remote-service.ts";
import type { RemoteService } from "./remote-service.ts";

const NONE: readonly ForeignVersion[] = [];
const known = new WeakMap<readonly RemoteService[], readonly ForeignVersion[]>();

/** The same list for the same services, so that documents can be kept with it. */
export function foreignVersions(remotes: readonly RemoteService[]): readonly ForeignVersion[] {
  if (remotes.length === 0) return NONE;
  let versions = known.get(remotes);
  if (!versions) known.set(remotes, (versions = remotes.map(foreignVersion)));
  return versions;
}

function foreignVersion(remote: RemoteService): ForeignVersion {
  const { group, version, spec, discovered } = remote;
  return {
    group,
    version,
    groupPriority: spec.groupPriorityMinimum,
    versionPriority: spec.versionPriority,
    resources: discovered?.resources ?? [],
    isCurrent: isAvailable(remote) && discovered !== undefined,
  };
}

/** The OpenAPI v3 documents of aggregated servers: their URLs by name. */
export function foreignDocuments(remotes: readonly RemoteService[]): ReadonlyMap<string, string> {
  return new Map(
    remotes.flatMap((remote) =>
      isAvailable(remote) && remote.openApiUrl !== undefined
        ? [[`apis/${remote.group}/${remote.version}`, remote.openApiUrl]]
        : [],
    ),
  );
}

/** The paths and definitions of one version in OpenAPI v2. */
export interface ForeignSwagger {
  readonly paths: JsonObject;
  readonly definitions: JsonObject;
}

const OPENAPI_FOR_MS = 60_000;
const swaggers = new WeakMap<RemoteService, { atMs: number; swagger: ForeignSwagger | undefined }>();

/** OpenAPI v2 of the available servers; those that do not answer in time are left out. */
export async function foreignSwaggers(
  remotes: readonly RemoteService[],
  context: { clock: Clock; signal: AbortSignal },
): Promise<ForeignSwagger[]> {
  const found = await Promise.all(
    remotes.filter(isAvailable).map(async (remote) => {
      const kept = swaggers.get(remote);
      if (kept && context.clock.now() < kept.atMs + OPENAPI_FOR_MS) return kept.swagger;
      const swagger = await readSwagger(remote, context);
      swaggers.set(remote, { atMs: context.clock.now(), swagger });
      return swagger;
    }),
  );
  return found.filter((swagger) => swagger !== undefined);
}

async function readSwagger(
  remote: RemoteService,
  context: { clock: Clock; signal: AbortSignal },
): Promise<ForeignSwagger | undefined> {
  try {
    const { json = null } = await askForOpenApi(remote, context);
    return swaggerOfVersion(json, remote.group, remote.version);
  } catch {
    // The condition of the APIService reports a server that does not answer.
    return undefined;
  }
}

/** The part of a document that is about one version: its paths, and the definitions that they need. Pure. */
function swaggerOfVersion(document: Json, group: string, version: string): ForeignSwagger | undefined {
  if (!isObject(document) || !isObject(document.paths)) return undefined;
  const prefix = `/apis/${group}/${version}/`;
  const paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => path.startsWith(prefix)));
  const all = isObject(document.definitions) ? document.definitions : {};
  const definitions: JsonObject = {};
  const pending = [...references(paths)];
  for (let name; (name = pending.pop()) !== undefined;) {
    const definition = Object.hasOwn(all, name) ? all[name] : undefined;
    if (definition === undefined || Object.hasOwn(definitions, name)) continue;
    definitions[name] = definition;
    pending.push(...references(definition));
  }
  return { paths, definitions };
}

function references(value: Json): Set<string> {
  return new Set(
    [...JSON.stringify(value).matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)].map(([, name = ""]) => name),
  );
}
