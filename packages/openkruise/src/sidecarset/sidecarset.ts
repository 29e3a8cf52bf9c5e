/** SidecarSet: everything that Flotilla knows about the kind. */
import { exampleOf, exampleWorkload } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createSidecarSetAdmission } from "./admission.ts";
import { createSidecarSetController } from "./sidecarset-controller.ts";
import { withOwnVersion } from "./sidecarset-defaults.ts";
import { sidecarSetInterpreter } from "./sidecarset-interpreter.ts";
import { SidecarSet } from "./sidecarset-kind.ts";
import { sidecarSetStates } from "./sidecarset-metrics.ts";
import { sidecarSetRules } from "./sidecarset-rules.ts";

export const sidecarSet = defineKruiseKind({
  kind: SidecarSet,
  summary: "Containers that are injected into pods on creation, and updated independently.",
  example: exampleOf(SidecarSet, {
    spec: { selector: exampleWorkload.selector, containers: [{ name: "log", image: "log:1" }] },
  }),
  rules: sidecarSetRules,
  webhooks: (options) => [createSidecarSetAdmission(options)],
  expandShorthand: (manifest, warn) => withOwnVersion(manifest as unknown as DeepReadonly<SidecarSet>, { warn }),
  interpreter: sidecarSetInterpreter,
  controllers: (deps) => [createSidecarSetController(deps)],
  states: sidecarSetStates,
  progress: "health",
  feedback: {
    values: [
      ["MatchedPods", ".status.matchedPods"],
      ["UpdatedPods", ".status.updatedPods"],
      ["ReadyPods", ".status.readyPods"],
    ],
  },
  fieldNotes: {
    "spec.selector": "Selects the pods that get the sidecars.",
    "spec.namespaceSelector": "Selects the namespaces of the pods.",
    "spec.containers": "The sidecars.",
    "spec.initContainers": "Containers that run before the others.",
    "spec.injectionStrategy": "The revision that new pods get, or a pause of the injection.",
    "spec.updateStrategy.partition": "How many pods keep the old sidecars, counted over the fleet.",
    "spec.patchPodMetadata": "Annotations added to the pods.",
  },
});
