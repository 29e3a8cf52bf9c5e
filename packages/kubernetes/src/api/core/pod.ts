/** Pod: containers that run together on a node. */
import type { DeepReadonly } from "@flotilla/base";
import type { FieldError } from "@flotilla/apimachinery";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import { ageColumn, column, nameColumn, wide } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { Pod as PodFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { podReady, podRestarts, podStatus, readinessGates } from "./pod-cells.ts";
import { completePod } from "./pod-defaults.ts";
import { checkEphemeralContainersUpdate, ephemeralContainersPart } from "./pod-ephemeral.ts";
import { preparePod } from "./pod-prepare.ts";
import { checkResize, resizePart } from "./pod-resize.ts";
import { checkPodStatus, completePodStatus } from "./pod-status-update.ts";
import { checkPodUpdate } from "./pod-update.ts";
import { checkNewPod } from "./pod-validation.ts";
import { hostnameWarning, podWarnings } from "./pod-warnings.ts";

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

/**
 * Whether validating this new pod would produce the same result as its sibling. Only the names of ephemeral volume
 * claims depend on the pod's own name.
 */
function hasSameValidation({ metadata, spec }: DeepReadonly<Pod>, sibling: DeepReadonly<Pod>): boolean {
  return (
    spec === sibling.spec &&
    metadata.annotations === sibling.metadata.annotations &&
    !spec.volumes?.some(({ ephemeral }) => ephemeral)
  );
}

function checkWrite({ object, oldObject, subresource, byController, settled, sibling }: Review<Pod>): FieldError[] {
  if (!oldObject) return sibling && hasSameValidation(object, sibling) ? [] : checkNewPod(object);
  if (subresource === "ephemeralcontainers") return checkEphemeralContainersUpdate(object, oldObject);
  return subresource === "resize"
    ? checkResize(object, oldObject)
    : checkPodUpdate(object, oldObject, { mayPlace: byController === true, settled });
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(Pod, "core-v1", {
    complete: completePod,
    prepare: preparePod,
    validate: checkWrite,
    completeStatus: (pod, { oldObject }) => completePodStatus(pod, oldObject),
    validateStatus: ({ object, oldObject }) => (oldObject ? checkPodStatus(object, oldObject) : []),
    warnings: ({ operation, object: { metadata, spec } }) =>
      operation === "CREATE"
        ? [
            ...hostnameWarning(metadata.name, "the Pod's hostname"),
            ...podWarnings("", spec, metadata.annotations, false),
          ]
        : [],
  }),
];
