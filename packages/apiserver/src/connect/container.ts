/** Finds the container that a request is about, and checks its node. Errors are those of Kubernetes. */
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { badRequest, notFound } from "@flotilla/apimachinery";
import { textOf } from "../codec/text.ts";

/** The only container, or the requested one. */
export function containerOf(pod: DeepReadonly<JsonObject>, podName: string, asked: string): string {
  const { spec } = pod as { spec?: DeepReadonly<JsonObject> };
  const names = (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((field) =>
    namesIn(spec?.[field]),
  );
  if (asked !== "") {
    if (!names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${podName}`);
    return asked;
  }
  const [only, ...more] = names;
  if (only === undefined) throw badRequest(`a container name must be specified for pod ${podName}`);
  if (more.length > 0)
    throw badRequest(`a container name must be specified for pod ${podName}, choose one of: [${names.join(" ")}]`);
  return only;
}

function namesIn(containers: DeepReadonly<Json> | undefined): string[] {
  return Array.isArray(containers)
    ? containers.flatMap((container) => (isObject(container) ? [textOf(container.name ?? "")] : []))
    : [];
}

/** The node of a pod; empty while it is unscheduled. */
export function nodeNameOf(pod: DeepReadonly<JsonObject>): string {
  const { spec } = pod as { spec?: DeepReadonly<JsonObject> };
  return textOf(spec?.nodeName ?? "");
}

/** When the node of a pod is missing, Kubernetes reports it as if the pod were missing. */
export function checkNode(name: string, exists: (name: string) => boolean): void {
  if (!exists(name)) throw notFound({ group: "", resource: "pods" }, name);
}
