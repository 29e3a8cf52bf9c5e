/**
 * Kubeconfig files: the server, its CA, and the credentials.
 *
 * Parsing and merging are pure; only `loadKubeconfig` and `loadKubeconfigs` read files. Contexts are resolved in `kubeconfig-connection.ts`.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { UsageError, isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { formatYaml, loadYaml, YamlError } from "@flotilla/apimachinery";

export interface Kubeconfig {
  /** Its name in messages: the path, or a name from the caller. */
  readonly source: string;
  /** Base directory of relative file names. */
  readonly directory: string;
  readonly currentContext?: string;
  readonly contexts: ReadonlyMap<string, { cluster: string; user: string; namespace?: string }>;
  readonly clusters: ReadonlyMap<string, JsonObject>;
  readonly users: ReadonlyMap<string, JsonObject>;
}

/** Kubeconfigs hold certificates, not data. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Advice for a file without contents. */
export const RECREATE_ADVICE =
  "name another file, or create it again: 'kubectl config view --minify --flatten' prints a complete one";

/**
 * Several files as one, as kubectl reads `$KUBECONFIG`: files that do not exist are skipped, and the first file that
 * defines a name or a current context wins.
 */
export async function loadKubeconfigs(paths: readonly string[]): Promise<Kubeconfig> {
  const existing = paths.length > 1 ? paths.filter((path) => existsSync(path)) : paths;
  if (existing.length === 0) throw new UsageError(`none of the kubeconfigs ${paths.join(", ")} exists`);
  return mergeKubeconfigs(await Promise.all(existing.map(loadKubeconfig)));
}

export async function loadKubeconfig(path: string): Promise<Kubeconfig> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new UsageError(`cannot read the kubeconfig ${path}; check the path and its permissions`, { cause });
  });
  return parseKubeconfig(text, { source: path, directory: dirname(resolve(path)) });
}

export function parseKubeconfig(text: string, where: { source?: string; directory?: string } = {}): Kubeconfig {
  const { source = "the kubeconfig", directory = "." } = where;
  if (text.length > MAX_BYTES) throw new UsageError(`${source} is larger than ${MAX_BYTES} bytes; is it a kubeconfig?`);
  if (text.trim() === "") throw new UsageError(`${source} is empty; ${RECREATE_ADVICE}`);
  const document = parseYaml(text, source);
  if (!isObject(document))
    throw new UsageError(
      `${source} is not a kubeconfig: it must be an object with clusters, contexts and users; ${RECREATE_ADVICE}`,
    );
  const { kind } = document;
  // Quoted only if it is a string: YAML aliases can expand a few lines to a value larger than memory.
  if (kind !== undefined && kind !== "Config")
    throw new UsageError(
      `${source} is not a kubeconfig: its kind is ${typeof kind === "string" ? JSON.stringify(kind.slice(0, 100)) : "not a string"}; it must be Config`,
    );
  const currentContext = document["current-context"];
  const contexts = named(document, "contexts", "context", source);
  return {
    source,
    directory,
    currentContext: typeof currentContext === "string" && currentContext !== "" ? currentContext : undefined,
    contexts: new Map(
      [...contexts].map(([name, context]) => {
        const namespace = stringAt(context, "namespace");
        return [
          name,
          {
            cluster: stringAt(context, "cluster") ?? "",
            user: stringAt(context, "user") ?? "",
            namespace: namespace || undefined,
          },
        ];
      }),
    ),
    clusters: named(document, "clusters", "cluster", source),
    users: named(document, "users", "user", source),
  };
}

/** The first definition of a name wins. File names are relative to the kubeconfig that has them, so they are resolved. */
function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const [first, ...others] = configs;
  if (!first) throw new UsageError("no kubeconfig was given");
  if (others.length === 0) return first;
  const merged = <T>(of: (config: Kubeconfig) => Iterable<readonly [string, T]>): Map<string, T> =>
    new Map(configs.toReversed().flatMap((config) => [...of(config)]));
  const resolved = (config: Kubeconfig, entries: ReadonlyMap<string, JsonObject>): [string, JsonObject][] =>
    Array.from(entries, ([name, entry]) => [name, withAbsoluteFiles(entry, config.directory)]);
  return {
    source: configs.map(({ source }) => source).join(", "),
    directory: first.directory,
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    contexts: merged(({ contexts }) => contexts),
    clusters: merged((config) => resolved(config, config.clusters)),
    users: merged((config) => resolved(config, config.users)),
  };
}

/** The fields of a cluster or user that name a file. */
const FILE_FIELDS = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];

function withAbsoluteFiles(entry: JsonObject, directory: string): JsonObject {
  const result = { ...entry };
  for (const field of FILE_FIELDS) {
    const file = stringAt(entry, field);
    if (file !== undefined) result[field] = resolve(directory, file);
  }
  const exec = entry["exec"];
  const command = isObject(exec) ? stringAt(exec, "command") : undefined;
  // A name without a slash is looked up in PATH.
  if (isObject(exec) && command !== undefined && /[\\/]/.test(command))
    result["exec"] = { ...exec, command: resolve(directory, command) };
  return result;
}

/**
 * A kubeconfig with one context, as indented JSON, which every YAML parser accepts. It holds secrets: write it with
 * mode 0600.
 */
export function renderKubeconfig(connection: {
  name: string;
  server: string;
  ca?: string;
  cert?: string;
  key?: string;
  token?: string;
  namespace?: string;
  /** More addresses of the same server. */
  others?: readonly string[] | undefined;
}): string {
  const { name, server, ca, cert, key, token, namespace, others } = connection;
  const base64 = (pem: string): string => Buffer.from(pem).toString("base64");
  const document = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [
      {
        name,
        cluster: {
          server,
          "certificate-authority-data": ca !== undefined ? base64(ca) : undefined,
          extensions: serverExtensions(others),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    users: [
      {
        name,
        user: {
          "client-certificate-data": cert !== undefined ? base64(cert) : undefined,
          "client-key-data": key !== undefined ? base64(key) : undefined,
          token,
        },
      },
    ],
    preferences: {},
  };
  return formatYaml(document);
}

/** kubectl ignores extensions that it does not know. */
const SERVERS_EXTENSION = "flotilla.dev/servers";

/** The extensions of a cluster in a kubeconfig that name more addresses of its server. */
export function serverExtensions(others: readonly string[] | undefined): JsonObject[] | undefined {
  if (others === undefined || others.length === 0) return undefined;
  return [{ name: SERVERS_EXTENSION, extension: { servers: [...others] } }];
}

/** More addresses of the server of a cluster. Throws `UsageError` for what is none. */
export function otherServersOf(source: string, cluster: JsonObject): string[] {
  const { extensions } = cluster;
  if (!Array.isArray(extensions)) return [];
  const found = extensions.find((each) => isObject(each) && each["name"] === SERVERS_EXTENSION);
  const extension = isObject(found) ? found["extension"] : undefined;
  const servers = isObject(extension) ? extension["servers"] : undefined;
  if (servers === undefined) return [];
  if (!Array.isArray(servers)) throw new UsageError(`${SERVERS_EXTENSION} of ${source} must have a list of servers`);
  return servers.map((server) => {
    if (typeof server === "string" && URL.canParse(server) && new URL(server).protocol === "https:") return server;
    throw new UsageError(
      `${SERVERS_EXTENSION} of ${source} names ${JSON.stringify(server)}, which is not an https:// URL`,
    );
  });
}

function parseYaml(text: string, source: string): unknown {
  try {
    return loadYaml(text, { dialect: "1.2" });
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new UsageError(
      `${source} is not valid YAML${error.line === undefined ? "" : ` near line ${error.line}`}; ${RECREATE_ADVICE}`,
    );
  }
}

function named(document: JsonObject, list: string, field: string, source: string): Map<string, JsonObject> {
  const entries = document[list] ?? [];
  if (!Array.isArray(entries)) throw new UsageError(`${list} of ${source} must be a list`);
  const result = new Map<string, JsonObject>();
  for (const entry of entries) {
    const name = isObject(entry) ? entry["name"] : undefined;
    if (!isObject(entry) || typeof name !== "string")
      throw new UsageError(`an entry of ${list} in ${source} has no name`);
    const value: Json = entry[field] ?? {};
    if (!isObject(value))
      throw new UsageError(`${list} ${name} of ${source} must have an object in the field ${field}`);
    // The first entry of a name wins, as in kubectl.
    if (!result.has(name)) result.set(name, value);
  }
  return result;
}

/** A non-empty string; an empty one counts as absent. */
export function stringAt(entry: JsonObject, field: string): string | undefined {
  const value = entry[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}
