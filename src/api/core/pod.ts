/** Pod: containers that run together on a node. */
import { equalJson } from "../../base/index.ts";
import type { AnyAdmission } from "../admission.ts";
import { ageColumn, column, nameColumn, wide } from "../columns.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { Pod as PodFacts } from "../facts/core-v1.ts";
import { change } from "../fill.ts";
import type { Kind } from "../kind.ts";
import { completeNewPod } from "./pod-admission.ts";
import { podReady, podRestarts, podStatus, readinessGates } from "./pod-cells.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { checkPodSpec, checkPodUpdate } from "./pod-validation.ts";

export type Pod = PodFacts;

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
    column<Pod>("IP", ({ status }) => status?.podIPs?.[0]?.ip || status?.podIP || "<none>", wide),
    column<Pod>("Node", ({ spec }) => spec.nodeName || "<none>", wide),
    column<Pod>("Nominated Node", ({ status }) => status?.nominatedNodeName || "<none>", wide),
    column<Pod>("Readiness Gates", readinessGates, wide),
  ],
  subresources: { status: true },
  hasGeneration: true,
});

export const admissions: AnyAdmission[] = [
  builtInAdmission(Pod, "core-v1", {
    complete(pod, { operation, newUid }) {
      const defaulted = change(pod, "spec", (spec) => defaultPodSpec(spec));
      return operation === "CREATE" && defaulted.spec?.containers ? completeNewPod(defaulted, newUid) : defaulted;
    },
    validate: ({ object, oldObject }) => (oldObject ? checkPodUpdate(object.spec, oldObject.spec, equalJson) : checkPodSpec("spec", object.spec)),
  }),
];
