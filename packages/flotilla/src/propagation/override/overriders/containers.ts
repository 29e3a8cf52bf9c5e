/** Container paths of the kinds that Karmada supports. Other kinds are overridden by a path. */
import { isObject, type Json, type JsonObject } from "@flotilla/base";
import { valueAt } from "../json-pointer.ts";

const IN_TEMPLATE = ["spec", "template", "spec", "containers"];
const PATHS: Readonly<Record<string, readonly string[]>> = {
  Pod: ["spec", "containers"],
  ReplicaSet: IN_TEMPLATE,
  Deployment: IN_TEMPLATE,
  DaemonSet: IN_TEMPLATE,
  StatefulSet: IN_TEMPLATE,
  Job: IN_TEMPLATE,
};

/** The kinds whose containers are found without a path. */
export const KINDS_WITH_CONTAINERS: ReadonlySet<string> = new Set(Object.keys(PATHS));

export interface ContainerAt {
  /** JSON pointer. */
  path: string;
  container: JsonObject;
}

/** Main containers with their paths, without init containers. Matched by kind only, in any group. */
export function containersOf(object: JsonObject): ContainerAt[] {
  const kind = object["kind"];
  const path = typeof kind === "string" && Object.hasOwn(PATHS, kind) ? PATHS[kind] : undefined;
  const containers: Json | undefined = path && valueAt(object, path);
  if (!path || !Array.isArray(containers)) return [];
  return containers.flatMap((container, index) =>
    isObject(container) ? [{ path: `/${path.join("/")}/${index}`, container }] : [],
  );
}
