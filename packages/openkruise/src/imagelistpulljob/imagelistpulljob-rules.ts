/** Defaults and validation of ImageListPullJob, as in OpenKruise's webhooks; the same for both versions. */
import { change, parseApiVersion } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { FeatureGates } from "../api/feature-gates.ts";
import { denies, requireGate } from "../api/plain-rejection.ts";
import { isHub, kruiseAdmission } from "../api/webhook.ts";
import { completePull, completionProblems, imageProblems, selectorProblems } from "../imagepulljob/pull-rules.ts";
import { ImageListPullJob } from "./imagelistpulljob-kind.ts";

const WEBHOOK = "vimagelistpulljob.kb.io";
const MAX_IMAGES = 255;

/** As upstream: in v1beta1 a completion policy prevents the other defaults. */
function completeImageListPullJob(job: DeepReadonly<ImageListPullJob>): DeepReadonly<ImageListPullJob> {
  const isBeta = parseApiVersion(job.apiVersion).version === "v1beta1";
  return isBeta && job.spec.completionPolicy?.type ? job : change(job, "spec", completePull);
}

function* problemsOf({ spec }: DeepReadonly<ImageListPullJob>): Generator<string> {
  const images = (spec as Partial<typeof spec>).images ?? [];
  yield* selectorProblems(spec);
  if (images.length === 0) yield "image can not be empty";
  if (new Set(images).size < images.length) yield "images cannot have duplicate values";
  if (images.length > MAX_IMAGES) yield `the maximum number of images cannot > ${MAX_IMAGES}`;
  for (const image of images) yield* imageProblems(image);
  yield* completionProblems(spec);
}

export const imageListPullJobRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(ImageListPullJob, {
    name: "imagelistpulljob",
    code: 400,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    complete: completeImageListPullJob,
    check(review) {
      // The hub only propagates it; each member has its own gates.
      if (!isHub(review)) requireGate(WEBHOOK, gates, "ImagePullJobGate");
      return denies(WEBHOOK, problemsOf(review.object));
    },
  }),
];
