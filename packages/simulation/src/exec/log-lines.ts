/**
 * The log of a container of a simulated pod: a few lines derived from the pod's status, and the output of its command,
 * so that every read returns the same lines. Nothing is stored. Pure.
 */
import type { Container, ContainerStatus } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { badRequest } from "@flotilla/apimachinery";
import { scriptOf } from "../kubelet/script.ts";
import { simulationProblems } from "../annotation-problems.ts";
import { timeOf } from "../kubelet/container.ts";

export interface LogLine {
  timeMs: number;
  text: string;
}

type ReadPod = DeepReadonly<Pod>;
type Status = DeepReadonly<ContainerStatus>;
type State = NonNullable<Status["state"]>;

export function statusOf({ status }: ReadPod, container: string): Status | undefined {
  return [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ].find(({ name }) => name === container);
}

function containerOf({ spec }: ReadPod, container: string): DeepReadonly<Container> | undefined {
  return [...spec.containers, ...(spec.initContainers ?? [])].find(({ name }) => name === container);
}

/**
 * The lines that the container has written so far, oldest first; `previous` selects the run before the last restart.
 * Throws the kubelet's error when there is no log.
 */
export function logLines(pod: ReadPod, container: string, nowMs: number, previous = false): LogLine[] {
  const { metadata } = pod;
  const about = `container ${JSON.stringify(container)} in pod ${JSON.stringify(metadata.name)}`;
  const status = statusOf(pod, container);
  if (previous) {
    if (!status?.lastState?.terminated) throw badRequest(`previous terminated ${about} not found`);
    return linesOf(
      pod,
      status,
      status.lastState,
      nowMs,
      Math.max(0, status.restartCount - (status.state?.waiting ? 0 : 1)),
    );
  }
  if (status?.state?.running || status?.state?.terminated)
    return linesOf(pod, status, status.state, nowMs, status.restartCount);
  // Between two runs of a container in a crash loop, the log of the last run is shown.
  if (status?.lastState?.terminated && status.state?.waiting?.reason === "CrashLoopBackOff")
    return linesOf(pod, status, status.lastState, nowMs, status.restartCount);
  throw badRequest(`${about} is waiting to start: ${waitingFor(status)}`);
}

function waitingFor(status: Status | undefined): string {
  const reason = status?.state?.waiting?.reason ?? "ContainerCreating";
  return reason === "ImagePullBackOff" ? "trying and failing to pull image" : reason;
}

/** The time of the container's next line; undefined if only a change of the pod adds one. */
export function nextLineMs(pod: ReadPod, container: string, nowMs: number): number | undefined {
  const startedAt = statusOf(pod, container)?.state?.running?.startedAt;
  return startedAt === undefined
    ? undefined
    : echoesOf(pod, container, timeOf(startedAt)).find(({ timeMs }) => timeMs > nowMs)?.timeMs;
}

function echoesOf(pod: ReadPod, container: string, startMs: number): LogLine[] {
  const spec = containerOf(pod, container);
  const script = spec && scriptOf(spec);
  return script ? script.echoes.map(({ afterMs, text }) => ({ timeMs: startMs + afterMs, text })) : [];
}

function linesOf(
  pod: ReadPod,
  { name, image, ready }: Status,
  { running, terminated }: State,
  nowMs: number,
  restarts: number,
): LogLine[] {
  const { metadata, spec, status } = pod;
  const startMs = timeOf(running?.startedAt ?? terminated?.startedAt);
  const lines: LogLine[] = [
    {
      timeMs: startMs,
      text:
        `container ${name} of pod ${metadata.namespace ?? ""}/${metadata.name} starts on node ` +
        `${spec.nodeName ?? ""}${restarts > 0 ? `, restart ${restarts}` : ""}`,
    },
    { timeMs: startMs, text: `image ${image}; the container is simulated, no process runs` },
  ];
  // The log explains why a fault annotation has no effect.
  for (const problem of simulationProblems(pod, "Pod")) lines.push({ timeMs: startMs, text: problem });
  const readyAt = status?.conditions?.find(
    (condition) => condition.type === "Ready" && condition.status === "True",
  )?.lastTransitionTime;
  if (running && ready && readyAt !== undefined)
    lines.push({ timeMs: Math.max(startMs, timeOf(readyAt)), text: "ready" });
  // A container that was stopped early has not written all of its output.
  const untilMs = terminated ? timeOf(terminated.finishedAt) : nowMs;
  lines.push(...echoesOf(pod, name, startMs).filter(({ timeMs }) => timeMs <= untilMs));
  lines.sort((a, b) => a.timeMs - b.timeMs);
  if (terminated) lines.push({ timeMs: untilMs, text: `stopped with exit code ${terminated.exitCode ?? 0}` });
  return lines;
}
