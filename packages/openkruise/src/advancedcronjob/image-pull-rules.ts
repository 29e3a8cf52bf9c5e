/** Defaults and validation of the image pulls that an AdvancedCronJob creates. */
import { change, checkSelector, field, fill } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  ImageListPullJobSpec,
  ImageListPullJobTemplateSpec,
} from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { imageReferenceProblem } from "../pod/image-reference.ts";

type Template = DeepReadonly<ImageListPullJobTemplateSpec>;
type FullSpec = DeepReadonly<ImageListPullJobSpec>;
/** The CRD requires some of the fields, but its schema is checked after the webhook that sets defaults. */
type Spec = Partial<FullSpec>;

const PULL_TIMEOUT_SECONDS = 600;
const PULL_BACKOFF_LIMIT = 3;
const MAX_IMAGES = 255;
const MAX_ACTIVE_SECONDS = 24 * 3600;

/** As upstream: a template with a completion policy gets no other defaults either. */
export function completeImagePull(template: Template): Template {
  if (template.spec?.completionPolicy?.type) return template;
  return change(fill(template, { spec: { images: [], completionPolicy: {} } }), "spec", (spec) => {
    const filled: FullSpec = fill(spec, { completionPolicy: {}, pullPolicy: {}, imagePullPolicy: "IfNotPresent" });
    const completing = change(filled, "completionPolicy", (policy) => ({ ...policy, type: "Always" }));
    return change(completing, "pullPolicy", (policy) =>
      fill(policy, { timeoutSeconds: PULL_TIMEOUT_SECONDS, backoffLimit: PULL_BACKOFF_LIMIT }),
    );
  });
}

/** The first error only, as upstream. */
export function checkImagePull(at: string, { spec }: Template): FieldError[] {
  const given: Spec = spec ?? {};
  const [problem] = [...selectorProblems(at, given), ...imageProblems(at, given), ...completionProblems(at, given)];
  return problem ? [problem] : [];
}

function* selectorProblems(at: string, spec: Spec): Generator<FieldError> {
  const { selector, podSelector } = spec;
  const { names, matchLabels, matchExpressions } = selector ?? {};
  if (matchLabels || matchExpressions) {
    if (names)
      yield field.invalid(`${at}.selector`, selector, "can not set both names and labelSelector in this spec.selector");
    yield* labelProblems(`${at}.selector.labelSelector`, { matchLabels, matchExpressions });
  }
  if (names && new Set(names).size < names.length)
    yield field.invalid(`${at}.selector.names`, names, "duplicated name in selector names");
  if (!podSelector) return;
  if (selector) yield field.invalid(at, spec, "can not set both selector and podSelector");
  yield* labelProblems(`${at}.podSelector.labelSelector`, podSelector);
}

function labelProblems(at: string, selector: Parameters<typeof checkSelector>[1]): FieldError[] {
  return checkSelector(at, selector).map(({ message }) => field.invalid(at, selector, `invalid selector: ${message}`));
}

function* imageProblems(at: string, { images = [] }: Spec): Generator<FieldError> {
  const invalid = (problem: string): FieldError => field.invalid(`${at}.images`, images, problem);
  if (images.length === 0) yield invalid("image can not be empty");
  if (images.length > MAX_IMAGES) yield invalid(`the maximum number of images cannot > ${MAX_IMAGES}`);
  if (new Set(images).size < images.length) yield invalid("images cannot have duplicate values");
  for (const image of images) {
    const problem = imageReferenceProblem(image);
    if (problem !== undefined) yield invalid(`invalid image ${image}: ${problem}`);
  }
}

function* completionProblems(at: string, { completionPolicy = {}, pullPolicy }: Spec): Generator<FieldError> {
  const { type = "", activeDeadlineSeconds, ttlSecondsAfterFinished } = completionPolicy;
  const path = `${at}.completionPolicy`;
  if (type !== "Always") {
    yield field.invalid(`${path}.type`, type, `completionPolicy should be Always, but current value is: ${type}`);
    return;
  }
  if (activeDeadlineSeconds !== undefined) {
    const { timeoutSeconds } = pullPolicy ?? {};
    if (activeDeadlineSeconds > MAX_ACTIVE_SECONDS)
      yield field.invalid(
        `${path}.activeDeadlineSeconds`,
        activeDeadlineSeconds,
        `activeDeadlineSeconds must be less than ${MAX_ACTIVE_SECONDS}, current value is: ${activeDeadlineSeconds}`,
      );
    if (timeoutSeconds !== undefined && timeoutSeconds > activeDeadlineSeconds)
      yield field.invalid(
        `${path}.activeDeadlineSeconds`,
        activeDeadlineSeconds,
        `completionPolicy.activeDeadlineSeconds must be greater than pullPolicy.timeoutSeconds(${timeoutSeconds})`,
      );
  }
  if (ttlSecondsAfterFinished !== undefined)
    yield field.invalid(
      `${path}.ttlSecondsAfterFinished`,
      ttlSecondsAfterFinished,
      "ttlSecondsAfterFinished is not supported in advancedCronJob",
    );
}
