/** ImagePullJob: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createNodeImageController } from "../nodeimage/nodeimage-controller.ts";
import { createImagePullJobController } from "./imagepulljob-controller.ts";
import { imagePullJobInterpreter } from "./imagepulljob-interpreter.ts";
import { ImagePullJob } from "./imagepulljob-kind.ts";
import { imagePullJobRules } from "./imagepulljob-rules.ts";

export const imagePullJob = defineKruiseKind({
  kind: ImagePullJob,
  example: exampleOf(ImagePullJob, { spec: { image: "nginx:1" } }),
  rules: imagePullJobRules,
  interpreter: imagePullJobInterpreter,
  controllers: (deps) =>
    (deps.gates ?? DEFAULT_GATES).isOn("ImagePullJobGate")
      ? [createNodeImageController(deps, ImagePullJob), createImagePullJobController(deps)]
      : [],
});
