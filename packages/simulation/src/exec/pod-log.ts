/** The log of a container, line by line. */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { LogLine } from "./log-lines.ts";

export interface ContainerOfPod {
  cluster: string;
  namespace: string;
  pod: DeepReadonly<JsonObject>;
  container: string;
}

export interface PodLog {
  readonly lines: readonly LogLine[];
  /** Lines added later. Ends with the container, or when the signal is aborted. */
  follow(signal: AbortSignal): AsyncIterable<LogLine>;
}
