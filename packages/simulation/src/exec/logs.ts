/**
 * `kubectl logs` and `kubectl exec` of simulated pods. Logs are computed from the pod; a follower receives the lines
 * that a change of the pod, or time, adds until the container ends. No processes run: `exec/` answers what it can
 * without them.
 *
 * Reads: Pod. Writes: nothing.
 */
import { Pod } from "@flotilla/kubernetes";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Informers } from "@flotilla/controller-runtime";
import { execute, showLog } from "./exec.ts";
import { SimulatedFiles } from "./container-files.ts";
import { forwardPort } from "./forward.ts";
import type { ForwardedConnection } from "./forward.ts";
import type { CommandOptions, CommandStreams, Ended } from "./exec.ts";
import { logLines, nextLineMs, statusOf } from "./log-lines.ts";
import type { LogLine } from "./log-lines.ts";
import type { ContainerOfPod, PodLog } from "./pod-log.ts";

/** Implements the API server's container runtime interface. */
export interface SimulatedRuntime {
  logs(container: ContainerOfPod, options: { previous: boolean }): PodLog;
  exec(
    container: ContainerOfPod,
    options: CommandOptions,
    streams: CommandStreams,
    signal: AbortSignal,
  ): Promise<Ended>;
  forward(
    pod: Omit<ContainerOfPod, "container">,
    port: number,
    connection: ForwardedConnection,
    signal: AbortSignal,
  ): Promise<void>;
  attach(
    container: ContainerOfPod,
    options: Pick<CommandOptions, "tty">,
    streams: CommandStreams,
    signal: AbortSignal,
  ): Promise<Ended>;
}

type ReadPod = DeepReadonly<Pod>;
type Follower = (pod: ReadPod, isGone: boolean) => void;

export function createSimulatedRuntime({ informers, clock }: { informers: Informers; clock: Clock }): SimulatedRuntime {
  const followers = createFollowers(informers);
  const files = new SimulatedFiles();
  const logs: SimulatedRuntime["logs"] = (target, { previous }) => {
    const pod = target.pod as unknown as ReadPod;
    const lines = logLines(pod, target.container, clock.now(), previous);
    return {
      lines,
      follow: (signal) => (previous ? nothing() : followed(followers, clock, target, pod, lines, signal)),
    };
  };
  return {
    logs,
    exec: (target, options, streams, signal) => execute(target, options, streams, clock, signal, files),
    forward: (target, port, connection) => forwardPort(target, port, connection),
    attach: async (target, options, streams, signal) =>
      showLog(target, logs(target, { previous: false }), options, streams, signal),
  };
}

async function* nothing(): AsyncGenerator<LogLine> {
  // The log of a previous run does not grow.
}

async function* followed(
  followers: Followers,
  clock: Clock,
  { cluster, namespace, container }: ContainerOfPod,
  first: ReadPod,
  lines: readonly LogLine[],
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  if (hasEnded(first, first, container)) return;
  const newLines = createNewLineFilter();
  newLines(lines);
  // Only the latest state matters: its log includes all earlier lines.
  let latest: { pod: ReadPod; isGone: boolean } | undefined;
  let current = first;
  let wake = (): void => {};
  const stop = followers.add(keyOf(cluster, namespace, first.metadata.name), (pod, isGone) => {
    // The informer may lag behind the server that answered the request.
    if (versionOf(pod) < versionOf(first)) return;
    latest = { pod, isGone };
    wake();
  });
  const onAbort = (): void => wake();
  signal.addEventListener("abort", onAbort);
  try {
    while (!signal.aborted) {
      if (!latest) await changeOr(nextLineMs(current, container, clock.now()));
      if (latest?.isGone || (latest && isAnother(latest.pod, first, container))) return;
      current = latest?.pod ?? current;
      latest = undefined;
      yield* newLines(logLines(current, container, clock.now()));
      if (hasEnded(current, first, container)) return;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    stop();
  }

  /** Waits for a change of the pod, or until the container's next line is due. */
  async function changeOr(dueMs: number | undefined): Promise<void> {
    const timer = dueMs === undefined ? undefined : clock.after(Math.max(0, dueMs - clock.now()), () => wake());
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    timer?.cancel();
  }
}

/**
 * Returns the lines that were not there the last time. A container that ended is no longer ready, so counting lines is
 * not enough.
 */
function createNewLineFilter(): (lines: readonly LogLine[]) => LogLine[] {
  const seenCounts = new Map<string, number>();
  return (lines) => {
    const seen = new Map<string, number>();
    return lines.filter(({ timeMs, text }) => {
      const line = `${timeMs} ${text}`;
      const count = (seen.get(line) ?? 0) + 1;
      seen.set(line, count);
      if (count <= (seenCounts.get(line) ?? 0)) return false;
      seenCounts.set(line, count);
      return true;
    });
  };
}

/** Simulated members run in this process, whose resourceVersions are numbers. */
const versionOf = ({ metadata }: ReadPod): number => Number(metadata.resourceVersion ?? 0);

/** The pod was replaced by one with the same name, or its container restarted: this log has ended. */
function isAnother(pod: ReadPod, first: ReadPod, container: string): boolean {
  return (
    pod.metadata.uid !== first.metadata.uid ||
    statusOf(pod, container)?.containerID !== statusOf(first, container)?.containerID
  );
}

function hasEnded(pod: ReadPod, first: ReadPod, container: string): boolean {
  return (
    pod.status?.phase === "Succeeded" ||
    pod.status?.phase === "Failed" ||
    isAnother(pod, first, container) ||
    statusOf(pod, container)?.state?.terminated !== undefined
  );
}

interface Followers {
  /** Notified about every change, and about the current state. */
  add(key: string, follower: Follower): () => void;
}

const keyOf = (cluster: string, namespace: string, name: string): string => `${cluster}/${namespace}/${name}`;

/** One subscription for all log followers, and none without followers: pods are many and change often. */
function createFollowers(informers: Informers): Followers {
  const byPod = new Map<string, Set<Follower>>();
  let unsubscribe: (() => void) | undefined;
  const subscribe = (): (() => void) =>
    informers.of(Pod).subscribe(({ cluster, object, deleted }) => {
      const { namespace = "", name } = object.metadata;
      const concerned = byPod.get(keyOf(cluster, namespace, name));
      if (concerned) for (const follower of concerned) follower(object, deleted);
    });
  return {
    add(key, follower) {
      const known = byPod.get(key);
      if (known) known.add(follower);
      else byPod.set(key, new Set([follower]));
      unsubscribe ??= subscribe();
      return () => {
        const left = byPod.get(key);
        left?.delete(follower);
        if (left?.size === 0) byPod.delete(key);
        if (byPod.size > 0) return;
        unsubscribe?.();
        unsubscribe = undefined;
      };
    },
  };
}
