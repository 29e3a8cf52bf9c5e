import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { persistentVolumeClaimInterpreter } from "./persistentvolumeclaim-interpreter.ts";
import { PersistentVolumeClaim } from "./persistentvolumeclaim-kind.ts";
import { rules } from "./persistentvolumeclaim-rules.ts";

export const persistentVolumeClaim = defineKind({
  kind: PersistentVolumeClaim,
  rules,
  interpreter: persistentVolumeClaimInterpreter,
  example: exampleOf(PersistentVolumeClaim, {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  }),
});
