/** Parses and validates the credential plugin of a kubeconfig user before anything runs. Pure. */
import { isAbsolute, resolve } from "node:path";
import { UsageError, isObject, defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { ExecPlugin } from "./exec-plugin.ts";
import { stringAt } from "./kubeconfig.ts";

const GROUP = "client.authentication.k8s.io";
/** The cluster extension that is passed to plugins. */
const EXTENSION = `${GROUP}/exec`;

export interface ExecPluginContext {
  /** The plugin's owner, for messages. */
  what: string;
  /** Base directory of commands that are relative paths. */
  directory: string;
  server: URL;
  cluster: JsonObject;
  /** PEM. */
  ca: string | undefined;
}

export function readExecPlugin(exec: Json | undefined, context: ExecPluginContext): ExecPlugin {
  const { what, directory } = context;
  if (!isObject(exec)) throw new UsageError(`exec of ${what} must be an object with a command`);
  const command = stringAt(exec, "command");
  if (command === undefined) throw new UsageError(`exec of ${what} has no command`);
  const apiVersion = stringAt(exec, "apiVersion");
  if (apiVersion !== `${GROUP}/v1` && apiVersion !== `${GROUP}/v1beta1`) {
    throw new UsageError(
      `exec of ${what} has the apiVersion ${JSON.stringify(apiVersion ?? "")}; it must be ${GROUP}/v1 or ${GROUP}/v1beta1, whichever the plugin uses`,
    );
  }
  return {
    apiVersion,
    // A name without a slash is looked up in PATH.
    command: /[\\/]/.test(command) && !isAbsolute(command) ? resolve(directory, command) : command,
    args: argsOf(exec, what),
    env: envOf(exec, what),
    installHint: stringAt(exec, "installHint") ?? "",
    interactiveMode: interactiveModeOf(exec, apiVersion, what),
    cluster: exec["provideClusterInfo"] === true ? clusterInfo(context) : undefined,
  };
}

function argsOf(exec: JsonObject, what: string): string[] {
  const args = exec["args"] ?? [];
  // Arguments cannot contain a null character, and the spawn error would quote the argument.
  if (Array.isArray(args) && args.every((arg) => typeof arg === "string") && !args.some((arg) => arg.includes("\0")))
    return args;
  throw new UsageError(`args of exec of ${what} must be a list of strings without null characters`);
}

function envOf(exec: JsonObject, what: string): Record<string, string> {
  const entries = exec["env"] ?? [];
  if (!Array.isArray(entries)) throw new UsageError(`env of exec of ${what} must be a list`);
  return Object.fromEntries(
    entries.map((entry) => {
      const name = isObject(entry) ? stringAt(entry, "name") : undefined;
      if (!isObject(entry) || name === undefined)
        throw new UsageError(`an entry of env of exec of ${what} has no name`);
      return [name, typeof entry["value"] === "string" ? entry["value"] : ""];
    }),
  );
}

function interactiveModeOf(exec: JsonObject, apiVersion: string, what: string): ExecPlugin["interactiveMode"] {
  // v1beta1 had no such field, and its plugins may prompt.
  const mode = stringAt(exec, "interactiveMode") ?? (apiVersion.endsWith("/v1beta1") ? "IfAvailable" : undefined);
  if (mode === "Never" || mode === "IfAvailable" || mode === "Always") return mode;
  throw new UsageError(
    `exec of ${what} has ${mode === undefined ? "no interactiveMode" : `the interactiveMode ${JSON.stringify(mode)}`}; it must be Never, IfAvailable or Always`,
  );
}

function clusterInfo({ server, cluster, ca }: ExecPluginContext): JsonObject {
  const serverName = stringAt(cluster, "tls-server-name");
  const proxyUrl = stringAt(cluster, "proxy-url");
  const extensions = Array.isArray(cluster["extensions"]) ? cluster["extensions"] : [];
  const own = extensions.find((entry) => isObject(entry) && entry["name"] === EXTENSION);
  const config = isObject(own) ? own["extension"] : undefined;
  return {
    server: stringAt(cluster, "server") ?? server.href,
    ...defined({
      "tls-server-name": serverName,
      "insecure-skip-tls-verify": cluster["insecure-skip-tls-verify"] === true ? true : undefined,
      "certificate-authority-data": ca === undefined ? undefined : Buffer.from(ca).toString("base64"),
      "proxy-url": proxyUrl,
      "disable-compression": cluster["disable-compression"] === true ? true : undefined,
    }),
    config: config ?? null,
  };
}
