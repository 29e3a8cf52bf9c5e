/** The NodeImages of the nodes that an ImagePullJob selects, and the jobs that a change concerns. */
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { keyOf } from "@flotilla/controller-runtime";
import type { Informers, ObjectEvent } from "@flotilla/controller-runtime";
import { isActive, Pod } from "@flotilla/kubernetes";
import type { ReadonlyPod, Secret } from "@flotilla/kubernetes";
import { NodeImage } from "../nodeimage/nodeimage-kind.ts";
import { ImagePullJob } from "./imagepulljob-kind.ts";
import type { ReadonlyImagePullJob, ReadonlyNodeImage } from "./plan-imagepulljob.ts";

const RUNNING = "running";
const RUNNING_BY_PODS = "running-by-pods";
const RUNNING_BY_SECRET = "running-by-secret";

export interface JobNodes {
  of(job: ReadonlyImagePullJob, cluster: string): ReadonlyNodeImage[];
  /** The running jobs that a change of a NodeImage concerns. */
  jobsOfNodeImage(event: ObjectEvent<NodeImage>): ObjectKey[];
  /** The running jobs that a pod that starts or ends on a node concerns. */
  jobsOfPod(event: ObjectEvent<Pod>): ObjectKey[];
  /** The running jobs that name a Secret. */
  jobsOfSecret(event: ObjectEvent<Secret>): ObjectKey[];
}

/** What the selection reads of a cluster. */
interface SelectionReader {
  named(name: string): ReadonlyNodeImage | undefined;
  all(): readonly ReadonlyNodeImage[];
  /** In the namespace of the job. */
  pods(): readonly ReadonlyPod[];
}

/** The NodeImages of the job's nodes: those of its pods, the named ones, or those with its labels. Pure. */
export function selectNodeImages(
  { spec: { selector, podSelector } }: ReadonlyImagePullJob,
  { named, all, pods }: SelectionReader,
): ReadonlyNodeImage[] {
  const ofNames = (names: Iterable<string>): ReadonlyNodeImage[] =>
    [...new Set(names)].flatMap((name) => named(name) ?? []);
  if (podSelector) {
    const labels = labelSelectorOf(podSelector);
    const chosen = pods().filter(
      (pod) => isActive(pod) && pod.spec.nodeName && matchesLabels(labels, pod.metadata.labels ?? {}),
    );
    return ofNames(chosen.map((pod) => pod.spec.nodeName ?? ""));
  }
  if (selector?.names) return ofNames(selector.names);
  if (!selector) return [...all()];
  const labels = labelSelectorOf(selector);
  return all().filter((one) => matchesLabels(labels, one.metadata.labels ?? {}));
}

/** Call it once per set of informers, because it adds indexes to them. */
export function createJobNodes(informers: Informers): JobNodes {
  const jobs = informers.of(ImagePullJob);
  const nodeImages = informers.of(NodeImage);
  const pods = informers.of(Pod);
  const isRunning = (job: ReadonlyImagePullJob): boolean =>
    job.status?.completionTime === undefined && job.metadata.deletionTimestamp === undefined;
  jobs.addIndex(RUNNING, (job, cluster) => (isRunning(job) ? [cluster] : []));
  jobs.addIndex(RUNNING_BY_PODS, (job, cluster) =>
    isRunning(job) && job.spec.podSelector ? [`${cluster}/${job.metadata.namespace ?? ""}`] : [],
  );

  jobs.addIndex(RUNNING_BY_SECRET, (job, cluster) =>
    isRunning(job)
      ? (job.spec.pullSecrets ?? []).map((name) => `${cluster}/${job.metadata.namespace ?? ""}/${name}`)
      : [],
  );

  return {
    of: (job, cluster) =>
      selectNodeImages(job, {
        named: (name) => nodeImages.get({ cluster, name }),
        all: () => nodeImages.list({ cluster }),
        pods: () => pods.list({ cluster, namespace: job.metadata.namespace }),
      }),

    jobsOfNodeImage({ cluster, object, old, deleted }) {
      const running = jobs.by(RUNNING, cluster);
      const owners = new Set(
        Object.values(object.spec?.images ?? {}).flatMap(({ tags }) =>
          tags.flatMap(({ ownerReferences = [] }) => ownerReferences.map(({ uid }) => uid)),
        ),
      );
      const changesNodes = deleted || !old || !equalJson(old.metadata.labels, object.metadata.labels);
      return running
        .filter(({ metadata }) => changesNodes || owners.has(metadata.uid))
        .map((job) => keyOf(cluster, job));
    },

    jobsOfSecret: ({ cluster, object: { metadata } }) =>
      jobs
        .by(RUNNING_BY_SECRET, `${cluster}/${metadata.namespace ?? ""}/${metadata.name}`)
        .map((job) => keyOf(cluster, job)),

    jobsOfPod({ cluster, object, old, deleted }) {
      const isOnNode = (pod: typeof object | undefined): boolean =>
        pod !== undefined && isActive(pod) && pod.spec.nodeName !== undefined;
      if (!deleted && isOnNode(old) === isOnNode(object) && old?.metadata.labels === object.metadata.labels) return [];
      return jobs
        .by(RUNNING_BY_PODS, `${cluster}/${object.metadata.namespace ?? ""}`)
        .map((job) => keyOf(cluster, job));
    },
  };
}
