/** The default data directory of a fleet, and the well-known files in it. */
import { join } from "node:path";
import { isObject } from "@flotilla/base";

export function defaultDataDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const home =
    environment["FLOTILLA_HOME"] ?? join(environment["HOME"] ?? environment["USERPROFILE"] ?? ".", ".flotilla");
  return home;
}

/** Names the snapshot that was saved last; its mtime is the time of that snapshot. */
export function lastSnapshotPath(data: string): string {
  return join(data, "last-snapshot");
}

/** The log of `flotilla up`; older lines are in `.1` and `.2`. */
export function logPath(data: string): string {
  return join(data, "flotilla.log");
}

export function kubeconfigPath(data: string, cluster: string): string {
  return join(data, `${cluster}.kubeconfig`);
}

/** How the hub of a data directory was last started. */
export interface LastStart {
  command: "up" | "apiserver";
  port: number;
}

export function lastStartPath(data: string): string {
  return join(data, "last-start.json");
}

/** Undefined if the file is damaged. */
export function parseLastStart(text: string): LastStart | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isObject(value) || typeof value["port"] !== "number") return undefined;
  return { command: value["command"] === "apiserver" ? "apiserver" : "up", port: value["port"] };
}

/** Of `flotilla up` and `flotilla apiserver`. */
const DEFAULT_PORT = 6443;

/** The command that starts the hub of a data directory again; `data` is unset for the default directory. */
export function startCommandOf(data: string | undefined, { command, port }: LastStart): string {
  return [
    `flotilla ${command}`,
    ...(data === undefined ? [] : [`--data ${data}`]),
    ...(port === DEFAULT_PORT ? [] : [`--port ${port}`]),
  ].join(" ");
}
