import { defineKind } from "@flotilla/kubernetes";
import { rolloutInterpreter } from "./rollout-interpreter.ts";

export const rollout = defineKind({
  kind: { group: "argoproj.io", kind: "Rollout" },
  interpreter: rolloutInterpreter,
  progress: "health",
});
