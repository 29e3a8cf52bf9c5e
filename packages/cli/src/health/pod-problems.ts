/** Why pods of a workload do not run: equal reasons are one finding, with the number of pods. Pure. */
import type { JsonObject } from "@flotilla/base";
import { textOf, objectOf, objectsOf } from "@flotilla/base";

export interface PodProblem {
  /** As the kubelet or the scheduler names it: `ImagePullBackOff`, `Unschedulable`. */
  reason: string;
  /** `image nginx:broken`, `secret "db" not found`; empty when there is none. */
  detail: string;
  /** How the sentence continues after the number of pods. */
  does: "wait" | "fail" | "run";
  /** Not a state that every pod passes while it starts. */
  isCertain: boolean;
  /** The first one, for a command. */
  pod: string;
  /** When the oldest one was created. */
  createdMs: number;
  count: number;
  /** Those of an older revision that their controller leaves as they are; either all that are counted, or none. */
  outdated: readonly string[];
}

type Found = Omit<PodProblem, "count" | "pod" | "createdMs" | "outdated">;

/** Containers that are being created, which takes a moment. */
const STARTING: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing", ""]);
const PULLING: ReadonlySet<string> = new Set([
  "ImagePullBackOff",
  "ErrImagePull",
  "InvalidImageName",
  "ErrImageNeverPull",
]);
const MAX_DETAIL = 200;
/** As kubelets report it, for variables and for volumes. */
const MISSING = /\b(?:secret|configmap) "[^"]+" not found/;

/** What pods name and `propagateDeps` propagates with them. */
const REFERENCES: Readonly<Record<string, string>> = {
  secret: "Secret",
  configmap: "ConfigMap",
  serviceaccount: "ServiceAccount",
  persistentvolumeclaim: "PersistentVolumeClaim",
};
const MISSING_REFERENCE = new RegExp(`\\b(?<word>${Object.keys(REFERENCES).join("|")}) "(?<name>[^"]+)" not found`);

/** The object that a cause names as missing. */
export function missingReference(cause: string): { kind: string; name: string } | undefined {
  const { word = "", name } = MISSING_REFERENCE.exec(cause)?.groups ?? {};
  return name === undefined ? undefined : { kind: REFERENCES[word] ?? "", name };
}

/** A warning of the kubelet about a pod. */
export interface PodWarning {
  pod: string;
  reason: string;
  message: string;
  atMs: number;
}

/**
 * Warnings about what a pod needs before its containers are created. The status of the pod does not report them: it
 * says `ContainerCreating`.
 */
const BEFORE_START: ReadonlySet<string> = new Set([
  "FailedMount",
  "FailedAttachVolume",
  "FailedMapVolume",
  "FailedCreatePodSandBox",
]);

/** Whether the status of a pod does not show why its containers are not created; warnings may. */
export const isUnexplained = ({ reason, detail, does }: PodProblem): boolean =>
  does === "wait" && detail === "" && STARTING.has(reason);

/** The most frequent one first; certain ones before others. */
export function findPodProblems(
  pods: readonly JsonObject[],
  warnings: readonly PodWarning[] = [],
  isOutdated: (pod: JsonObject) => boolean = () => false,
): PodProblem[] {
  const groups = new Map<string, PodProblem & { outdated: string[] }>();
  const newest = new Map<string, PodWarning>();
  for (const warning of warnings)
    if (BEFORE_START.has(warning.reason) && warning.atMs >= (newest.get(warning.pod)?.atMs ?? 0))
      newest.set(warning.pod, warning);
  for (const pod of pods) {
    const { name, creationTimestamp } = objectOf(pod["metadata"]);
    const createdMs = Date.parse(textOf(creationTimestamp));
    const warning = newest.get(textOf(name));
    // A pod of a StatefulSet has the name of the one before it.
    const found = problemOf(pod, warning && warning.atMs >= createdMs ? warning.message : "");
    if (!found) continue;
    // Controllers replace a pod that has failed.
    const outdated = found.does !== "fail" && isOutdated(pod) ? [textOf(name)] : [];
    const id = groupOf({ ...found, outdated });
    const known = groups.get(id);
    if (known) {
      known.count += 1;
      known.outdated.push(...outdated);
      known.createdMs = Math.min(known.createdMs, createdMs);
    } else groups.set(id, { ...found, pod: textOf(name), createdMs, count: 1, outdated });
  }
  return sortProblems([...groups.values()]);
}

/** Problems with the same key have the same cause and the same fix. */
export const groupOf = ({ reason, detail, outdated }: Pick<PodProblem, "reason" | "detail" | "outdated">): string =>
  `${reason} ${detail} ${outdated.length > 0}`;

export function sortProblems<T extends PodProblem>(problems: readonly T[]): T[] {
  return problems.toSorted((a, b) => Number(b.isCertain) - Number(a.isCertain) || b.count - a.count);
}

/** `3 pods wait: ImagePullBackOff: image nginx:broken` */
export function problemText(problem: PodProblem, where = ""): string {
  const { reason, detail, does, count, outdated } = problem;
  const one = count === 1;
  const verb = { wait: one ? "waits" : "wait", fail: "failed", run: one ? "is not ready" : "are not ready" }[does];
  const why = does === "run" ? [detail] : [reason, detail];
  const pods = `${one ? "pod" : "pods"}${outdated.length > 0 ? " of an older revision" : ""}`;
  return [`${count} ${pods} ${verb}${where}`, ...why].filter(Boolean).join(": ");
}

/** `warning` is why the containers are not created; it counts only while they are not. */
function problemOf(pod: JsonObject, warning: string): Found | undefined {
  if (objectOf(pod["metadata"])["deletionTimestamp"] !== undefined) return undefined;
  const status = objectOf(pod["status"]);
  const phase = textOf(status["phase"]);
  if (phase === "Succeeded") return undefined;
  const containers = [...objectsOf(status["initContainerStatuses"]), ...objectsOf(status["containerStatuses"])];
  if (phase === "Failed") return failureOf(status, containers);
  const unscheduled = conditionOf(status, "PodScheduled");
  if (unscheduled?.["status"] === "False")
    return {
      reason: textOf(unscheduled["reason"]) || "Unschedulable",
      // What preemption could do is not a cause.
      detail: shortened(textOf(unscheduled["message"]).replace(/\.? preemption: .*$/s, "")),
      does: "wait",
      isCertain: false,
    };
  const stopped = containers.map(stoppedBy).find((found) => found !== undefined);
  if (stopped) return stopped;
  if (conditionOf(status, "Ready")?.["status"] === "True") return undefined;
  const { nodeName, schedulerName } = objectOf(pod["spec"]);
  if (containers.length === 0 && !nodeName)
    return {
      reason: "Pending",
      detail: `the scheduler ${textOf(schedulerName) || "default-scheduler"} has assigned no node`,
      does: "wait",
      isCertain: false,
    };
  const starting = containers.find(({ state }) => objectOf(state)["waiting"] !== undefined);
  if (starting || containers.length === 0)
    return {
      reason: reasonIn(starting) || "ContainerCreating",
      detail: shortened(warning),
      does: "wait",
      // Other mounts are retried and often succeed.
      isCertain: MISSING.test(warning),
    };
  const unready = containers.find(({ ready, state }) => ready !== true && objectOf(state)["running"] !== undefined);
  return {
    reason: "NotReady",
    detail: unready
      ? `container ${textOf(unready["name"])} runs, but its readiness probe does not succeed`
      : textOf(conditionOf(status, "Ready")?.["message"]) || unreadyBeside(pod, status),
    does: "run",
    isCertain: false,
  };
}

/** Why a pod is not ready although its containers are: a readiness gate, or a node that does not respond. */
function unreadyBeside(pod: JsonObject, status: JsonObject): string {
  const spec = objectOf(pod["spec"]);
  const gates = objectsOf(spec["readinessGates"]).map(({ conditionType }) => textOf(conditionType));
  const open = gates.find((gate) => conditionOf(status, gate)?.["status"] !== "True");
  if (open !== undefined) return `its readiness gate ${open} is not true`;
  return `its containers were ready when its node ${textOf(spec["nodeName"])} last reported; check the node`;
}

const reasonIn = (container: JsonObject | undefined): string =>
  textOf(objectOf(objectOf(container?.["state"])["waiting"])["reason"]);

function failureOf(status: JsonObject, containers: readonly JsonObject[]): Found {
  const ended = containers.map(exitOf).find((exit) => exit !== undefined);
  const reason = textOf(status["reason"]);
  return {
    reason: reason || ended?.reason || "Failed",
    detail: ended?.text ?? shortened(textOf(status["message"])),
    does: "fail",
    isCertain: true,
  };
}

function stoppedBy(container: JsonObject): Found | undefined {
  const { waiting, terminated } = objectOf(container["state"]);
  const reason = textOf(objectOf(waiting)["reason"]);
  if (waiting !== undefined && !STARTING.has(reason)) {
    const message = textOf(objectOf(waiting)["message"]);
    const exit = exitOf({ ...container, state: container["lastState"] ?? {} });
    const detail = PULLING.has(reason)
      ? `image ${textOf(container["image"])}`
      : reason === "CrashLoopBackOff"
        ? (exit?.text ?? `container ${textOf(container["name"])}`)
        : shortened(message);
    return { reason, detail, does: "wait", isCertain: true };
  }
  // Between two restarts.
  const exit = terminated === undefined ? undefined : exitOf(container);
  return exit && { reason: exit.reason, detail: exit.text, does: "fail", isCertain: false };
}

/** How a container ended; undefined if it did not, or with success. */
function exitOf({ name, state }: JsonObject): { reason: string; text: string } | undefined {
  const { terminated } = objectOf(state);
  const { exitCode, reason } = objectOf(terminated);
  if (typeof exitCode !== "number" || exitCode === 0) return undefined;
  const word = textOf(reason);
  return {
    reason: word || "Error",
    text: `container ${textOf(name)} exited with code ${exitCode}${word && word !== "Error" ? ` (${word})` : ""}`,
  };
}

function conditionOf({ conditions }: JsonObject, type: string): JsonObject | undefined {
  return objectsOf(conditions).find((condition) => condition["type"] === type);
}

const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_DETAIL ? `${line.slice(0, MAX_DETAIL)}…` : line;
};
