import { defineKind } from "../definition/kind-definition.ts";
import { serviceImportInterpreter } from "./serviceimport-interpreter.ts";

export const serviceImport = defineKind({
  kind: { group: "multicluster.x-k8s.io", kind: "ServiceImport" },
  interpreter: serviceImportInterpreter,
});
