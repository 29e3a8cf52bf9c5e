/**
 * Kubeconfig files: which server, how to trust it, who we are.
 *
 * Parsing is pure; only `loadKubeconfig` and `connectionOf` read files. What we cannot do yet (exec plugins, auth providers, proxies,
 * user names with passwords, impersonation) is refused rather than ignored: a connection without them would be another
 * identity than the one that was asked for.
 */
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, resolve } from "node:path";
import { load } from "js-yaml";
import { UsageError, isObject, messageOf } from "../base/index.ts";
import type { Json, JsonObject } from "../base/index.ts";
import type { TlsOptions } from "./http-connection.ts";

export interface Kubeconfig {
  /** What messages call it: the path, or what the caller said. */
  readonly source: string;
  /** Relative file names are read from here. */
  readonly directory: string;
  readonly currentContext?: string;
  readonly contexts: ReadonlyMap<string, { cluster: string; user: string; namespace?: string }>;
  readonly clusters: ReadonlyMap<string, JsonObject>;
  readonly users: ReadonlyMap<string, JsonObject>;
}

/** What `createHttp2Transport` needs to reach the server. */
export interface KubeconfigConnection extends TlsOptions {
  server: URL;
  token?: string | (() => Promise<string>);
  /** The context's namespace. */
  namespace?: string;
}

/** Kubeconfigs hold certificates, not data. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Tokens in files are rotated by whoever mounts them, well before they expire. */
const TOKEN_FILE_TTL_MS = 60_000;
const REFUSED_USER_FIELDS = ["exec", "auth-provider", "username", "password", "as", "as-uid", "as-groups", "as-user-extra"];
const REFUSED_CLUSTER_FIELDS = ["proxy-url"];

export async function loadKubeconfig(path: string): Promise<Kubeconfig> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new UsageError(`reading the kubeconfig ${path}: check the path and its permissions`, { cause });
  });
  return parseKubeconfig(text, { source: path, directory: dirname(resolve(path)) });
}

export function parseKubeconfig(text: string, where: { source?: string; directory?: string } = {}): Kubeconfig {
  const { source = "the kubeconfig", directory = "." } = where;
  if (text.length > MAX_BYTES) throw new UsageError(`${source} is larger than ${MAX_BYTES} bytes; is it a kubeconfig?`);
  const document = parseYaml(text, source);
  if (!isObject(document)) throw new UsageError(`${source} is not a kubeconfig: it must be an object with clusters, contexts and users`);
  if (document["kind"] !== undefined && document["kind"] !== "Config") throw new UsageError(`${source} is not a kubeconfig: its kind is ${JSON.stringify(document["kind"])}, not Config`);
  const currentContext = document["current-context"];
  const contexts = named(document, "contexts", "context", source);
  return {
    source,
    directory,
    ...(typeof currentContext === "string" && currentContext !== "" && { currentContext }),
    contexts: new Map(
      [...contexts].map(([name, context]) => {
        const namespace = stringAt(context, "namespace");
        return [name, { cluster: stringAt(context, "cluster") ?? "", user: stringAt(context, "user") ?? "", ...(namespace && { namespace }) }];
      }),
    ),
    clusters: named(document, "clusters", "cluster", source),
    users: named(document, "users", "user", source),
  };
}

/** The connection that a context describes; the current one unless named. Reads the files that it refers to. */
export async function connectionOf(config: Kubeconfig, contextName: string | undefined = config.currentContext): Promise<KubeconfigConnection> {
  const { source } = config;
  if (contextName === undefined) throw new UsageError(`${source} names no current context; choose one of ${listOf(config.contexts)}`);
  const context = config.contexts.get(contextName);
  if (!context) throw new UsageError(`${source} has no context ${contextName}; it has ${listOf(config.contexts)}`);
  const cluster = config.clusters.get(context.cluster);
  if (!cluster) throw new UsageError(`context ${contextName} of ${source} refers to cluster "${context.cluster}", which is not there; it has ${listOf(config.clusters)}`);
  const user = context.user === "" ? {} : config.users.get(context.user);
  if (!user) throw new UsageError(`context ${contextName} of ${source} refers to user "${context.user}", which is not there; it has ${listOf(config.users)}`);
  refuse(source, `user ${context.user}`, user, REFUSED_USER_FIELDS);
  refuse(source, `cluster ${context.cluster}`, cluster, REFUSED_CLUSTER_FIELDS);

  const [ca, cert, key] = await Promise.all([
    material(config, cluster, "certificate-authority"),
    material(config, user, "client-certificate"),
    material(config, user, "client-key"),
  ]);
  if ((cert === undefined) !== (key === undefined)) throw new UsageError(`user ${context.user} of ${source} needs both a client certificate and its key, or neither`);
  const serverName = stringAt(cluster, "tls-server-name");
  const token = tokenOf(config, user);
  return {
    server: serverOf(source, context.cluster, cluster),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(token !== undefined && { token }),
    ...(cluster["insecure-skip-tls-verify"] === true && { insecure: true }),
    ...(serverName !== undefined && { serverName }),
    ...(context.namespace !== undefined && { namespace: context.namespace }),
  };
}

/** A kubeconfig with one context, as pretty JSON, which is YAML that no tool stumbles over. It holds secrets: write it with mode 0600. */
export function renderKubeconfig(connection: { name: string; server: string; ca?: string; cert?: string; key?: string; token?: string; namespace?: string }): string {
  const { name, server, ca, cert, key, token, namespace } = connection;
  const base64 = (pem: string): string => Buffer.from(pem).toString("base64");
  const document = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server, ...(ca !== undefined && { "certificate-authority-data": base64(ca) }) } }],
    contexts: [{ name, context: { cluster: name, user: name, ...(namespace !== undefined && { namespace }) } }],
    users: [
      {
        name,
        user: {
          ...(cert !== undefined && { "client-certificate-data": base64(cert) }),
          ...(key !== undefined && { "client-key-data": base64(key) }),
          ...(token !== undefined && { token }),
        },
      },
    ],
    preferences: {},
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function parseYaml(text: string, source: string): unknown {
  try {
    return load(text);
  } catch (error) {
    // The message of the parser quotes the text around the place, and that may be a key.
    const line = messageOf(error).match(/\((\d+):\d+\)/)?.[1];
    throw new UsageError(`${source} is not valid YAML${line === undefined ? "" : ` near line ${line}`}`);
  }
}

function named(document: JsonObject, list: string, field: string, source: string): Map<string, JsonObject> {
  const entries = document[list] ?? [];
  if (!Array.isArray(entries)) throw new UsageError(`${list} of ${source} must be a list`);
  const result = new Map<string, JsonObject>();
  for (const entry of entries) {
    const name = isObject(entry) ? entry["name"] : undefined;
    if (!isObject(entry) || typeof name !== "string") throw new UsageError(`an entry of ${list} in ${source} has no name`);
    const value: Json = entry[field] ?? {};
    if (!isObject(value)) throw new UsageError(`${list} ${name} of ${source} must have an object in its field ${field}`);
    // The first entry of a name wins, as in kubectl.
    if (!result.has(name)) result.set(name, value);
  }
  return result;
}

function serverOf(source: string, name: string, cluster: JsonObject): URL {
  const server = stringAt(cluster, "server");
  if (server === undefined) throw new UsageError(`cluster ${name} of ${source} has no server address`);
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) throw new UsageError(`cluster ${name} of ${source} has the server address ${JSON.stringify(server)}; it must be an https:// or http:// URL`);
  return url;
}

/** PEM from `<field>-data`, which is base64 and wins, or from the file that `<field>` names. */
async function material(config: Kubeconfig, entry: JsonObject, field: string): Promise<string | undefined> {
  const inline = stringAt(entry, `${field}-data`);
  if (inline !== undefined) return Buffer.from(inline, "base64").toString("utf8");
  const file = stringAt(entry, field);
  return file === undefined ? undefined : readReferenced(config, field, file);
}

function tokenOf(config: Kubeconfig, user: JsonObject): KubeconfigConnection["token"] {
  // A token file is preferred over a token, since it is the one that is kept fresh.
  const file = stringAt(user, "tokenFile");
  if (file === undefined) return stringAt(user, "token");
  let current: Promise<string> | undefined;
  let readAtMs = 0;
  return () => {
    const nowMs = performance.now();
    if (!current || nowMs - readAtMs > TOKEN_FILE_TTL_MS) {
      readAtMs = nowMs;
      current = readReferenced(config, "tokenFile", file).then((text) => text.trim());
      current.catch(() => (current = undefined));
    }
    return current;
  };
}

async function readReferenced(config: Kubeconfig, field: string, file: string): Promise<string> {
  const path = isAbsolute(file) ? file : resolve(config.directory, file);
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new UsageError(`${config.source} refers to ${path} as ${field}, which cannot be read; check the path and its permissions`, { cause });
  });
}

function refuse(source: string, what: string, entry: JsonObject, fields: readonly string[]): void {
  const field = fields.find((name) => entry[name] !== undefined && entry[name] !== null && entry[name] !== "");
  if (field !== undefined) throw new UsageError(`${what} of ${source} uses ${field}, which Flotilla does not support yet; use a client certificate or a token, and a direct address`);
}

function stringAt(entry: JsonObject, field: string): string | undefined {
  const value = entry[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function listOf(entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0 ? "none" : [...entries.keys()].join(", ");
}
