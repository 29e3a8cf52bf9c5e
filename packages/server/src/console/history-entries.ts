/** Events and writes of an object as lines of its history. Pure. */
import { HUB } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { bindingName, clusterNameOf, workName } from "@flotilla/karmada";
import type { Event } from "@flotilla/kubernetes";
import type { HistoryEntry, ObjectRef } from "@flotilla/web";

type AnyEvent = DeepReadonly<Pick<Event, "metadata" | "involvedObject">> & Partial<DeepReadonly<Event>>;

/** Events of the object itself, of its binding, and of its Works on all members. */
export function concerns({ involvedObject, metadata }: AnyEvent, { kind, name, namespace }: ObjectRef): boolean {
  const about = involvedObject.name ?? "";
  const place = involvedObject.namespace ?? metadata.namespace ?? "";
  // All Works of a member share one namespace; their names have a hash of kind, name and namespace.
  if (involvedObject.kind === "Work")
    return clusterNameOf(place) !== undefined && about === workName(kind, name, namespace);
  if (namespace !== "" && place !== namespace) return false;
  if (involvedObject.kind === kind && about === name) return true;
  const binding = namespace === "" ? "ClusterResourceBinding" : "ResourceBinding";
  return involvedObject.kind === binding && about === bindingName(kind, name);
}

export function entryOf(event: AnyEvent): HistoryEntry {
  const { metadata, involvedObject, reason, message, type, lastTimestamp, eventTime, count, source } = event;
  const controller = event.reportingComponent || source?.component || "";
  const about = `${involvedObject.kind ?? ""} ${involvedObject.namespace ? `${involvedObject.namespace}/` : ""}${involvedObject.name ?? ""}`;
  const member = clusterNameOf(involvedObject.namespace ?? "");
  return {
    at: lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "",
    place: member ?? (involvedObject.kind === "Cluster" ? (involvedObject.name ?? HUB) : HUB),
    type: /drift/i.test(reason ?? "")
      ? "drift"
      : /Schedul/.test(reason ?? "")
        ? "decision"
        : type === "Warning"
          ? "warning"
          : "event",
    object: about,
    who: controller,
    text: `${reason ?? ""}: ${message ?? ""}`,
    count: count ?? 1,
  };
}

const MAX_FIELDS = 12;

/** The names of leaf fields: `spec.replicas`, `metadata.labels.app`. */
export function fieldsOf(fields: JsonObject | undefined): string[] {
  const found: string[] = [];
  const walk = (node: JsonObject, path: string, depth: number): void => {
    const children = Object.entries(node).filter(([key]) => key.startsWith("f:"));
    if (children.length === 0 || depth >= 3) {
      if (path !== "") found.push(path);
      return;
    }
    for (const [key, child] of children)
      walk(isObject(child) ? child : {}, path === "" ? key.slice(2) : `${path}.${key.slice(2)}`, depth + 1);
  };
  walk(fields ?? {}, "", 0);
  const unique = [...new Set(found)];
  return unique.length > MAX_FIELDS
    ? [...unique.slice(0, MAX_FIELDS), `and ${unique.length - MAX_FIELDS} more`]
    : unique;
}
