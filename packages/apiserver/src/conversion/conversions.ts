/**
 * Has conversion webhooks convert objects before they are read, and keeps the result with the stored object: an object is
 * converted once for each version and write, however often it is read (docs/adr/0040).
 */
import { ApiError } from "@flotilla/apimachinery";
import { abortable, isObject } from "@flotilla/base";
import type { MetricsText } from "@flotilla/base";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { ConversionPending } from "../codec/conversion.ts";
import { needsConversion } from "../codec/render.ts";
import type { StoredObject } from "../codec/stored-object.ts";
import type { RequestContext } from "../request/context.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { createConversionWebhooks, type ConversionDependencies } from "./conversion-webhooks.ts";
import { createStoredConversions } from "./stored-conversions.ts";

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

export function createConversions(deps: ConversionDependencies): Conversions {
  const webhooks = createConversionWebhooks(deps);
  const convertStored = createStoredConversions(webhooks);

  const conversions: Conversions = {
    prepare(cluster, served, entries, signal) {
      if (!served.resource.conversion) return undefined;
      const missing = entries.filter((entry) => entry !== undefined).filter((entry) => needsConversion(entry, served));
      if (missing.length === 0) return undefined;
      return abortable(Promise.allSettled(convertStored(cluster, served, missing)), signal).then((outcomes) => {
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

    writeMetrics: webhooks.writeMetrics,
    forget: webhooks.forget,
    close: webhooks.close,
  };

  async function resolve({ cluster, signal, conversions: memo }: Caller, error: ConversionPending): Promise<void> {
    const { pending } = error;
    if ("entry" in pending) return conversions.prepare(cluster, pending.to, [pending.entry], signal);
    if (!memo) throw error;
    const { object, from, to } = pending;
    const sent = isObject(object.metadata) ? object : { ...object, metadata: {} };
    const [converted] = await abortable(
      webhooks.convert(cluster, [{ ...sent, apiVersion: from.apiVersion, kind: from.resource.kind.kind }], to),
      signal,
    );
    if (!converted || converted instanceof ApiError) throw converted ?? error;
    memo.set(object, to, converted);
  }

  return conversions;
}
