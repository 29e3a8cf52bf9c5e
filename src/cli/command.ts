/**
 * A command takes data and writes text. Exit codes, colours and `process` belong to `cmd`, which also hands in what a
 * command may reach: an output, a signal, a way to start a fleet and a way to connect to one.
 */
import type { Clock } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import type { Agents } from "./agent-options.ts";
import type { FleetStarter } from "./fleet.ts";
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
  /** May be given several times, for texts only; the value is then the list of them. */
  repeated?: true;
  minimum?: number;
  maximum?: number;
}

export interface Argument {
  name: string;
  description: string;
  required: boolean;
  /** The last argument may stand for any number of them. */
  repeated?: true;
}

export type FlagValues<F extends Record<string, Flag>> = {
  [K in keyof F]: F[K] extends { repeated: true } ? readonly string[] : F[K]["type"] extends "boolean" ? boolean : (F[K]["type"] extends "integer" | "number" ? number : string) | (F[K] extends { default: string | number } ? never : undefined);
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
  connect(kubeconfig: string): Promise<{ client: Client; server: string; close(): Promise<void> }>;
  /** A client of one cluster that is to be called `name`, and how a kubeconfig says to reach it. */
  connectCluster(kubeconfig: string, context: string | undefined, name: string): Promise<ClusterConnection>;
  snapshots: Snapshots;
  agents: Agents;
  environment: Readonly<Record<string, string | undefined>>;
  readFile(path: string): Promise<string>;
  /** Whole or not at all, and for nobody else to read: these files hold credentials. */
  writeFile(path: string, text: string): Promise<void>;
  /** What comes in on standard input, to its end. */
  readInput(): Promise<string>;
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
  example: readonly string[];
  args: readonly Argument[];
  flags: F;
  /** The exit code of a failure; unset is 1. For a command that says something else with 1, as `kubectl diff` does. */
  failureCode?: number;
  /** Resolves with the exit code where it is not 0. Throws an error whose message says what was being done and what to try; `UsageError` for wrong usage. */
  run(context: CommandContext<F>): Promise<number | void>;
}

export function defineCommand<F extends Record<string, Flag>>(command: Command<F>): Command {
  return command;
}
