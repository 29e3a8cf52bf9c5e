/** ImagePullJob: members run it; the hub interprets it and serves it if its CRD is installed. */
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { imagePullJobInterpreter } from "./imagepulljob-interpreter.ts";

export const imagePullJob = defineKruiseKind({
  kind: { group: "apps.kruise.io", kind: "ImagePullJob" },
  interpreter: imagePullJobInterpreter,
});
