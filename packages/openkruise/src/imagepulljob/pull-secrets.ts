/**
 * Copies of the Secrets of ImagePullJobs in the one namespace whose Secrets the daemons of the nodes may read. Jobs that
 * name the same Secret share a copy, which is deleted with the last of them.
 *
 * Writes: Secret, in `kruise-daemon-config`, and that namespace.
 */
import { isAlreadyExists, isNotFound } from "@flotilla/apimachinery";
import type { ReferenceObject } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly, Random } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import { Namespace, Secret } from "@flotilla/kubernetes";
import type { ReadonlyImagePullJob } from "./plan-imagepulljob.ts";

const DAEMON_NAMESPACE = "kruise-daemon-config";
const JOBS_ANNOTATION = "imagepulljobs.kruise.io/references";
const SOURCE_ANNOTATION = "imagepulljobs.kruise.io/source-key";
const MODE_ANNOTATION = "imagepulljobs.kruise.io/mode";
/** Copies of this mode leave a NodeImage together with the image. */
const MODE = "batch";

type ReadonlySecret = DeepReadonly<Secret>;

export interface PullSecrets {
  /** Creates and refreshes the copies that a running job needs, and releases the others. */
  claim(job: ReadonlyImagePullJob, cluster: string, signal: AbortSignal): Promise<ReferenceObject[]>;
  /** Releases all copies of a job that ended. */
  release(job: ReadonlyImagePullJob, cluster: string, signal: AbortSignal): Promise<void>;
}

export function createPullSecrets({ client, random }: { client: Client; random: Random }): PullSecrets {
  const copiesIn = async (cluster: string, signal: AbortSignal): Promise<readonly ReadonlySecret[]> => {
    const { items } = await client.list(Secret, { cluster, namespace: DAEMON_NAMESPACE, signal });
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined && metadata.annotations?.[SOURCE_ANNOTATION])
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  };

  async function releaseFrom(
    copies: readonly ReadonlySecret[],
    job: ReadonlyImagePullJob,
    cluster: string,
    signal: AbortSignal,
  ): Promise<void> {
    for (const copy of copies) {
      const others = jobsOf(copy).filter((one) => one !== nameOf(job));
      if (others.length > 0) await unlessChanged(client.update(Secret, cluster, withJobs(copy, others), { signal }));
      else
        await unlessChanged(
          client.delete(Secret, keyOf(cluster, copy), { preconditions: { uid: copy.metadata.uid }, signal }),
        );
    }
  }

  return {
    async claim(job, cluster, signal) {
      const { namespace = "" } = job.metadata;
      const names = [...new Set(job.spec.pullSecrets)];
      if (names.length === 0) return [];
      if (namespace === DAEMON_NAMESPACE) return names.map((name) => ({ namespace, name }));
      const copies = await copiesIn(cluster, signal);
      const wanted = new Set(names.map((name) => `${namespace}/${name}`));
      const surplus = copies.filter((copy) => jobsOf(copy).includes(nameOf(job)) && !wanted.has(sourceOf(copy)));
      await releaseFrom(surplus, job, cluster, signal);
      const references: ReferenceObject[] = [];
      for (const name of names) {
        const source = await find(client, { cluster, namespace, name }, signal);
        if (!source) continue; // The pull fails if the registry requires it.
        const candidates = copies.filter((copy) => sourceOf(copy) === `${namespace}/${name}`);
        const copy = candidates.find((one) => jobsOf(one).includes(nameOf(job))) ?? candidates[0];
        const kept = copy ? await refresh(copy, source) : await create(newCopy(source));
        references.push({ namespace: DAEMON_NAMESPACE, name: kept.metadata.name, mode: MODE });
      }
      return references;

      async function create(copy: ReadonlySecret): Promise<ReadonlySecret> {
        await ensureNamespace(client, cluster, signal);
        return client.create(Secret, cluster, copy, { signal });
      }

      async function refresh(copy: ReadonlySecret, source: ReadonlySecret): Promise<ReadonlySecret> {
        const jobs = [...new Set([...jobsOf(copy), nameOf(job)])].toSorted();
        const next = { ...withJobs(copy, jobs), data: source.data };
        if (equalJson(next, copy)) return copy;
        return client.update(Secret, cluster, next, { signal });
      }

      function newCopy({ metadata, type, data }: ReadonlySecret): ReadonlySecret {
        return {
          apiVersion: "v1",
          kind: "Secret",
          metadata: {
            name: `${metadata.name}-${suffixOf(random)}`,
            namespace: DAEMON_NAMESPACE,
            labels: metadata.labels,
            annotations: {
              ...metadata.annotations,
              [JOBS_ANNOTATION]: nameOf(job),
              [SOURCE_ANNOTATION]: `${namespace}/${metadata.name}`,
              [MODE_ANNOTATION]: MODE,
            },
          },
          type,
          data,
        };
      }
    },

    async release(job, cluster, signal) {
      if (!job.spec.pullSecrets?.length || job.metadata.namespace === DAEMON_NAMESPACE) return;
      const copies = await copiesIn(cluster, signal);
      await releaseFrom(
        copies.filter((copy) => jobsOf(copy).includes(nameOf(job))),
        job,
        cluster,
        signal,
      );
    },
  };
}

const nameOf = ({ metadata }: ReadonlyImagePullJob): string => `${metadata.namespace ?? ""}/${metadata.name}`;
const sourceOf = ({ metadata }: ReadonlySecret): string => metadata.annotations?.[SOURCE_ANNOTATION] ?? "";
const jobsOf = ({ metadata }: ReadonlySecret): string[] =>
  (metadata.annotations?.[JOBS_ANNOTATION] ?? "").split(",").filter(Boolean);

const withJobs = (secret: ReadonlySecret, jobs: readonly string[]): ReadonlySecret => ({
  ...secret,
  metadata: { ...secret.metadata, annotations: { ...secret.metadata.annotations, [JOBS_ANNOTATION]: jobs.join(",") } },
});

const suffixOf = (random: Random): string =>
  Math.floor(random.next() * 0x1000000)
    .toString(16)
    .padStart(6, "0");

/** A member whose jobs name no Secrets does not need the namespace. */
async function ensureNamespace(client: Client, cluster: string, signal: AbortSignal): Promise<void> {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: DAEMON_NAMESPACE } };
  try {
    await client.create(Namespace, cluster, namespace, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function find(
  client: Client,
  key: { cluster: string; namespace: string; name: string },
  signal: AbortSignal,
): Promise<ReadonlySecret | undefined> {
  try {
    return await client.get(Secret, key, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
