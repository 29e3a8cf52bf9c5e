/**
 * What stands behind the subresources that lead into a cluster: whoever runs its containers, or pretends to. A profile
 * or the simulation provides it; a cluster without one answers as a server does whose kubelets cannot be reached.
 */
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import type { ConnectResponse } from "../../api/index.ts";

export interface ConnectBackend {
  /** What runs the containers of a cluster; undefined when nothing does. */
  runtimeOf(cluster: string): ContainerRuntime | undefined;
}

/** Every part is optional: what is absent cannot be reached. */
export interface ContainerRuntime {
  /** False where pods run on no node that the cluster would know. */
  hasNodes?: boolean;
  /** Undefined for a container that it does not run. */
  logs?(container: ContainerTarget, options: { previous: boolean }): ContainerLog | undefined;
  /** Runs a command until it ends, or until the peer is gone. */
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
  /** An HTTP request to a pod, a service or a node. */
  proxy?(target: ProxyTarget, request: ProxyRequest, signal: AbortSignal): Promise<ConnectResponse>;
}

export interface ContainerTarget {
  cluster: string;
  namespace: string;
  pod: DeepReadonly<JsonObject>;
  container: string;
}

export interface LogLine {
  timeMs: number;
  /** Without the line feed. */
  text: string;
}

export interface ContainerLog {
  /** What was written so far, oldest first. */
  readonly lines: Iterable<LogLine>;
  /** What is written from then on, until the container ends or the signal is aborted. */
  follow(signal: AbortSignal): AsyncIterable<LogLine>;
}

export interface ExecOptions {
  command: readonly string[];
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** The ends of the streams that the server holds. Those that were not asked for are silent. */
export interface ContainerStreams {
  /** Ends when the peer has no more to say. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Resolve when there is room for more. */
  stdout(chunk: Uint8Array): Promise<void>;
  stderr(chunk: Uint8Array): Promise<void>;
  /** Told the size of the peer's terminal, at first and whenever it changes. */
  onResize(listener: (size: { width: number; height: number }) => void): void;
}

export interface ProxyTarget {
  cluster: string;
  resource: "pods" | "services" | "nodes";
  namespace?: string;
  name: string;
  scheme: string;
  /** A number or a name; empty when the request named none. */
  port: string;
}

export interface ProxyRequest {
  method: string;
  /** With its leading slash. */
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
}
