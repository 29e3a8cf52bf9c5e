/** OpenKruise's ImageListPullJob: pulls several images to nodes in advance. Its two versions are identical. */
import { AGE } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import type { ImageListPullJob as ImageListPullJobFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { count } from "../api/columns.ts";
import { sameFields } from "../api/conversion.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { imageListPullJobDescriptions } from "./imagelistpulljob-descriptions.ts";

export type ImageListPullJob = ImageListPullJobFacts;

const columns: Column[] = [
  count("TOTAL", ".status.desired"),
  count("SUCCEEDED", ".status.succeeded"),
  count("COMPLETED", ".status.completed"),
  AGE,
];

export const ImageListPullJob = kruiseKind<ImageListPullJob>({
  kind: "ImageListPullJob",
  plural: "imagelistpulljobs",
  columns,
  conversion: sameFields,
  descriptions: imageListPullJobDescriptions,
});
