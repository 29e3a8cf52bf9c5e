import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { persistentVolumeInterpreter } from "./persistentvolume-interpreter.ts";
import { PersistentVolume } from "./persistentvolume-kind.ts";
import { rules } from "./persistentvolume-rules.ts";

export const persistentVolume = defineKind({
  kind: PersistentVolume,
  rules,
  interpreter: persistentVolumeInterpreter,
  example: exampleOf(PersistentVolume, {
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" } },
  }),
});
