/**
 * Converts stored objects in batches, and keeps the result with them. Readers that want the same object in the same
 * version wait for the same call.
 */
import { ApiError } from "@flotilla/apimachinery";
import { createSemaphore } from "@flotilla/base";
import { WebhookError } from "@flotilla/client";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { addConverted, needsConversion, storedForm } from "../codec/render.ts";
import type { StoredObject } from "../codec/stored-object.ts";
import type { ServedVersion } from "../resources/resources.ts";
import type { ConversionWebhooks } from "./conversion-webhooks.ts";

/** One call converts up to this many objects of about this size together, so that its answer stays within its limit. */
const MAX_BATCH = 500;
const MAX_BATCH_BYTES = 1024 * 1024;
/**
 * Calls of one list at the same time. The rest of a list waits here and neither for the webhook's turns nor with rendered
 * objects: a list of two thousand large objects needs as many calls.
 */
const MAX_CALLS_OF_LIST = 8;

/** One call. */
interface Work {
  readonly entries: ReadonlySet<StoredObject>;
  readonly done: Promise<void>;
}

/** Converts stored objects that need it; one promise for each batch. */
export type ConvertStored = (
  cluster: LogicalCluster,
  served: ServedVersion,
  entries: readonly StoredObject[],
) => Promise<void>[];

export function createStoredConversions({ convert }: Pick<ConversionWebhooks, "convert">): ConvertStored {
  /** Calls for stored objects that are in progress. */
  const begun = new WeakMap<StoredObject, Map<ServedVersion, Work>>();

  function begin(cluster: LogicalCluster, served: ServedVersion, entries: readonly StoredObject[]): Promise<void>[] {
    const calls = createSemaphore(MAX_CALLS_OF_LIST);
    let failure: { error: unknown } | undefined;
    return batchesOf(entries).map(async (batch) => {
      const release = await calls.acquire(1);
      try {
        // A list fails with its first batch. Other readers of the rest do not wait for it: no call for the rest is in progress.
        if (failure) throw failure.error;
        await convertBatch(cluster, served, batch);
      } catch (error) {
        failure ??= { error };
        throw error;
      } finally {
        release();
      }
    });
  }

  /** Waits for the calls of other readers, too. One that failed for other objects does not count. */
  async function convertBatch(
    cluster: LogicalCluster,
    served: ServedVersion,
    batch: readonly StoredObject[],
  ): Promise<void> {
    const wanted = new Set(batch);
    const isOfBatch = ({ entries }: Work): boolean => entries.isSubsetOf(wanted);
    const works = worksFor(cluster, served, batch, () => true);
    const outcomes = await Promise.allSettled(works.map(({ done }) => done));
    for (const [index, work] of works.entries()) {
      const outcome = outcomes[index];
      if (outcome?.status === "rejected" && (isOfBatch(work) || !concernsObjects(outcome.reason))) throw outcome.reason;
    }
    await Promise.all(worksFor(cluster, served, batch, isOfBatch).map(({ done }) => done));
  }

  /** The calls that convert what is not converted yet: those in progress that may be joined, and a new one for the rest. */
  function worksFor(
    cluster: LogicalCluster,
    served: ServedVersion,
    entries: readonly StoredObject[],
    mayJoin: (work: Work) => boolean,
  ): Work[] {
    const works = new Set<Work>();
    const missing: StoredObject[] = [];
    for (const entry of entries) {
      if (!needsConversion(entry, served)) continue;
      const work = begun.get(entry)?.get(served);
      if (work && mayJoin(work)) works.add(work);
      else missing.push(entry);
    }
    if (missing.length > 0) works.add(startWork(cluster, served, missing));
    return [...works];
  }

  function startWork(cluster: LogicalCluster, served: ServedVersion, entries: readonly StoredObject[]): Work {
    const convertAll = async (): Promise<void> => {
      const stored = entries.map((entry) => storedForm(entry, served.resource));
      const converted = await convert(cluster, stored, served);
      for (const [index, entry] of entries.entries()) {
        const object = converted[index];
        if (object && !(object instanceof ApiError)) addConverted(entry, served, object);
      }
      const failed = converted.find((each) => each instanceof ApiError);
      if (failed) throw failed;
    };
    const work: Work = { entries: new Set(entries), done: convertAll() };
    for (const entry of entries) {
      const known = begun.get(entry) ?? new Map<ServedVersion, Work>();
      begun.set(entry, known.set(served, work));
    }
    const forget = (): void => {
      for (const entry of entries) {
        const known = begun.get(entry);
        if (known?.get(served) === work) known.delete(served);
      }
    };
    work.done.then(forget, forget);
    return work;
  }

  return begin;
}

/** The webhook was called, and did not convert these objects; it may convert some of them without the others. */
const concernsObjects = (error: unknown): boolean =>
  error instanceof ApiError &&
  !(error.cause instanceof WebhookError && error.cause.reason !== "answer" && error.cause.reason !== "refused");

function batchesOf(entries: readonly StoredObject[]): StoredObject[][] {
  const batches: StoredObject[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = entry.value.byteLength;
    const last = batches.at(-1);
    if (last && last.length < MAX_BATCH && bytes + size <= MAX_BATCH_BYTES) {
      last.push(entry);
      bytes += size;
    } else {
      batches.push([entry]);
      bytes = size;
    }
  }
  return batches;
}
