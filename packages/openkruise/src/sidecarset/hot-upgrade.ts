/**
 * Hot upgrade: a sidecar that must not stop consists of two containers, one active and one with an idle image. An
 * update starts the new version in the idle one; once it is ready, the previously active one becomes idle. Pure.
 */
import { isReady } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isSidecarStateConsistent } from "./consistency.ts";
import { isHotUpgrade, otherVersionAnnotation, versionAnnotation } from "./sidecarset-names.ts";
import type { ReadonlySidecarSet, SidecarContainer } from "./sidecarset-names.ts";
import { workingContainers } from "./records.ts";

export const hotNames = (name: string): readonly [string, string] => [`${name}-1`, `${name}-2`];

/** Which of the two is active, and which is idle or about to be. */
export function hotPair(sidecar: string, pod: ReadonlyPod): { working: string; idle: string } {
  const [first, second] = hotNames(sidecar);
  return workingContainers(pod).get(sidecar) === first
    ? { working: first, idle: second }
    : { working: second, idle: first };
}

/** The two containers of a new pod: the first is active. */
export function hotContainers(container: SidecarContainer): SidecarContainer[] {
  const [first, second] = hotNames(container.name);
  const named = (name: string): SidecarContainer => ({
    ...container,
    name,
    env: [
      ...(container.env ?? []),
      variable("SIDECARSET_VERSION", versionAnnotation(name)),
      variable("SIDECARSET_VERSION_ALT", otherVersionAnnotation(name)),
    ],
  });
  const { image: _, ...idle } = named(second);
  const emptyImage = container.upgradeStrategy?.hotUpgradeEmptyImage;
  return [named(first), { ...idle, image: emptyImage || undefined }];
}

const variable = (name: string, annotation: string): NonNullable<SidecarContainer["env"]>[number] => ({
  name,
  valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${annotation}']` } },
});

/** 1 is the initial version of a pod, 0 the idle container. */
export function hotAnnotations(sidecar: string): Record<string, string> {
  const [first, second] = hotNames(sidecar);
  return {
    [versionAnnotation(first)]: "1",
    [otherVersionAnnotation(first)]: "0",
    [versionAnnotation(second)]: "0",
    [otherVersionAnnotation(second)]: "1",
  };
}

const hotSidecars = ({ spec }: ReadonlySidecarSet): SidecarContainer[] => (spec.containers ?? []).filter(isHotUpgrade);

export const hasHotUpgrade = (set: ReadonlySidecarSet): boolean => hotSidecars(set).length > 0;

/** The idle containers of a pod, with their desired image. */
export function idleContainers(set: ReadonlySidecarSet, pod: ReadonlyPod): Map<string, string> {
  return new Map(
    hotSidecars(set).map(({ name, upgradeStrategy }) => [
      hotPair(name, pod).idle,
      upgradeStrategy?.hotUpgradeEmptyImage ?? "",
    ]),
  );
}

/** A pod in which both containers of a sidecar are active. */
export function isHotUpgrading(set: ReadonlySidecarSet, pod: ReadonlyPod): boolean {
  const images = imagesOf(pod);
  return [...idleContainers(set, pod)].some(([name, emptyImage]) => (images.get(name) ?? "") !== emptyImage);
}

/** Everything but the idle containers is ready, so the previously active ones can stop. */
export function isHotUpgradeReady(set: ReadonlySidecarSet, pod: ReadonlyPod): boolean {
  if (pod.status?.phase === "Running" && isReady(pod)) return true;
  const idle = idleContainers(set, pod);
  return (pod.status?.containerStatuses ?? []).every(({ name, ready }) => idle.has(name) || ready);
}

export const imagesOf = ({ spec }: ReadonlyPod): Map<string, string> =>
  new Map(spec.containers?.map(({ name, image }) => [name, image ?? ""]));

/** The container that gets the new version: the idle one, else the unready one, else the older one. */
export function containerToUpgrade(
  container: SidecarContainer,
  pod: ReadonlyPod,
  set: ReadonlySidecarSet,
): { upgraded: string; other: string } {
  const [first, second] = hotNames(container.name);
  const images = imagesOf(pod);
  const emptyImage = container.upgradeStrategy?.hotUpgradeEmptyImage ?? "";
  if ((images.get(first) ?? "") === emptyImage) return { upgraded: first, other: second };
  if ((images.get(second) ?? "") === emptyImage) return { upgraded: second, other: first };
  const isWell = (name: string): boolean =>
    (pod.status?.containerStatuses?.find((status) => status.name === name)?.ready ?? false) &&
    isSidecarStateConsistent(pod, set, new Set([name]));
  const [firstIsWell, secondIsWell] = [isWell(first), isWell(second)];
  if (firstIsWell !== secondIsWell)
    return firstIsWell ? { upgraded: second, other: first } : { upgraded: first, other: second };
  const { working, idle } = hotPair(container.name, pod);
  return { upgraded: idle, other: working };
}
