/** Which containers of a job's pod are sidecars that end with it. Pure. */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";

const TERMINATE = "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT";
const IGNORE_EXIT_CODE = "KRUISE_TERMINATE_SIDECAR_IGNORE_EXIT_CODE";
const WITH_IMAGE = "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT_WITH_IMAGE";

type ReadonlyContainer = DeepReadonly<Container>;

const valueOf = ({ env = [] }: ReadonlyContainer, name: string): string =>
  env.find((variable) => variable.name === name)?.value ?? "";
const isTrue = (container: ReadonlyContainer, name: string): boolean =>
  valueOf(container, name).toLowerCase() === "true";

const isNormal = (container: ReadonlyContainer): boolean => isTrue(container, TERMINATE);
const isReplaced = (container: ReadonlyContainer): boolean => valueOf(container, WITH_IMAGE) !== "";
const isSidecar = (container: ReadonlyContainer): boolean => isNormal(container) || isReplaced(container);

export interface SidecarPlan {
  /** To be stopped by a ContainerRecreateRequest. */
  stop: readonly string[];
  /** To be ended by another image, on nodes without a daemon: the images by container. */
  replace: ReadonlyMap<string, string>;
  /** The pod is declared finished, and these are stopped then: their exit codes do not count. */
  ignore: readonly string[];
  /** The phase of the declared end; undefined while other sidecars are still running. */
  phase?: "Succeeded" | "Failed";
}

/** Undefined for a pod without such sidecars, or whose main containers are still at work. */
export function planSidecars(pod: ReadonlyPod, isOnVirtualNode: boolean): SidecarPlan | undefined {
  const { metadata, spec, status } = pod;
  const { restartPolicy = "Always" } = spec;
  if (metadata.deletionTimestamp || status?.phase === "Pending" || restartPolicy === "Always") return undefined;
  const sidecars = spec.containers.filter(isSidecar);
  const main = spec.containers.filter((container) => !isSidecar(container));
  if (sidecars.length === 0 || haveEnded(pod, sidecars)) return undefined;
  const isDone = restartPolicy === "Never" ? haveEnded(pod, main) : haveSucceeded(pod, main);
  if (!isDone) return undefined;

  const running = (container: ReadonlyContainer): boolean => !haveEnded(pod, [container]);
  const replaced = isOnVirtualNode ? sidecars.filter(isReplaced) : [];
  const ignored = isOnVirtualNode
    ? []
    : sidecars.filter((container) => isNormal(container) && isTrue(container, IGNORE_EXIT_CODE));
  const normal = isOnVirtualNode ? [] : sidecars.filter((one) => isNormal(one) && !ignored.includes(one));
  const othersEnded = haveEnded(pod, normal) && haveEnded(pod, replaced);
  return {
    stop: normal.filter(running).map(({ name }) => name),
    replace: new Map(
      replaced
        .filter((one) => running(one) && one.image !== valueOf(one, WITH_IMAGE))
        .map((one) => [one.name, valueOf(one, WITH_IMAGE)]),
    ),
    ignore: othersEnded ? ignored.filter(running).map(({ name }) => name) : [],
    phase: othersEnded && ignored.length > 0 ? (haveSucceeded(pod, main) ? "Succeeded" : "Failed") : undefined,
  };
}

/** Upstream counts nothing before every container has a status. */
function haveEnded({ spec, status }: ReadonlyPod, containers: readonly ReadonlyContainer[]): boolean {
  const statuses = status?.containerStatuses ?? [];
  const names = new Set(containers.map(({ name }) => name));
  return (
    statuses.length === spec.containers.length &&
    statuses.every(({ name, state }) => !names.has(name) || state?.terminated !== undefined)
  );
}

const haveSucceeded = (pod: ReadonlyPod, containers: readonly ReadonlyContainer[]): boolean =>
  haveEnded(pod, containers) &&
  (pod.status?.containerStatuses ?? []).every(
    ({ name, state }) => !containers.some((one) => one.name === name) || state?.terminated?.exitCode === 0,
  );
