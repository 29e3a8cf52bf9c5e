/** OpenKruise's ImagePullJob: pulls an image to nodes in advance. Its two versions are identical. */
import { AGE } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import type { ImagePullJob as ImagePullJobFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { count } from "../api/columns.ts";
import { sameFields } from "../api/conversion.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { imagePullJobDescriptions } from "./imagepulljob-descriptions.ts";

export type ImagePullJob = ImagePullJobFacts;

const columns: Column[] = [
  count("TOTAL", ".status.desired"),
  count("ACTIVE", ".status.active"),
  count("SUCCEED", ".status.succeeded"),
  count("FAILED", ".status.failed"),
  AGE,
];

export const ImagePullJob = kruiseKind<ImagePullJob>({
  kind: "ImagePullJob",
  plural: "imagepulljobs",
  columns,
  conversion: sameFields,
  descriptions: imagePullJobDescriptions,
});
