import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { StorageClass } from "./storageclass-kind.ts";
import { rules } from "./storageclass-rules.ts";

export const storageClass = defineKind({
  kind: StorageClass,
  rules,
  example: exampleOf(StorageClass, { provisioner: "example.com/disk" }),
});
