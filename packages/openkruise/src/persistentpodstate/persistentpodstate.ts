/** PersistentPodState: members run it; the hub interprets it and serves it if its CRD is installed. */
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { persistentPodStateInterpreter } from "./persistentpodstate-interpreter.ts";

export const persistentPodState = defineKruiseKind({
  kind: { group: "apps.kruise.io", kind: "PersistentPodState" },
  interpreter: persistentPodStateInterpreter,
});
