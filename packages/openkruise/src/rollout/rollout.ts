/** Rollout: members run it; the hub interprets it and serves it if its CRD is installed. */
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { kruiseRolloutInterpreter } from "./rollout-interpreter.ts";

export const kruiseRollout = defineKruiseKind({
  kind: { group: "rollouts.kruise.io", kind: "Rollout" },
  interpreter: kruiseRolloutInterpreter,
});
