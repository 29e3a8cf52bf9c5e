/** Defaults and validation of NodeImage, as in OpenKruise's webhooks; the same for both versions. */
import { change, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import type { ImageSpec, ImageTagSpec } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { denies } from "../api/plain-rejection.ts";
import { kruiseAdmission } from "../api/webhook.ts";
import { PULL_BACKOFF_LIMIT, PULL_TIMEOUT_SECONDS } from "../pod/pull-limits.ts";
import { NodeImage } from "./nodeimage-kind.ts";

type Read<T> = DeepReadonly<T>;

const MAX_IMAGES = 256;

function completeNodeImage(nodeImage: Read<NodeImage>, { nowMs }: Review<NodeImage>): Read<NodeImage> {
  const completeTag = (tag: Read<ImageTagSpec>): Read<ImageTagSpec> =>
    change(fill(tag, { createdAt: formatTime(nowMs()), pullPolicy: {} }), "pullPolicy", (policy) =>
      fill(policy ?? {}, { timeoutSeconds: PULL_TIMEOUT_SECONDS, backoffLimit: PULL_BACKOFF_LIMIT }),
    );
  const completeImage = (image: Read<ImageSpec>): Read<ImageSpec> =>
    change(image, "tags", (tags) => tags.map(completeTag));
  return change(nodeImage, "spec", (spec) =>
    change(spec ?? {}, "images", (images) =>
      Object.fromEntries(Object.entries(images ?? {}).map(([name, image]) => [name, completeImage(image)])),
    ),
  );
}

function* problemsOf({ spec }: Read<NodeImage>): Generator<string> {
  const images = Object.entries(spec?.images ?? {});
  if (images.length > MAX_IMAGES) yield `spec images length ${images.length} can not be more than ${MAX_IMAGES}`;
  for (const [name, image] of images) yield* imageProblems(name, image);
}

function* imageProblems(name: string, { tags = [] }: Partial<Read<ImageSpec>>): Generator<string> {
  if (name === "") yield "image name can not be empty";
  const seen = new Set<string>();
  for (const { tag, createdAt, version = 0, pullPolicy } of tags) {
    const full = `${name}/${tag}`;
    if (!tag) yield `tag for image ${name} can not be empty`;
    if (seen.has(tag)) yield `duplicated tag ${tag} for image ${name}`;
    seen.add(tag);
    if (createdAt === undefined) yield `createAt field for ${full} can not be empty`;
    if (version < 0) yield `version for ${full} can not be less than 0`;
    if (pullPolicy === undefined) yield `pullPolicy field for ${full} must set`;
    else if (pullPolicy.ttlSecondsAfterFinished === undefined)
      yield `pullPolicy.ttlSecondsAfterFinished for ${full} must set`;
  }
}

export const nodeImageRules = (): AnyAdmission[] => [
  kruiseAdmission(NodeImage, {
    name: "nodeimage",
    code: 400,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    complete: completeNodeImage,
    check: ({ object }) => denies("vnodeimage.kb.io", problemsOf(object)),
  }),
];
