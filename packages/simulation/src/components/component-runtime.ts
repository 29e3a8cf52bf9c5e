/** A runtime for a member's pods in which pods that represent parts of this process show the logs of these parts. */
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { showLog } from "../exec/exec.ts";
import { statusOf } from "../exec/log-lines.ts";
import type { LogLine } from "../exec/log-lines.ts";
import type { SimulatedRuntime } from "../exec/logs.ts";
import type { ContainerOfPod, PodLog } from "../exec/pod-log.ts";
import type { ComponentLogs } from "./component-logs.ts";
import { IN_PROCESS_ANNOTATION } from "./kruise-manifests.ts";

/** `namespace` is the namespace of the components: elsewhere any user may set the annotation. */
export function withComponentLogs(runtime: SimulatedRuntime, logs: ComponentLogs, namespace: string): SimulatedRuntime {
  const logOf: SimulatedRuntime["logs"] = (target, options) => {
    const component = componentOf(target, namespace);
    const simulated = runtime.logs(target, options);
    if (component === undefined || options.previous) return simulated;
    const { cluster } = target;
    return {
      // Kept lines may be older than the container that shows them, because the process did not restart with the
      // container.
      lines: [introduction(target, component), ...logs.linesOf(cluster, component)],
      // The log ends when the container ends; until then the lines come from the process.
      follow(signal) {
        const ended = new AbortController();
        const either = AbortSignal.any([signal, ended.signal]);
        return until(simulated.follow(either), logs.follow(cluster, component, either), ended);
      },
    };
  };
  return {
    ...runtime,
    logs: logOf,
    attach: async (target, options, streams, signal) =>
      showLog(target, logOf(target, { previous: false }), options, streams, signal),
  };
}

/** Only the logs of components, for a cluster without nodes in which nothing else runs. */
export function componentsAlone(
  logs: ComponentLogs,
  namespace: string,
): { hasNodes: false; logs(target: ContainerOfPod): PodLog | undefined } {
  return {
    hasNodes: false,
    logs(target) {
      const component = componentOf(target, namespace);
      return component === undefined
        ? undefined
        : {
            lines: [introduction(target, component), ...logs.linesOf(target.cluster, component)],
            follow: (signal) => logs.follow(target.cluster, component, signal),
          };
    },
  };
}

function componentOf({ namespace, pod }: ContainerOfPod, home: string): string | undefined {
  return namespace === home
    ? (pod as unknown as DeepReadonly<Pod>).metadata.annotations?.[IN_PROCESS_ANNOTATION]
    : undefined;
}

function introduction({ cluster, pod, container }: ContainerOfPod, component: string): LogLine {
  const startedAt = statusOf(pod as unknown as DeepReadonly<Pod>, container)?.state?.running?.startedAt;
  const timeMs = startedAt === undefined ? 0 : Date.parse(startedAt);
  return {
    timeMs,
    text: `${new Date(timeMs).toISOString()} INFO ${component} of ${cluster} runs inside Flotilla; the following lines are its log messages about ${cluster}`,
  };
}

/** Yields the lines until `guard` ends, without the lines of `guard`. Both end when `ended` is aborted. */
async function* until(
  guard: AsyncIterable<LogLine>,
  lines: AsyncIterable<LogLine>,
  ended: AbortController,
): AsyncGenerator<LogLine> {
  // A failure is kept as a value until the next read, because a slow reader must not cause an unhandled rejection.
  const watch = endOf(guard, ended).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  try {
    yield* lines;
  } finally {
    ended.abort();
  }
  const failure = await watch;
  if (failure) throw failure.error;
}

async function endOf(guard: AsyncIterable<LogLine>, ended: AbortController): Promise<void> {
  try {
    // oxlint-disable-next-line no-unused-vars -- Only its end is of interest.
    for await (const _line of guard) if (ended.signal.aborted) return;
  } finally {
    ended.abort();
  }
}
