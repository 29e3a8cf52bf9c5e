/**
 * The backend of subresources that connect to the containers of a cluster. A profile or the simulation provides it; a
 * cluster without one responds like an API server whose kubelets cannot be reached.
 */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { ConnectResponse } from "@flotilla/apimachinery";

export interface ConnectBackend {
  /** The container runtime of a cluster; undefined when it has none. */
  runtimeOf(cluster: string): ContainerRuntime | undefined;
}

/** Every member is optional; an absent one is reported as unreachable. */
export interface ContainerRuntime {
  /** False when pods run on nodes that the cluster does not know. */
  hasNodes?: boolean;
  /** Undefined for a container that it does not run. */
  logs?(container: ContainerTarget, options: { previous: boolean }): ContainerLog | undefined;
  /** The response to a request for a log, for a runtime that evaluates its options itself. */
  logResponse?(container: ContainerTarget, options: LogOptions, signal: AbortSignal): Promise<ConnectResponse>;
  /** Runs a command until it exits or the client disconnects. */
  exec?(
    container: ContainerTarget,
    options: ExecOptions,
    streams: ContainerStreams,
    signal: AbortSignal,
  ): Promise<{ exitCode: number }>;
  attach?(
    container: ContainerTarget,
    options: Omit<ExecOptions, "command">,
    streams: ContainerStreams,
    signal: AbortSignal,
  ): Promise<{ exitCode: number }>;
  /** A connection to a port of a pod, until either side ends it. Rejects with the reason when nothing listens there. */
  forward?(
    pod: Omit<ContainerTarget, "container">,
    port: number,
    connection: PortConnection,
    signal: AbortSignal,
  ): Promise<void>;
  /** An HTTP request to a pod, a service or a node; undefined for what cannot be reached. */
  proxy?(target: ProxyTarget, request: ProxyRequest, signal: AbortSignal): Promise<ConnectResponse | undefined>;
}

export interface ContainerTarget {
  cluster: string;
  namespace: string;
  pod: DeepReadonly<JsonObject>;
  container: string;
}

export interface LogOptions {
  container: string;
  follow: boolean;
  previous: boolean;
  timestamps: boolean;
  /** Lines from this time on. */
  sinceMs: number | undefined;
  tailLines: number | undefined;
  limitBytes: number | undefined;
}

export interface LogLine {
  timeMs: number;
  /** Without the line feed. */
  text: string;
}

export interface ContainerLog {
  /** The lines written so far, oldest first. */
  readonly lines: Iterable<LogLine>;
  /** The lines written from now on, until the container ends or the signal is aborted. */
  follow(signal: AbortSignal): AsyncIterable<LogLine>;
}

export interface ExecOptions {
  command: readonly string[];
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** The server's ends of the streams. Streams that were not requested are silent. */
export interface ContainerStreams {
  /** Ends when the client closes its input. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Resolve when there is room for more. */
  stdout(chunk: Uint8Array): Promise<void>;
  stderr(chunk: Uint8Array): Promise<void>;
  /** Calls the listener with the size of the client's terminal, initially and whenever it changes. */
  onResize(listener: (size: { width: number; height: number }) => void): void;
}

export interface PortConnection {
  /** Ends when the client sends no more. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Resolves when there is room for more. */
  output(chunk: Uint8Array): Promise<void>;
}

export interface ProxyTarget {
  cluster: string;
  resource: "pods" | "services" | "nodes";
  namespace?: string;
  name: string;
  scheme: string;
  /** A number or a name; empty when the request specified none. */
  port: string;
}

export interface ProxyRequest {
  method: string;
  /** With its leading slash, percent-encoded. */
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
  /** The protocol to which the client wants to upgrade. */
  upgrade?: string | undefined;
}
