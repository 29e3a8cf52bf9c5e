/** Images that are downloaded in advance of nothing. */
import { labelsAt, valueAt } from "../fields.ts";
import { keepsSome, partitionOf, PARTITIONED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

const ANNOTATION = "apps.kruise.io/image-predownload-parallelism";

export const kruisePredownload = defineRule({
  id: "kruise-predownload",
  severity: "warning",
  summary: "images are downloaded in advance only while a partition holds pods back",
  why: "OpenKruise downloads the new image to the nodes of pods that wait. Without a partition no pod waits, and nothing is downloaded in advance, in any cluster.",
  fix: 'Begin the release with a partition, for example `partition: "100%"`, and lower it when the nodes have the image.',
  *check({ of }) {
    for (const manifest of of(...PARTITIONED)) {
      const path =
        labelsAt(manifest.object, "metadata", "annotations")[ANNOTATION] === undefined
          ? ["spec", "updateStrategy", "rollingUpdate", "inPlaceUpdateStrategy", "imagePreDownloadParallelism"]
          : ["metadata", "annotations", ANNOTATION];
      if (valueAt(manifest.object, ...path) !== undefined && !keepsSome(partitionOf(manifest)))
        yield { manifest, path, message: "there is no partition" };
    }
  },
});
