/**
 * Resolves a context of a kubeconfig: the server, its CA, the proxy, and the credentials.
 *
 * Reads the files that the kubeconfig refers to. Unsupported settings (auth providers, user names with passwords) are
 * rejected rather than ignored: a connection without them would use another identity than the requested one.
 */
import { readFile } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { isatty } from "node:tty";
import { UsageError, isObject, systemClock } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import { createFileCredentials } from "./credentials.ts";
import type { Credentials, CredentialSource } from "./credentials.ts";
import { createExecCredentials } from "./exec-plugin.ts";
import type { TlsOptions } from "./http-sockets.ts";
import type { Impersonation } from "./impersonation.ts";
import { readExecPlugin } from "./kubeconfig-exec.ts";
import { otherServersOf, stringAt, RECREATE_ADVICE } from "./kubeconfig.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import { parseProxyUrl, proxyFromEnvironment } from "./proxy-settings.ts";
import type { Environment } from "./proxy-settings.ts";

/** Options of `createHttp2Transport` for reaching the server. */
export interface KubeconfigConnection extends TlsOptions {
  server: URL;
  /** More addresses of the same server; each is tried when another one cannot be reached. */
  others?: readonly URL[];
  token?: string | (() => Promise<string>);
  /** Set when token or certificate come from files or a plugin, and so may change. */
  credentials?: CredentialSource;
  impersonate?: Impersonation;
  proxy?: URL;
  /** The context's namespace. */
  namespace?: string;
}

/** Unset fields default to this process's. */
export interface ConnectionEnvironment {
  environment?: Environment;
  /** A user is at the terminal, whom a credential plugin may prompt. */
  isTerminal?: boolean;
  clock?: Clock;
  /**
   * The kubeconfig comes from another party, and must neither run programs on this machine nor have its files sent
   * anywhere.
   */
  isForeign?: boolean;
}

/** The fields that name a file or a program. */
const LOCAL_FIELDS = ["certificate-authority", "client-certificate", "client-key", "tokenFile", "exec"];
const REFUSED_USER_FIELDS: Readonly<Record<string, string>> = {
  "auth-provider": "use the credential plugin that replaced it (exec), a client certificate or a token",
  username: "servers no longer accept passwords; use a client certificate, a token or a credential plugin",
  password: "servers no longer accept passwords; use a client certificate, a token or a credential plugin",
};

/**
 * The connection that a context describes; defaults to the current context. A plugin runs when its credentials are
 * first needed.
 */
export async function connectionOf(
  config: Kubeconfig,
  contextName: string | undefined = config.currentContext,
  connectionEnvironment: ConnectionEnvironment = {},
): Promise<KubeconfigConnection> {
  const { source } = config;
  const { environment = process.env } = connectionEnvironment;
  if (config.contexts.size === 0)
    throw new UsageError(`${source} has no contexts, so the cluster is not known; ${RECREATE_ADVICE}`);
  if (contextName === undefined)
    throw new UsageError(
      `${source} has no current context; choose one of ${listOf(config.contexts)} with 'kubectl config use-context NAME --kubeconfig FILE'`,
    );
  const context = config.contexts.get(contextName);
  if (!context) throw new UsageError(`${source} has no context ${contextName}; it has ${listOf(config.contexts)}`);
  const cluster = config.clusters.get(context.cluster);
  if (!cluster)
    throw new UsageError(
      `context ${contextName} of ${source} refers to cluster "${context.cluster}", which does not exist; it has ${listOf(config.clusters)}`,
    );
  const user = context.user === "" ? {} : config.users.get(context.user);
  if (!user)
    throw new UsageError(
      `context ${contextName} of ${source} refers to user "${context.user}", which does not exist; it has ${listOf(config.users)}`,
    );
  const what = `user ${context.user} of ${source}`;
  for (const [field, advice] of Object.entries(REFUSED_USER_FIELDS))
    if (isSet(user[field])) throw new UsageError(`${what} uses ${field}, which Flotilla does not support; ${advice}`);

  if (connectionEnvironment.isForeign) {
    const field = LOCAL_FIELDS.find((name) => isSet(user[name]) || isSet(cluster[name]));
    if (field !== undefined)
      throw new UsageError(
        `context ${contextName} of ${source} uses ${field}, which refers to the machine it was created on; ` +
          "embed the data, as 'kubectl config view --flatten' does",
      );
  }
  const server = serverOf(source, context.cluster, cluster);
  const others = otherServersOf(source, cluster).map((address) => new URL(address));
  const ca = await material(config, cluster, "certificate-authority");
  const serverName = stringAt(cluster, "tls-server-name");
  const insecure = cluster["insecure-skip-tls-verify"] === true;
  const proxyText = stringAt(cluster, "proxy-url");
  const proxy =
    proxyText === undefined
      ? proxyFromEnvironment(server, environment)
      : parseProxyUrl(proxyText, `proxy-url of cluster ${context.cluster} in ${source}`);
  const impersonate = impersonationOf(what, user);
  return {
    server,
    others: others.length > 0 ? others : undefined,
    ca,
    insecure: insecure || undefined,
    serverName,
    proxy,
    ...(await identityOf(config, what, user, { server, cluster, ca }, connectionEnvironment)),
    impersonate,
    namespace: context.namespace,
  };
}

/** The credentials: inline in the kubeconfig, in its files, or from a plugin when it has neither. */
async function identityOf(
  config: Kubeconfig,
  what: string,
  user: JsonObject,
  of: { server: URL; cluster: JsonObject; ca: string | undefined },
  connectionEnvironment: ConnectionEnvironment,
): Promise<Pick<KubeconfigConnection, "cert" | "key" | "token" | "credentials">> {
  const { clock = systemClock } = connectionEnvironment;
  const read = async (): Promise<Credentials> => {
    const [cert, key, fileToken] = await Promise.all([
      material(config, user, "client-certificate"),
      material(config, user, "client-key"),
      tokenInFile(config, user),
    ]);
    // A token file takes precedence over a token, since the file is rotated.
    const token = fileToken ?? stringAt(user, "token");
    return { cert, key, token };
  };
  const hasTokenFile = stringAt(user, "tokenFile") !== undefined;
  // A token file may appear after start; certificates are needed for the first connection.
  const [cert, key] = await Promise.all([
    material(config, user, "client-certificate"),
    material(config, user, "client-key"),
  ]);
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError(`${what} needs both a client certificate and its key, or neither`);
  const pair = cert !== undefined && key !== undefined ? { cert, key } : {};
  if (hasTokenFile || isFile(user, "client-certificate") || isFile(user, "client-key")) {
    const credentials = createFileCredentials({ read, clock });
    const inline = stringAt(user, "token");
    const token = hasTokenFile ? async (): Promise<string> => (await credentials.current()).token ?? "" : inline;
    return { ...pair, token, credentials };
  }
  const token = stringAt(user, "token");
  if (cert !== undefined || token !== undefined || !isSet(user["exec"])) return { ...pair, token };
  const plugin = readExecPlugin(user["exec"], { what, directory: config.directory, ...of });
  return {
    credentials: createExecCredentials({
      plugin,
      clock,
      environment: connectionEnvironment.environment ?? process.env,
      isTerminal: connectionEnvironment.isTerminal ?? isatty(0),
    }),
  };
}

function impersonationOf(what: string, user: JsonObject): Impersonation | undefined {
  const name = stringAt(user, "as");
  const uid = stringAt(user, "as-uid");
  const groups = isSet(user["as-groups"]) ? textsIn(user["as-groups"], `as-groups of ${what}`) : [];
  const extra = new Map<string, string[]>();
  if (isSet(user["as-user-extra"])) {
    if (!isObject(user["as-user-extra"]))
      throw new UsageError(`as-user-extra of ${what} must have a list of strings for each of its keys`);
    for (const [key, values] of Object.entries(user["as-user-extra"]))
      extra.set(key, textsIn(values, `as-user-extra ${key} of ${what}`));
  }
  if (name === undefined) {
    if (uid !== undefined || groups.length > 0 || extra.size > 0)
      throw new UsageError(`${what} sets an impersonation uid, groups or extra without a user; set as`);
    return undefined;
  }
  return {
    user: name,
    uid,
    groups: groups.length > 0 ? groups : undefined,
    extra: extra.size > 0 ? Object.fromEntries(extra) : undefined,
  };
}

function textsIn(value: unknown, where: string): string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw new UsageError(`${where} must be a list of strings`);
}

function serverOf(source: string, name: string, cluster: JsonObject): URL {
  const server = stringAt(cluster, "server");
  if (server === undefined) throw new UsageError(`cluster ${name} of ${source} has no server URL`);
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new UsageError(
      `cluster ${name} of ${source} has the server URL ${JSON.stringify(server)}; it must be an https:// or http:// URL`,
    );
  return url;
}

/** PEM from `<field>-data`, which is base64 and takes precedence, or from the file that `<field>` names. */
async function material(config: Kubeconfig, entry: JsonObject, field: string): Promise<string | undefined> {
  const inline = stringAt(entry, `${field}-data`);
  if (inline !== undefined) return Buffer.from(inline, "base64").toString("utf8");
  const file = stringAt(entry, field);
  return file === undefined ? undefined : readReferenced(config, field, file);
}

function isFile(entry: JsonObject, field: string): boolean {
  return stringAt(entry, `${field}-data`) === undefined && stringAt(entry, field) !== undefined;
}

async function tokenInFile(config: Kubeconfig, user: JsonObject): Promise<string | undefined> {
  const file = stringAt(user, "tokenFile");
  return file === undefined ? undefined : (await readReferenced(config, "tokenFile", file)).trim();
}

async function readReferenced(config: Kubeconfig, field: string, file: string): Promise<string> {
  const path = isAbsolute(file) ? file : resolve(config.directory, file);
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new UsageError(
      `${config.source} refers to ${path} in ${field}, which cannot be read; check the path and its permissions`,
      { cause },
    );
  });
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function listOf(entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0 ? "none" : [...entries.keys()].join(", ");
}
