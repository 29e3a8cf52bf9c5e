/**
 * Has conversion webhooks convert objects before they are read, and keeps the result with the stored object: an object is
 * converted once for each version and write, however often it is read (docs/adr/0040).
 */
import { ApiError } from "@flotilla/apimachinery";
import { abortable, createSemaphore, isObject, randomUuid } from "@flotilla/base";
import type { Clock, Json, JsonObject, Log, MetricsText, Random } from "@flotilla/base";
import { createWebhookConnection, createWebhookLocator, MAX_CALLS_IN_FLIGHT, WebhookError } from "@flotilla/client";
import type { BlockedSet, WebhookConnection } from "@flotilla/client";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { BlockedAddresses } from "../clusters/tenant-addresses.ts";
import { serviceAddress } from "../clusters/service-address.ts";
import { ConversionPending } from "../codec/conversion.ts";
import { addConverted, needsConversion, storedForm } from "../codec/render.ts";
import type { StoredObject } from "../codec/stored-object.ts";
import { plainError } from "../request/context.ts";
import type { RequestContext } from "../request/context.ts";
import type { Resource, ServedVersion } from "../resources/resources.ts";
import { ConversionMetrics } from "./conversion-metrics.ts";
import {
  acceptConverted,
  InvalidConversion,
  readConversionReview,
  renderConversionReview,
  reviewVersionOf,
  shownKind,
} from "./conversion-review.ts";

/** As for the longest admission webhooks. */
const TIMEOUT_MS = 30_000;
/** One call converts up to this many objects of about this size together, so that its answer stays within its limit. */
const MAX_BATCH = 500;
const MAX_BATCH_BYTES = 1024 * 1024;
/**
 * Calls of one list at the same time. The rest of a list waits here and neither for the webhook's turns nor with rendered
 * objects: a list of two thousand large objects needs as many calls.
 */
const MAX_CALLS_OF_LIST = 8;
/** More calls than this do not wait for one webhook: it would never catch up. */
const MAX_WAITING = 1_024;
/** Code that needs more conversions, one after the other, is in a loop: an object has few versions. */
const MAX_ROUNDS = 64;

type Caller = Pick<RequestContext, "cluster" | "signal" | "conversions">;

export interface Conversions {
  /** Makes entries readable in a version. Undefined when they are, as those of most kinds; throws 500 when the webhook fails. */
  prepare(
    cluster: LogicalCluster,
    served: ServedVersion,
    entries: readonly (StoredObject | undefined)[],
    signal: AbortSignal,
  ): Promise<void> | undefined;
  /** Runs code that needs converted objects; where one is missing, the webhook is called and the code runs again. */
  settle<T>(caller: Caller, run: () => T): T | Promise<T>;
  writeMetrics(cluster: string, text: MetricsText): void;
  /** The cluster was removed. */
  forget(cluster: string): void;
  close(): void;
}

export interface ConversionDependencies {
  store: ObjectStore;
  clusters: ClusterRegistry;
  clock: Clock;
  random: Random;
  log: Log;
  blockedAddresses?: BlockedAddresses | undefined;
  /** See `ApiServerOptions`. */
  addressAnnotation?: string | undefined;
}

/** The webhook of a CRD in one cluster. */
interface Hook {
  readonly connection: () => WebhookConnection;
  readonly turns: ReturnType<typeof createSemaphore>;
  close(): void;
}

/** One call. */
interface Work {
  readonly entries: ReadonlySet<StoredObject>;
  readonly done: Promise<void>;
}

interface ClusterHooks {
  readonly hooks: Map<Resource, Hook>;
  readonly metrics: ConversionMetrics;
}

export function createConversions(deps: ConversionDependencies): Conversions {
  const { store, clusters, clock, random, log } = deps;
  const byCluster = new Map<string, ClusterHooks>();
  /** Calls for stored objects that are in progress; readers of the same object wait for the same one. */
  const begun = new WeakMap<StoredObject, Map<ServedVersion, Work>>();
  const stopped = new AbortController();

  const hooksOf = (cluster: LogicalCluster): ClusterHooks => {
    const known = byCluster.get(cluster.name);
    if (known) return known;
    const created: ClusterHooks = { hooks: new Map(), metrics: new ConversionMetrics() };
    // A request may end after its cluster was removed; nothing would forget these.
    if (clusters.get(cluster.name)) byCluster.set(cluster.name, created);
    return created;
  };
  const hookOf = ({ hooks }: ClusterHooks, cluster: string, resource: Resource): Hook => {
    let hook = hooks.get(resource);
    if (!hook) hooks.set(resource, (hook = createHook(resource, deps.blockedAddresses?.(cluster))));
    return hook;
  };
  const drop = (cluster: string, isKept: (resource: Resource) => boolean): void => {
    const known = byCluster.get(cluster);
    for (const [resource, hook] of known?.hooks ?? []) {
      if (isKept(resource)) continue;
      hook.close();
      known?.hooks.delete(resource);
      known?.metrics.forget(nameOf(resource));
    }
  };
  const unsubscribe = clusters.subscribe(({ type, cluster }) => {
    if (type === "table")
      drop(
        cluster.name,
        (resource) => cluster.table.resource(resource.name.group, resource.name.resource) === resource,
      );
  });

  /** The objects in a version, in order, each with the metadata that it had, or the error for it. Throws 500. */
  async function convert(
    cluster: LogicalCluster,
    objects: readonly JsonObject[],
    to: ServedVersion,
  ): Promise<(JsonObject | ApiError)[]> {
    const { resource } = to;
    const own = hooksOf(cluster);
    const [first = {}] = objects;
    const crd = nameOf(resource);
    const startedMs = clock.now();
    const measured = (failure: Parameters<ConversionMetrics["called"]>[4]): void =>
      own.metrics.called(crd, versionOf(first.apiVersion), to.version, (clock.now() - startedMs) / 1000, failure);
    let answered: readonly Json[];
    try {
      answered = await call(cluster, hookOf(own, cluster.name, resource), objects, to);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      measured("conversion_call_failure");
      // Logged when a webhook begins to fail, not for each request.
      if (own.metrics.failuresOf(crd) === 1)
        log.warn("a conversion webhook cannot be called", { cluster: cluster.name, crd, error: error.message });
      throw plainError(`conversion webhook for ${shownKind(first)} failed: ${error.message}`, { cause: error });
    }
    const invalid = (problem: string): ApiError => plainError(`conversion webhook for ${shownKind(first)} ${problem}`);
    if (answered.length !== objects.length) {
      measured("conversion_webhook_invalid_converted_object");
      throw invalid(`returned ${answered.length} objects, expected ${objects.length}`);
    }
    const accepted = objects.map((object, index) => {
      try {
        return acceptConverted(object, answered[index], to.apiVersion);
      } catch (error) {
        if (!(error instanceof InvalidConversion)) throw error;
        return invalid(error.message);
      }
    });
    const isValid = accepted.every((each) => !(each instanceof ApiError));
    measured(isValid ? "" : "conversion_webhook_invalid_converted_object");
    return accepted;
  }

  async function call(
    cluster: LogicalCluster,
    { turns, connection }: Hook,
    objects: readonly JsonObject[],
    { resource: { conversion }, apiVersion }: ServedVersion,
  ): Promise<readonly Json[]> {
    const version = reviewVersionOf(conversion?.reviewVersions ?? []);
    if (!conversion || !version) throw new WebhookError("configuration", "no supported conversion review versions");
    if (turns.waiting >= MAX_WAITING)
      throw new WebhookError("overload", `${MAX_WAITING} calls are already waiting for it`);
    const read = createClusterReader(store, cluster);
    const timeout = new AbortController();
    const timer = clock.after(TIMEOUT_MS, () =>
      timeout.abort(new WebhookError("timeout", `no response within ${TIMEOUT_MS / 1000} s`)),
    );
    const stop = AbortSignal.any([timeout.signal, stopped.signal, cluster.removed]);
    const uid = randomUuid(random);
    try {
      const endpoint = createWebhookLocator(conversion.clientConfig, (service) =>
        serviceAddress(read, service, deps.addressAnnotation),
      )();
      const release = await turns.acquire(1, "", stop);
      try {
        const body = renderConversionReview(version, uid, apiVersion, objects);
        return readConversionReview(await connection().post(endpoint, "?timeout=30s", body, stop), version, uid);
      } finally {
        release();
      }
    } finally {
      timer.cancel();
    }
  }

  /** Converts stored objects; one promise for each batch. */
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

  const conversions: Conversions = {
    prepare(cluster, served, entries, signal) {
      if (!served.resource.conversion) return undefined;
      const missing = entries.filter((entry) => entry !== undefined).filter((entry) => needsConversion(entry, served));
      if (missing.length === 0) return undefined;
      return abortable(Promise.allSettled(begin(cluster, served, missing)), signal).then((outcomes) => {
        // Another reader may have converted what failed here.
        if (!entries.some((entry) => entry && needsConversion(entry, served))) return;
        for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
      });
    },

    settle(caller, run) {
      const attempt = (round: number): ReturnType<typeof run> | Promise<ReturnType<typeof run>> => {
        try {
          return run();
        } catch (error) {
          if (!(error instanceof ConversionPending) || round === MAX_ROUNDS) throw error;
          return resolve(caller, error).then(() => attempt(round + 1));
        }
      };
      return attempt(0);
    },

    writeMetrics: (cluster, text) => (byCluster.get(cluster)?.metrics ?? new ConversionMetrics()).write(text),
    forget(cluster) {
      drop(cluster, () => false);
      byCluster.delete(cluster);
    },
    close() {
      stopped.abort(new WebhookError("connection", "the server is stopping"));
      unsubscribe();
      for (const cluster of byCluster.keys()) conversions.forget(cluster);
    },
  };

  async function resolve({ cluster, signal, conversions: memo }: Caller, error: ConversionPending): Promise<void> {
    const { pending } = error;
    if ("entry" in pending) return conversions.prepare(cluster, pending.to, [pending.entry], signal);
    if (!memo) throw error;
    const { object, from, to } = pending;
    const sent = isObject(object.metadata) ? object : { ...object, metadata: {} };
    const [converted] = await abortable(
      convert(cluster, [{ ...sent, apiVersion: from.apiVersion, kind: from.resource.kind.kind }], to),
      signal,
    );
    if (!converted || converted instanceof ApiError) throw converted ?? error;
    memo.set(object, to, converted);
  }

  return conversions;
}

/** The webhook was called, and did not convert these objects; it may convert some of them without the others. */
const concernsObjects = (error: unknown): boolean =>
  error instanceof ApiError &&
  !(error.cause instanceof WebhookError && error.cause.reason !== "answer" && error.cause.reason !== "refused");

const nameOf = ({ name }: Resource): string => `${name.resource}.${name.group}`;
const versionOf = (apiVersion: Json | undefined): string =>
  typeof apiVersion === "string" ? apiVersion.slice(apiVersion.indexOf("/") + 1) : "";

function createHook({ conversion }: Resource, blocked: BlockedSet | undefined): Hook {
  let made: WebhookConnection | undefined;
  return {
    connection: () => (made ??= createWebhookConnection(conversion?.clientConfig.caBundle || undefined, blocked)),
    turns: createSemaphore(MAX_CALLS_IN_FLIGHT),
    close: () => made?.close(),
  };
}

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
