/** ImageListPullJob: members run it; the hub interprets it and serves it if its CRD is installed. */
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { imageListPullJobInterpreter } from "./imagelistpulljob-interpreter.ts";

export const imageListPullJob = defineKruiseKind({
  kind: { group: "apps.kruise.io", kind: "ImageListPullJob" },
  interpreter: imageListPullJobInterpreter,
});
