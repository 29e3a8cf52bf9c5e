/** Defaults and validation of ImagePullJob, as in OpenKruise's webhooks. */
import { change, fill, parseApiVersion } from "@flotilla/apimachinery";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { FeatureGates } from "../api/feature-gates.ts";
import { denies, requireGate } from "../api/plain-rejection.ts";
import { isHub, kruiseAdmission } from "../api/webhook.ts";
import { PULL_TIMEOUT_SECONDS } from "../pod/pull-limits.ts";
import { ImagePullJob } from "./imagepulljob-kind.ts";
import { completePull, completionProblems, imageProblems, selectorProblems } from "./pull-rules.ts";
import { PROTECTION_FINALIZER } from "./protection.ts";

type Read<T> = DeepReadonly<T>;

const WEBHOOK = "vimagepulljob.kb.io";
const MAX_INT32 = 2 ** 31 - 1;

function completeImagePullJob(job: Read<ImagePullJob>, review: Review<ImagePullJob>): Read<ImagePullJob> {
  const completed = change(job, "spec", (spec) => fill(completePull(spec), { imagePullPolicy: "IfNotPresent" }));
  // No controller of the hub would remove the finalizer. The controller of a member adds it in either version.
  const isProtected =
    review.operation === "CREATE" && !isHub(review) && parseApiVersion(job.apiVersion).version === "v1alpha1";
  return isProtected ? withFinalizer(completed) : completed;
}

function withFinalizer(job: Read<ImagePullJob>): Read<ImagePullJob> {
  const { finalizers = [] } = job.metadata;
  if (finalizers.includes(PROTECTION_FINALIZER)) return job;
  return { ...job, metadata: { ...job.metadata, finalizers: [...finalizers, PROTECTION_FINALIZER] } };
}

function* problemsOf({ spec }: Read<ImagePullJob>): Generator<string> {
  yield* selectorProblems(spec);
  if (!spec.image) yield "image can not be empty";
  yield* imageProblems(spec.image);
  yield* parallelismProblems(spec.parallelism);
  const { type, activeDeadlineSeconds } = spec.completionPolicy ?? {};
  const { timeoutSeconds = PULL_TIMEOUT_SECONDS } = spec.pullPolicy ?? {};
  if (type === "Always" && activeDeadlineSeconds !== undefined && timeoutSeconds > activeDeadlineSeconds)
    yield "completionPolicy.activeDeadlineSeconds must be greater than pullPolicy.timeoutSeconds(default 600)";
  yield* completionProblems(spec);
}

function* parallelismProblems(parallelism: number | string | undefined): Generator<string> {
  if (typeof parallelism === "string") {
    if (parallelism.endsWith("%")) yield "parallelism does not support percentage value";
    const invalid = `parallelism must be a valid integer: strconv.ParseInt: parsing ${JSON.stringify(parallelism)}:`;
    if (!/^[+-]?\d+$/.test(parallelism)) yield `${invalid} invalid syntax`;
    if (Math.abs(Number(parallelism)) > MAX_INT32) yield `${invalid} value out of range`;
  }
  if (Number(parallelism) < 0) yield "parallelism must be non-negative";
}

export const imagePullJobRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(ImagePullJob, {
    name: "imagepulljob",
    code: 400,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    complete: completeImagePullJob,
    check(review) {
      // The hub only propagates it; each member has its own gates.
      if (!isHub(review)) requireGate(WEBHOOK, gates, "ImagePullJobGate");
      return denies(WEBHOOK, problemsOf(review.object));
    },
  }),
];
