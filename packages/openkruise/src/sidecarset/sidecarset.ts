/** SidecarSet: everything that Flotilla knows about the kind. */
import { exampleOf, exampleWorkload } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createSidecarSetAdmission } from "./sidecarset-admission.ts";
import { createSidecarSetController } from "./sidecarset-controller.ts";
import { withOwnVersion } from "./sidecarset-defaults.ts";
import { sidecarSetInterpreter } from "./sidecarset-interpreter.ts";
import { SidecarSet } from "./sidecarset-kind.ts";
import { sidecarSetStates } from "./sidecarset-metrics.ts";
import { sidecarSetRules } from "./sidecarset-rules.ts";

export const sidecarSet = defineKruiseKind({
  kind: SidecarSet,
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
});
