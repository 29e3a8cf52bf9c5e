/** Finds image pre-downloads that never happen. */
import { PREDOWNLOAD_PARALLELISM_ANNOTATION } from "@flotilla/openkruise";
import { labelsAt, valueAt } from "../fields.ts";
import { keepsSome, partitionOf, PARTITIONED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruisePredownload = defineRule({
  id: "kruise-predownload",
  severity: "warning",
  summary: "images are pre-downloaded only while a partition holds pods back",
  why: "OpenKruise downloads the new image to the nodes of pods that wait. Without a partition no pod waits, and nothing is pre-downloaded in any cluster.",
  fix: 'Start the release with a partition, for example `partition: "100%"`, and lower it when the nodes have the image.',
  *check({ of }) {
    for (const manifest of of(...PARTITIONED)) {
      const path =
        labelsAt(manifest.object, "metadata", "annotations")[PREDOWNLOAD_PARALLELISM_ANNOTATION] === undefined
          ? ["spec", "updateStrategy", "rollingUpdate", "inPlaceUpdateStrategy", "imagePreDownloadParallelism"]
          : ["metadata", "annotations", PREDOWNLOAD_PARALLELISM_ANNOTATION];
      if (valueAt(manifest.object, ...path) !== undefined && !keepsSome(partitionOf(manifest)))
        yield { manifest, path, message: "no partition is set" };
    }
  },
});
