import { defineKind } from "@flotilla/kubernetes";
import { Work } from "./work-kind.ts";

const example: Work = {
  apiVersion: "work.karmada.io/v1alpha1",
  kind: "Work",
  metadata: { name: "web", namespace: "shop" },
  spec: {},
};

/** Its rules need to know what kinds mean, so the interpreter hands them in (`createWorkAdmissions`). */
export const work = defineKind({
  kind: Work,
  example,
});
