/** ImageListPullJob: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createImageListPullJobController } from "./imagelistpulljob-controller.ts";
import { imageListPullJobInterpreter } from "./imagelistpulljob-interpreter.ts";
import { ImageListPullJob } from "./imagelistpulljob-kind.ts";
import { imageListPullJobRules } from "./imagelistpulljob-rules.ts";

export const imageListPullJob = defineKruiseKind({
  kind: ImageListPullJob,
  example: exampleOf(ImageListPullJob, { spec: { images: ["nginx:1"] } }),
  rules: imageListPullJobRules,
  interpreter: imageListPullJobInterpreter,
  controllers: (deps) =>
    (deps.gates ?? DEFAULT_GATES).isOn("ImagePullJobGate") ? [createImageListPullJobController(deps)] : [],
});
