/**
 * A command takes data and writes text. Exit codes, colours and `process` belong to `cmd`, which also hands in what a
 * command may reach: an output, a signal, a way to start a fleet and a way to connect to one.
 */
import type { Clock } from "../base/index.ts";
import type { Client, UpgradeAnswer } from "../client/index.ts";
import type { Agents } from "./agent-options.ts";
import type { FleetStarter } from "./fleet.ts";
import type { Terminal } from "./members/terminal.ts";
import type { Output } from "./output.ts";

export interface Flag {
  /** A `number` may have a fraction, an `integer` not. */
  type: "string" | "integer" | "number" | "boolean";
  /** What stands for the value in the help: `--data DIR`. */
  value?: string;
  short?: string;
  description: string;
  default?: string | number;
  choices?: readonly string[];
  /** Words that a shell offers for the value, where others are taken too. */
  offers?: readonly string[];
  /**
   * What a shell offers for the value, where there are no words for it (default: files for a `FILE`, folders for a
   * `DIR`).
   */
  completes?: Completes;
  /** May be given several times, for texts only; the value is then the list of them. */
  repeated?: true;
  minimum?: number;
  maximum?: number;
}

export interface Argument {
  name: string;
  description: string;
  required: boolean;
  /** Words that it may be, for shells to offer; the command itself says what else it takes. */
  choices?: readonly string[];
  /** What a shell offers for it, where there are no choices. */
  completes?: Completes;
  /** The last argument may stand for any number of them. */
  repeated?: true;
}

/**
 * What a shell offers for a word while it is typed. The hub is asked for namespaces, members (`cluster`; `clusters` is
 * a list with commas), types as kubectl names them, and names of objects of the type that came before; `resource` is a
 * type, or type and name with a slash between. A `pod` is one on a member, or a `resource`. A `context` is one of the
 * kubeconfig that `--cluster-kubeconfig` names.
 */
export type Completes =
  | "file"
  | "directory"
  | "namespace"
  | "cluster"
  | "clusters"
  | "type"
  | "name"
  | "resource"
  | "pod"
  | "context";

/** A command line that somebody would type, and one sentence that says what for. */
export interface Example {
  says: string;
  run: string;
}

export type FlagValues<F extends Record<string, Flag>> = {
  [K in keyof F]: F[K] extends { repeated: true }
    ? readonly string[]
    : F[K]["type"] extends "boolean"
      ? boolean
      :
          | (F[K]["type"] extends "integer" | "number" ? number : string)
          | (F[K] extends { default: string | number } ? never : undefined);
};

export interface CommandContext<F extends Record<string, Flag>> {
  args: readonly string[];
  flags: FlagValues<F>;
  output: Output;
  /** Aborted by Ctrl-C and SIGTERM: finish what must be finished and return. */
  signal: AbortSignal;
  clock: Clock;
  startFleet: FleetStarter;
  /** A client of the hub that a kubeconfig names. */
  connect(kubeconfig: string): Promise<HubConnection>;
  /** A client of one cluster that is to be called `name`, and how a kubeconfig says to reach it. */
  connectCluster(kubeconfig: string, context: string | undefined, name: string): Promise<ClusterConnection>;
  /** A hub of this process with nothing in it, which says what a hub would say. */
  openOfflineHub(): Promise<OfflineHub>;
  snapshots: Snapshots;
  agents: Agents;
  environment: Readonly<Record<string, string | undefined>>;
  readFile(path: string): Promise<string>;
  /** Whole or not at all, and for nobody else to read: these files hold credentials. */
  writeFile(path: string, text: string): Promise<void>;
  /** What comes in on standard input, to its end. */
  readInput(): Promise<string>;
  terminal: Terminal;
}

export interface HubConnection {
  client: Client;
  server: string;
  /** The namespace of the kubeconfig's context, where it names one. */
  namespace?: string;
  /**
   * A connection of its own that turns into a WebSocket; `headers` ask for that. Path and query are below the hub's
   * address.
   */
  upgrade(
    request: { method: string; path: string; headers: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<UpgradeAnswer>;
  close(): Promise<void>;
}

export interface OfflineHub {
  client: Client;
  close(): Promise<void>;
}

export interface ClusterConnection {
  client: Client;
  /** Without a slash at its end. */
  server: string;
  /** PEM; empty trusts the system's authorities. */
  ca: string;
  insecure: boolean;
  /** The name that its certificate carries, when that is not the host of its address. */
  serverName?: string;
  proxyUrl?: string;
  close(): Promise<void>;
}

/** Both answer what the snapshot holds. */
export interface Snapshots {
  save(data: string, file: string): Promise<SnapshotSummary>;
  restore(data: string, file: string): Promise<SnapshotSummary>;
}
export interface SnapshotSummary {
  revision: number;
  objects: number;
  files: number;
}

export interface Command<F extends Record<string, Flag> = Record<string, Flag>> {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** What the summary has no room for and a newcomer should know: a few sentences, wrapped when they are printed. */
  details?: string;
  example: readonly Example[];
  args: readonly Argument[];
  flags: F;
  /** The exit code of a failure; unset is 1. For a command that says something else with 1, as `kubectl diff` does. */
  failureCode?: number;
  /** Goes on when nobody reads its output any more: it serves others. */
  serves?: true;
  /**
   * Resolves with the exit code where it is not 0. Throws an error whose message says what was being done and what to
   * try; `UsageError` for wrong usage.
   */
  run(context: CommandContext<F>): Promise<number | void>;
}

export function defineCommand<F extends Record<string, Flag>>(command: Command<F>): Command {
  return command;
}
