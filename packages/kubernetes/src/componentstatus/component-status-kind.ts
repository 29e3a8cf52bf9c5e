/**
 * ComponentStatus: reports on a controller manager, a scheduler and etcd beside the API server. None is a process of its
 * own here, so there is never an object; the kind is served because clients expect it in discovery.
 */
import { builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ComponentStatus as ComponentStatusFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type ComponentStatus = ComponentStatusFacts;

export const ComponentStatus: Kind<ComponentStatus> = {
  ...builtInKind<ComponentStatus>({
    group: "",
    version: "v1",
    kind: "ComponentStatus",
    plural: "componentstatuses",
    singular: "componentstatus",
    shortNames: ["cs"],
    scope: "Cluster",
    facts: "core-v1",
    columns: [
      nameColumn,
      column<ComponentStatus>("Status", () => ""),
      column<ComponentStatus>("Message", () => ""),
      column<ComponentStatus>("Error", () => ""),
    ],
    verbs: ["get", "list"],
    deprecationWarning: "v1 ComponentStatus is deprecated in v1.19+",
  }),
  source: { get: () => undefined, list: () => [] },
};
