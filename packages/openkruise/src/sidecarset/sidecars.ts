/** Builds a container of a SidecarSet for a pod, with the parts it takes from the application's containers. Pure. */
import { defined } from "@flotilla/base";
import { labelKeyProblems } from "@flotilla/apimachinery";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { INJECTED_VARIABLE, isInjectedContainer } from "./sidecarset-names.ts";
import type { ReadonlyContainer, ReadonlySidecarSet, SidecarContainer, StringMap } from "./sidecarset-names.ts";
import { resourcesFor } from "./resources.ts";

type Variable = NonNullable<ReadonlyContainer["env"]>[number];
type Mount = NonNullable<ReadonlyContainer["volumeMounts"]>[number];
type Device = NonNullable<ReadonlyContainer["volumeDevices"]>[number];
type Volume = NonNullable<ReadonlySidecarSet["spec"]["volumes"]>[number];

/** The container for the pod, and the volumes of the set that it mounts. `sets` are all sets of the pod. */
export function buildSidecar(
  pod: ReadonlyPod,
  set: ReadonlySidecarSet,
  container: SidecarContainer,
  sets: readonly ReadonlySidecarSet[],
): { container: SidecarContainer; volumes: Volume[] } {
  const { volumeMounts: ownMounts = [], volumeDevices: ownDevices = [], env = [], ...rest } = container;
  const apps = (pod.spec.containers ?? []).filter((app) => !isInjectedContainer(app));
  const shared = container.shareVolumePolicy?.type === "enabled" ? sharedMounts(apps) : { mounts: [], variables: [] };
  const taken = byName(transferredVariables(container, pod), shared.variables);

  const byVolume = new Map(set.spec.volumes?.map((volume) => [volume.name, volume]));
  const volumes = [...ownMounts, ...ownDevices].flatMap(({ name }) => byVolume.get(name) ?? []);
  const paths = new Set([
    ...ownMounts.map(({ mountPath }) => mountPath),
    ...ownDevices.map(({ devicePath }) => devicePath),
  ]);
  const volumeMounts = [...ownMounts, ...shared.mounts.filter((mount) => isNewPath(paths, mount.mountPath))];
  const devices =
    container.shareVolumeDevicePolicy?.type === "enabled" ? apps.flatMap((app) => app.volumeDevices ?? []) : [];
  const volumeDevices: Device[] = [...ownDevices, ...devices.filter((device) => isNewPath(paths, device.devicePath))];
  return {
    container: {
      ...rest,
      ...defined({
        resources: container.resourcesPolicy ? resourcesFor(pod, container.resourcesPolicy, sets) : undefined,
      }),
      env: byName([...env, { name: INJECTED_VARIABLE, value: "true" }], taken),
      volumeMounts: volumeMounts.length > 0 ? volumeMounts : undefined,
      volumeDevices: volumeDevices.length > 0 ? volumeDevices : undefined,
    },
    volumes,
  };
}

/** Each path once; the sidecar's own come first. */
function isNewPath(paths: Set<string>, path: string): boolean {
  const isNew = !paths.has(path);
  paths.add(path);
  return isNew;
}

/** The first list, and those variables of the second whose names are not in it. */
function byName(variables: readonly Variable[], more: readonly Variable[]): Variable[] {
  const names = new Set(variables.map(({ name }) => name));
  const result = [...variables];
  for (const variable of more) {
    if (names.has(variable.name)) continue;
    names.add(variable.name);
    result.push(variable);
  }
  return result;
}

/** The mounts of the application. A path with variables needs these too. */
function sharedMounts(apps: readonly ReadonlyContainer[]): { mounts: Mount[]; variables: Variable[] } {
  const mounts: Mount[] = [];
  const variables: Variable[] = [];
  for (const { volumeMounts = [], env = [] } of apps) {
    for (const mount of volumeMounts) {
      mounts.push(mount);
      for (const [, name] of (mount.subPathExpr ?? "").matchAll(/\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)/g)) {
        const variable = env.find((candidate) => candidate.name === name);
        if (variable) variables.push(variable);
      }
    }
  }
  return { mounts, variables };
}

function transferredVariables({ transferEnv = [] }: SidecarContainer, pod: ReadonlyPod): Variable[] {
  if (transferEnv.length === 0) return [];
  const variableOf = (container: string, name: string): Variable | undefined =>
    (pod.spec.containers ?? [])
      .filter((candidate) => candidate.name === container)
      .flatMap(({ env = [] }) => env)
      .findLast((candidate) => candidate.name === name);
  return transferEnv.flatMap(({ sourceContainerName = "", sourceContainerNameFrom, envName, envNames = [] }) => {
    const fieldPath = sourceContainerNameFrom?.fieldRef
      ? (sourceContainerNameFrom.fieldRef.fieldPath ?? "")
      : undefined;
    const source = fieldPath === undefined ? sourceContainerName : namedByMetadata(fieldPath, pod.metadata);
    if (source === undefined) return [];
    const names = new Set([...(envName ? [envName] : []), ...envNames]);
    return [...names].toSorted().flatMap((name) => variableOf(source, name) ?? []);
  });
}

/** `metadata.labels['main']` of the pod; undefined for any other path. */
function namedByMetadata(
  fieldPath: string,
  { labels, annotations }: { readonly labels?: StringMap; readonly annotations?: StringMap },
): string | undefined {
  const [, of, key = ""] = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  if (of === "labels") return labelKeyProblems(key).length === 0 ? (labels?.[key] ?? "") : undefined;
  return of === "annotations" && labelKeyProblems(key.toLowerCase()).length === 0
    ? (annotations?.[key] ?? "")
    : undefined;
}
