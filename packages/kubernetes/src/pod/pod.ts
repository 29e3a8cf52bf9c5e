import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleTemplate } from "./pod-example.ts";
import { podProgress } from "./pod-progress.ts";
import { createPodGarbageController } from "./pod-garbage-controller.ts";
import { podInterpreter } from "./pod-interpreter.ts";
import { Pod } from "./pod-kind.ts";
import { rules } from "./pod-rules.ts";

export const pod = defineKind({
  kind: Pod,
  rules,
  interpreter: podInterpreter,
  controllers: (deps) => [createPodGarbageController(deps)],
  feedback: {
    versions: ["v1"],
    values: [
      ["PodReady", '.status.conditions[?(@.type=="Ready")].status'],
      ["PodPhase", ".status.phase"],
    ],
  },
  progress: podProgress,
  example: exampleOf(Pod, { spec: exampleTemplate.spec }),
});
