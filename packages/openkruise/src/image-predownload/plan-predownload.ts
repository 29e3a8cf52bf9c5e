/**
 * Whether the images of an update are pulled to the nodes before its pods are updated in place. Pure.
 *
 * A batch then waits for containers to restart and not for a registry. It is useless where the pods are created again,
 * possibly on other nodes, where there are few of them, and where all are updated at once.
 */
import {
  PREDOWNLOAD_MIN_READY_ANNOTATION,
  PREDOWNLOAD_PARALLELISM_ANNOTATION,
  PREDOWNLOAD_TIMEOUT_ANNOTATION,
} from "../api/kruise-names.ts";
import { controllerReference, formatApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { ImagePullJob } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { podTemplateOf, REVISION_LABEL, CONTROLLER_REVISION_HASH_LABEL } from "@flotilla/kubernetes";
import type { ReadonlyRevision } from "@flotilla/kubernetes";
import { strictShare } from "../int-or-percent.ts";

/** On the revision. The first name is upstream's, with its slip. */
const CREATED_LABEL = "apps.kruise.io/pre-predownload-created";
const IGNORED_LABEL = "apps.kruise.io/image-predownload-ignored";

const TIMEOUT_SECONDS = 300;
const TTL_SECONDS = 600;

export type ReadonlyPullJob = DeepReadonly<ImagePullJob>;

/** What the three workloads have in common. */
export interface UpdateView {
  kind: Pick<Kind, "group" | "kind" | "storageVersion">;
  workload: DeepReadonly<KubernetesObject>;
  selector: DeepReadonly<LabelSelector> | undefined;
  template: DeepReadonly<PodTemplateSpec>;
  replicas: number;
  /** Updated and ready; undefined where it does not matter. */
  updatedReady: number;
  /** Unset when all pods have the update revision. */
  update?: ReadonlyRevision;
  /** The other revisions that pods may have. */
  earlier: readonly ReadonlyRevision[];
  /** The hash of the update revision. */
  hash: string;
  /** All pods are replaced, all at once, or there are too few. */
  isUseless: boolean;
}

export interface PreDownload {
  create: readonly ReadonlyPullJob[];
  /** The labels of the revision: it is decided once. */
  label?: Record<string, string>;
  /** The rollout is over. */
  removeAll?: true;
}

const NOTHING: PreDownload = { create: [] };

export function planPreDownload(view: UpdateView): PreDownload {
  const { update, workload } = view;
  if (!update) return { create: [], removeAll: true };
  const labels = update.metadata.labels ?? {};
  if (labels[CREATED_LABEL] !== undefined || labels[IGNORED_LABEL] !== undefined) return NOTHING;
  const least = workload.metadata.annotations?.[PREDOWNLOAD_MIN_READY_ANNOTATION];
  if (least !== undefined && view.updatedReady < leastOf(least, view.replicas)) return NOTHING;
  if (view.isUseless) return { create: [], label: { [IGNORED_LABEL]: "true" } };
  const images = changedImages(view.earlier, update);
  return {
    create: [...images].map(([container, image]) => makeJob(view, update, container, image)),
    label: { [CREATED_LABEL]: "true" },
  };
}

const leastOf = (text: string, replicas: number): number =>
  (/^\d+$/.test(text) ? Number(text) : strictShare(text, replicas, "up")) ?? 0;

/** By container. */
function changedImages(earlier: readonly ReadonlyRevision[], update: ReadonlyRevision): Map<string, string> {
  const before = earlier.map((revision) => podTemplateOf(revision).spec?.containers ?? []);
  const images = new Map<string, string>();
  for (const { name, image = "" } of podTemplateOf(update).spec?.containers ?? []) {
    const known = before.flatMap((containers) => containers.filter((container) => container.name === name));
    if (known.length === 0 || known.some((container) => container.image !== image)) images.set(name, image);
  }
  return images;
}

function makeJob(view: UpdateView, update: ReadonlyRevision, container: string, image: string): ReadonlyPullJob {
  const { kind, workload, selector, template, hash } = view;
  const { annotations = {}, namespace } = workload.metadata;
  const labels = { ...template.metadata?.labels, [CONTROLLER_REVISION_HASH_LABEL]: hash };
  const secrets = template.spec?.imagePullSecrets?.map(({ name = "" }) => name) ?? [];
  const isUpdated = { key: REVISION_LABEL, operator: "NotIn", values: [update.metadata.name, hash] };
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "ImagePullJob",
    metadata: {
      name: `${update.metadata.name}-${container}`,
      namespace,
      labels,
      ownerReferences: [
        controllerReference({
          ...workload,
          apiVersion: formatApiVersion(kind.group, kind.storageVersion),
          kind: kind.kind,
        }),
      ],
    },
    spec: {
      image,
      pullSecrets: secrets.length > 0 ? secrets : undefined,
      podSelector: { ...selector, matchExpressions: [...(selector?.matchExpressions ?? []), isUpdated] },
      parallelism: wholeNumber(annotations[PREDOWNLOAD_PARALLELISM_ANNOTATION]) ?? 1,
      pullPolicy: {
        backoffLimit: 1,
        timeoutSeconds: wholeNumber(annotations[PREDOWNLOAD_TIMEOUT_ANNOTATION]) ?? TIMEOUT_SECONDS,
      },
      completionPolicy: { type: "Always", ttlSecondsAfterFinished: TTL_SECONDS },
      sandboxConfig: { labels, annotations: template.metadata?.annotations },
    },
  };
}

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^[+-]?\d{1,9}$/.test(text) ? Number(text) : undefined;
