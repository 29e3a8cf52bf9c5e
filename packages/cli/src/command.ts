/**
 * A command takes data and writes text. Exit codes, colours and `process` belong to `cmd`, which also passes in what a
 * command may use: an output, a signal, and functions that start a fleet or connect to one.
 */
import type { Clock } from "@flotilla/base";
import type { Client, Impersonation, UpgradeResponse as UpgradeAnswer } from "@flotilla/client";
import type { Agents } from "./agent-options.ts";
import type { FleetStarter, Roles, StoreOptions } from "./fleet-starter.ts";
import type { Terminal } from "./terminal.ts";
import type { Output } from "./output.ts";

export interface Flag {
  /** A `number` may have a fraction, an `integer` may not. */
  type: "string" | "integer" | "number" | "boolean";
  /** The name of the value in the help: `DIR` of `--data DIR`. */
  value?: string;
  short?: string;
  description: string;
  default?: string | number;
  choices?: readonly string[];
  /** Words that shell completion offers for the value; other values are accepted too. */
  offers?: readonly string[];
  /**
   * What shell completion offers for the value if there is no word list (default: files for a `FILE`, folders for a
   * `DIR`).
   */
  completes?: Completes;
  /** May be repeated, for strings only; the value is then the list of them. */
  repeated?: true;
  minimum?: number;
  maximum?: number;
}

export interface Argument {
  name: string;
  description: string;
  required: boolean;
  /** Words that shell completion offers; the command itself validates the value. */
  choices?: readonly string[];
  /** What shell completion offers if there are no choices. */
  completes?: Completes;
  /** The last argument may be repeated. */
  repeated?: true;
}

/**
 * What shell completion offers for a word. The hub is queried for namespaces, members (`cluster`; `clusters` is a
 * comma-separated list), types as kubectl names them, and names of objects of the preceding type; `resource` is a type,
 * or TYPE/NAME. A `pod` is a pod on a member, or a `resource`. A `context` is one of the kubeconfig that
 * `--cluster-kubeconfig` names, a `hub-context` one of the hub's.
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
  | "context"
  | "hub-context";

/** A command line, and one sentence that states its purpose. */
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
  /** Aborted by Ctrl-C and SIGTERM: clean up and return. */
  signal: AbortSignal;
  clock: Clock;
  startFleet: FleetStarter;
  roles: Roles;
  /** Serves the web UI of the hub of a kubeconfig on loopback. Port 0 takes a free one. */
  startConsole(access: KubeconfigAccess, port: number): Promise<ServedConsole>;
  /** Resolves with false when no browser could be started. */
  openBrowser(address: string): Promise<boolean>;
  /** A client for the hub of a kubeconfig. */
  connect(access: KubeconfigAccess): Promise<HubConnection>;
  /** A client for a cluster that will be named `name`, and how to reach it according to the kubeconfig. */
  connectCluster(access: KubeconfigAccess, name: string): Promise<ClusterConnection>;
  /** An empty in-process hub that gives the answers a real hub would give. */
  openOfflineHub(): Promise<OfflineHub>;
  snapshots: Snapshots;
  keys: HubKeyFiles;
  stores: Stores;
  standbys: Standbys;
  agents: Agents;
  environment: Readonly<Record<string, string | undefined>>;
  readFile(path: string): Promise<string>;
  /** Atomic, and readable only by the user: these files hold credentials. */
  writeFile(path: string, text: string): Promise<void>;
  /** Reads standard input to its end. */
  readInput(): Promise<string>;
  terminal: Terminal;
}

/** A web UI that is being served. */
interface ServedConsole {
  /** A new address that signs in once, within a minute. */
  link(): string;
  close(): Promise<void>;
}

/** Which server, and as whom. */
export interface KubeconfigAccess {
  /** Instead of kubeconfigs: the API server of the cluster that this process is a pod of. */
  isInCluster?: boolean;
  /** Several are read as one: the first that defines a name wins. */
  kubeconfigs: readonly string[];
  /** Unset means the current context. */
  context?: string;
  /** Instead of the user that the kubeconfig impersonates, if any. */
  impersonate?: Impersonation;
  /** From 6 on, each request is printed on standard error. */
  verbosity?: number;
}

export interface HubConnection {
  client: Client;
  server: string;
  /** The namespace of the kubeconfig's context, if set. */
  namespace?: string;
  /**
   * A dedicated connection that is upgraded to a WebSocket; `headers` request the upgrade. Path and query are relative
   * to the hub's address.
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
  /** Without a trailing slash. */
  server: string;
  /** More addresses of it. */
  others?: readonly string[] | undefined;
  /** PEM; if empty, the system's CAs are trusted. */
  ca: string;
  insecure: boolean;
  /** The server name in its certificate, if it differs from the host of its address. */
  serverName?: string;
  proxyUrl?: string;
  close(): Promise<void>;
}

/** Where a snapshot is taken from or restored to. */
interface SnapshotPlace {
  /** Has the keys and, unless `store` is set, the objects. */
  data: string;
  /** The etcd that has the objects. */
  store?: StoreOptions | undefined;
  /** Called with the number of copied objects, where that takes long. */
  onProgress?(objects: number): void;
}

/** Both return what the snapshot contains. */
export interface Snapshots {
  save(place: SnapshotPlace, file: string): Promise<SnapshotSummary>;
  restore(place: SnapshotPlace, file: string): Promise<SnapshotSummary>;
}
/** `prepare` adds keys that are accepted, `activate` makes them sign, `retire` removes the others. */
export type KeyStep = "prepare" | "activate" | "retire";

/** The keys that all API servers of a hub share, in a folder. Results have no secrets. */
export interface HubKeyFiles {
  show(directory: string): Promise<HubKeySummary[]>;
  /** Of a new hub, in a folder that has none. */
  create(directory: string): Promise<HubKeySummary[]>;
  rotate(directory: string, step: KeyStep): Promise<HubKeySummary[]>;
  /** A kubeconfig with a new certificate, valid for a year. */
  kubeconfig(directory: string, server: string, user: "admin" | "controllers"): Promise<string>;
}
export interface HubKeySummary {
  purpose: string;
  /** Fingerprints. */
  signs: string;
  accepts: readonly string[];
}
/** A hub that follows another one, as its files say. */
export interface StandbyState {
  state: "following" | "promoting" | "promoted";
  /** The address of the hub that it follows. */
  server: string;
  /** Of the copy. */
  revision: number;
  objects: number;
  /** Whether the copy can be promoted. */
  isComplete: boolean;
  /** Of the hub that it follows; after the promotion its own. */
  term: number;
  /** When the other hub was last heard; empty for never. */
  seenAt: string;
  /** Why it does not follow now. */
  problem?: string | undefined;
  /** Why a promotion was refused. */
  answer?: { id: string; problem: string } | undefined;
  /** Promoted: whether the former hub is ended for certain. */
  isFenced?: boolean;
  /** Promoted, and it accepts requests. */
  isServing?: boolean;
}

export interface Standbys {
  /** Undefined if the directory is not of a standby. */
  read(data: string): Promise<StandbyState | undefined>;
  /** Asks the process of the standby to take over. */
  request(data: string, request: { id: string; force: boolean }): Promise<void>;
}

/** The store of a data directory whose process is stopped. `from` is a snapshot with copies of damaged objects. */
export interface Stores {
  /** Read-only. `onProgress` is called with the number of rows that were read. */
  check(data: string, from: string | undefined, onProgress: (rows: number) => void): Promise<StoreReport>;
  /** Objects without an intact copy are removed. Returns where the damaged file is kept, if there was one. */
  repair(
    data: string,
    from: string | undefined,
    onProgress: (rows: number) => void,
  ): Promise<{ objects: number; keptAs: string | undefined }>;
}
export interface StoreReport {
  /** Intact objects. */
  objects: number;
  /** Verified values, with those of the history. */
  rows: number;
  revision: number;
  hasChecksums: boolean;
  structure: readonly string[];
  damaged: readonly {
    object: string;
    problem: string;
    from: "log" | "history" | "snapshot" | "nothing";
    revision: number;
  }[];
  damagedHistory: number;
  unknownObjects: number;
  lostUpTo?: number | undefined;
}
interface SnapshotSummary {
  revision: number;
  objects: number;
  files: number;
}

export interface Command<F extends Record<string, Flag> = Record<string, Flag>> {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** What a new user should know and the summary has no room for: a few sentences, wrapped when printed. */
  details?: string;
  example: readonly Example[];
  args: readonly Argument[];
  flags: F;
  /** The exit code of a failure; default 1. For commands that use 1 for something else, as `kubectl diff` does. */
  failureCode?: number;
  /** Passes its arguments to another program: none of them is parsed, except a single `--help`. */
  isVerbatim?: true;
  /** Prints a text for another program, such as a script: it has no `--output`. */
  hasOneFormat?: true;
  /** Keeps running when its output is closed, because it serves other clients. */
  serves?: true;
  /**
   * Resolves with the exit code if it is not 0. Throws an error whose message states what failed and what to try;
   * `UsageError` for wrong usage.
   */
  run(context: CommandContext<F>): Promise<number | void>;
}

export function defineCommand<F extends Record<string, Flag>>(command: Command<F>): Command {
  return command;
}

/** The overview lists the commands in these groups, in this order. */
export const SECTIONS = ["Getting started", "Viewing", "Applying changes", "Membership", "Operating"] as const;
type Section = (typeof SECTIONS)[number];

export interface CommandEntry {
  name: string;
  section: Section;
  summary: string;
  load(): Promise<Command>;
}
