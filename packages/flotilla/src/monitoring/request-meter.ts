/**
 * Measures the duration and the result of requests from the hub to members outside its process. Watches are excluded.
 */
import { counter, Counts, DEFAULT_BUCKETS, histogram, Histograms } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";
import type { Transport } from "@flotilla/client";
import { ApiError } from "@flotilla/apimachinery";
import { nowMs } from "./pipeline-meter.ts";

const REQUESTS = counter(
  "flotilla_member_requests_total",
  "Requests from the hub to members outside its process, by verb and status code, or none. Simulated members are not called over a network.",
  "member_cluster",
  "verb",
  "code",
);
const DURATIONS = histogram(
  "flotilla_member_request_duration_seconds",
  "Time of requests from the hub to members outside its process.",
  DEFAULT_BUCKETS,
  "member_cluster",
);

export const requestMetrics: readonly Metric[] = [REQUESTS, DURATIONS];

/** No response was received. */
const NONE = "none";

export interface RequestMeter {
  around(transport: Transport, cluster: string): Transport;
  /** Drops the series of a removed member. */
  forget(cluster: string): void;
  write(text: MetricsText): void;
}

export function createRequestMeter(): RequestMeter {
  const requests = new Counts(REQUESTS);
  const durations = new Histograms(DURATIONS);

  async function measure<T>(
    cluster: string,
    verb: string,
    signal: AbortSignal | undefined,
    request: () => Promise<T>,
    codeOf: (answer: T) => string,
  ): Promise<T> {
    const startMs = nowMs();
    const end = (code: string): void => {
      requests.add([cluster, verb, code]);
      durations.observe([cluster], (nowMs() - startMs) / 1000);
    };
    try {
      const answer = await request();
      end(codeOf(answer));
      return answer;
    } catch (error) {
      // A request that the caller aborted reports nothing about the member.
      if (!signal?.aborted) end(error instanceof ApiError ? String(error.status.code) : NONE);
      throw error;
    }
  }

  return {
    around: (transport, cluster) => ({
      send: (request, signal) =>
        measure(
          cluster,
          request.verb,
          signal,
          () => transport.send(request, signal),
          () => (request.verb === "create" ? "201" : "200"),
        ),
      raw: (request, signal) =>
        measure(
          cluster,
          request.method.toLowerCase(),
          signal,
          () => transport.raw(request, signal),
          ({ status }) => String(status),
        ),
      watch: (request, signal) => transport.watch(request, signal),
      close: () => transport.close(),
    }),
    forget(cluster) {
      requests.forget("member_cluster", cluster);
      durations.forget("member_cluster", cluster);
    },
    write(text) {
      requests.write(text);
      durations.write(text);
    },
  };
}
