/**
 * How far a release has come, and the patch that moves it: the paths of partition and pause differ between kinds. Pure.
 */

export interface Release {
  /** Undefined where the kind has no partition. */
  partitionPath: readonly string[] | undefined;
  /** How many pods stay behind, over the fleet. */
  partition: number;
  pausedPath: readonly string[] | undefined;
  paused: boolean;
  replicas: number;
  images: readonly { container: string; image: string }[];
}

interface Paths {
  partition?: readonly string[];
  paused?: readonly string[];
}

const ROLLING = ["spec", "updateStrategy", "rollingUpdate"];
const PATHS: Readonly<Record<string, Paths>> = {
  "apps.kruise.io/CloneSet": { partition: [...ROLLING, "partition"], paused: [...ROLLING, "paused"] },
  // v1alpha1 has these fields one level higher.
  "apps.kruise.io/v1alpha1/CloneSet": {
    partition: ["spec", "updateStrategy", "partition"],
    paused: ["spec", "updateStrategy", "paused"],
  },
  "apps.kruise.io/StatefulSet": { partition: [...ROLLING, "partition"], paused: [...ROLLING, "paused"] },
  "apps.kruise.io/DaemonSet": { partition: [...ROLLING, "partition"], paused: [...ROLLING, "paused"] },
  "apps.kruise.io/SidecarSet": {
    partition: ["spec", "updateStrategy", "partition"],
    paused: ["spec", "updateStrategy", "paused"],
  },
  "apps/StatefulSet": { partition: [...ROLLING, "partition"] },
  "apps/Deployment": { paused: ["spec", "paused"] },
};

type Value = Readonly<Record<string, unknown>>;
const isValue = (value: unknown): value is Value =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const at = (object: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (isValue(value) ? value[key] : undefined), object);

export function releaseOf(template: unknown, replicas: number): Release {
  const [apiVersion, kind] = [at(template, ["apiVersion"]), at(template, ["kind"])];
  const group = typeof apiVersion === "string" && apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  const paths = PATHS[`${String(apiVersion)}/${String(kind)}`] ?? PATHS[`${group}/${String(kind)}`] ?? {};
  const own = at(template, ["spec", "replicas"]);
  const all = typeof own === "number" ? own : Math.max(0, replicas);
  const containers = at(template, ["spec", "template", "spec", "containers"]);
  return {
    partitionPath: paths.partition,
    partition: paths.partition ? partitionIn(at(template, paths.partition), all) : 0,
    pausedPath: paths.paused,
    paused: paths.paused !== undefined && at(template, paths.paused) === true,
    replicas: all,
    images: (Array.isArray(containers) ? containers : []).filter(isValue).map(({ name, image }) => ({
      container: String(name),
      image: typeof image === "string" ? image : "",
    })),
  };
}

/** A percentage counts pods that stay behind, rounded up, as OpenKruise does. */
function partitionIn(value: unknown, replicas: number): number {
  if (typeof value === "number") return Math.max(0, Math.min(replicas, value));
  const percent = typeof value === "string" ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? 0 : Math.min(replicas, Math.ceil((replicas * Number(percent)) / 100));
}

/** A merge patch that sets one field. */
export const patchAt = (path: readonly string[], value: unknown): Value =>
  path.reduceRight<Value>((inner, key, index) => ({ [key]: index === path.length - 1 ? value : inner }), {});

/** The object with one field set, without what the server owns: a manifest to plan with. */
export function manifestWith(template: unknown, path: readonly string[], value: unknown): Value {
  const set = (object: unknown, [key, ...rest]: readonly string[]): Value => {
    const fields = isValue(object) ? object : {};
    return key === undefined ? fields : { ...fields, [key]: rest.length === 0 ? value : set(fields[key], rest) };
  };
  return set(manifestOf(template), path);
}

export function manifestOf(template: unknown): Value {
  if (!isValue(template)) return {};
  const { status: _status, metadata, ...rest } = template;
  if (!isValue(metadata)) return rest;
  const {
    managedFields: _managed,
    resourceVersion: _version,
    uid: _uid,
    generation: _generation,
    creationTimestamp: _created,
    ...kept
  } = metadata;
  const annotations = isValue(kept["annotations"])
    ? Object.fromEntries(Object.entries(kept["annotations"]).filter(([key]) => key !== LAST_APPLIED))
    : undefined;
  return {
    ...rest,
    metadata: annotations ? { ...kept, annotations } : kept,
  };
}

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The path of an object in the Kubernetes API, given its plural. */
export function apiPath(apiVersion: string, plural: string, namespace: string, name?: string): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const place = namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${place}/${plural}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
}
