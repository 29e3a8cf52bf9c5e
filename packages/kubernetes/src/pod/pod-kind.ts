/** Pod: containers that run together on a node. */
import { ageColumn, builtInKind, column, nameColumn, wide } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Pod as PodFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import { podReady, podRestarts, podStatus, readinessGates } from "./pod-cells.ts";
import { ephemeralContainersPart } from "./pod-ephemeral.ts";
import { resizePart } from "./pod-resize.ts";

export type Pod = PodFacts;

const textIn = (part: unknown, field: string): string =>
  String((part as Readonly<Record<string, string | boolean>> | undefined)?.[field] ?? "");

export const Pod: Kind<Pod> = builtInKind<Pod>({
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  shortNames: ["po"],
  categories: ["all"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<Pod>("Ready", podReady),
    column<Pod>("Status", podStatus),
    column<Pod>("Restarts", podRestarts),
    ageColumn,
    column<Pod>("IP", ({ status }) => status?.podIPs?.[0]?.ip || "<none>", wide),
    column<Pod>("Node", ({ spec }) => spec.nodeName || "<none>", wide),
    column<Pod>("Nominated Node", ({ status }) => status?.nominatedNodeName || "<none>", wide),
    column<Pod>("Readiness Gates", readinessGates, wide),
  ],
  subresources: {
    status: true,
    parts: { ephemeralcontainers: ephemeralContainersPart, resize: resizePart },
    actions: {
      binding: { group: "", version: "v1", kind: "Binding" },
      eviction: { group: "policy", version: "v1", kind: "Eviction" },
    },
  },
  hasGeneration: true,
  traits: {
    untrackedByControllers: "others",
    deletionReturnsObject: true,
    selectableFields: {
      "spec.nodeName": ({ spec }) => textIn(spec, "nodeName"),
      // The name of the field before Kubernetes 1.0.
      "spec.host": ({ spec }) => textIn(spec, "nodeName"),
      "spec.restartPolicy": ({ spec }) => textIn(spec, "restartPolicy"),
      "spec.schedulerName": ({ spec }) => textIn(spec, "schedulerName"),
      "spec.serviceAccountName": ({ spec }) => textIn(spec, "serviceAccountName"),
      "spec.hostNetwork": ({ spec }) => textIn(spec, "hostNetwork") || "false",
      "status.phase": ({ status }) => textIn(status, "phase"),
      "status.podIP": ({ status }) => textIn(status, "podIP"),
      // A known field that never matches: a list has no text.
      "status.podIPs": () => "",
      "status.nominatedNodeName": ({ status }) => textIn(status, "nominatedNodeName"),
    },
  },
});
