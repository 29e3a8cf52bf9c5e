import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { pullTemplateDescriptions } from "../imagepulljob/imagepulljob-descriptions.ts";

export const imageListPullJobDescriptions: FieldDescriptions = {
  "": "Pulls several images to nodes in advance, with an ImagePullJob for each. Needs OpenKruise's feature gate ImagePullJobGate on the member.",
  ...descriptionsAt("spec", pullTemplateDescriptions),
  spec: "The images and the nodes. Each member pulls them to its own nodes.",
  "spec.images": "The images to pull, each once; at most 255.",
  status: "The observed state; on the hub, summed over the members.",
  "status.desired": "Images to pull.",
  "status.active": "Images that nodes pull.",
  "status.completed": "Images that all nodes have pulled or failed to pull.",
  "status.succeeded": "Images that all nodes have pulled.",
  "status.failedImageStatuses": "Images that some nodes could not pull.",
  "status.failedImageStatuses[].imagePullJob": "The ImagePullJob of the image.",
  "status.failedImageStatuses[].name": "The image.",
  "status.failedImageStatuses[].message": "Where to look for details.",
  "status.startTime": "When the job started.",
  "status.completionTime": "When the job ended.",
};
