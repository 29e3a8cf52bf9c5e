/**
 * A transport that reads one cluster through a path of another API server, such as a hub's cluster proxy. Connections,
 * credentials and deadlines are those of the client that it uses.
 *
 * It only reads: lists and watches for informers, and single objects.
 */
import { badRequest } from "@flotilla/apimachinery";
import { systemRandom } from "@flotilla/base";
import type { Clock, Random } from "@flotilla/base";
import type { Client } from "./client.ts";
import { UnreachableError } from "./errors.ts";
import { WATCH_GRACE_SECONDS, WATCH_SECONDS } from "./http2-transport.ts";
import { parseResponse } from "./parse-response.ts";
import { readBytes } from "./read-text.ts";
import { METHODS, queryText, resourcePath } from "./request-path.ts";
import { MAX_STATUS_BYTES, readFailure } from "./response-body.ts";
import { UNTRUSTED_LIMITS } from "./response-limits.ts";
import type { ResponseLimits } from "./response-limits.ts";
import type { ResourcePath, Transport, TransportWatchEvent } from "./transport.ts";
import { createWatchDecoder } from "./watch-decoder.ts";

export interface ProxiedTransportOptions {
  through: Pick<Client, "raw">;
  /** The cluster of `through` that the requests are sent to. */
  cluster: string;
  /** In front of every path; empty reads that cluster itself. */
  prefix: string;
  clock: Clock;
  random?: Random;
  /** How much may be sent; unset, as little as by a cluster that is not trusted. */
  limits?: ResponseLimits;
  /** Called when the server has accepted a watch, which may then be silent for minutes. */
  onWatch?(): void;
}

const READS: ReadonlySet<string> = new Set(["get", "list"]);
const JSON_ONLY = { accept: "application/json" };

export function createProxiedTransport(options: ProxiedTransportOptions): Transport {
  const { through, cluster, prefix, clock, random = systemRandom, limits = UNTRUSTED_LIMITS } = options;
  const urlOf = (path: ResourcePath, query: Readonly<Record<string, string>> | undefined): string =>
    `${prefix}${resourcePath(path)}${queryText(query)}`;

  return {
    async send({ verb, path, query }, signal) {
      if (!READS.has(verb)) throw badRequest(`this client of cluster ${path.cluster} only reads`);
      const response = await through.raw(
        { method: METHODS[verb], path: urlOf(path, query), cluster, headers: JSON_ONLY },
        signal,
      );
      if (response.status !== 200) throw readFailure(response, await readBytes(response.body, MAX_STATUS_BYTES));
      const isList = verb === "list";
      const bytes = await readBytes(response.body, isList ? limits.listBytes : limits.objectBytes);
      return parseResponse(`${verb} ${path.resource} of cluster ${path.cluster}`, bytes, isList, limits);
    },

    async *watch({ path, query }, signal): AsyncGenerator<TransportWatchEvent[]> {
      if (signal.aborted) return;
      const seconds = Math.floor(WATCH_SECONDS * (1 + random.next()));
      const silent = new AbortController();
      const silence = clock.after((seconds + WATCH_GRACE_SECONDS) * 1000, () =>
        silent.abort(new UnreachableError("the server sent nothing and did not end the watch in time; watch again")),
      );
      const decoder = createWatchDecoder({ limits });
      try {
        const response = await through.raw(
          {
            method: "GET",
            path: urlOf(path, { ...query, timeoutSeconds: String(seconds), watch: "true" }),
            cluster,
            headers: JSON_ONLY,
          },
          AbortSignal.any([signal, silent.signal]),
        );
        if (response.status !== 200) throw readFailure(response, await readBytes(response.body, MAX_STATUS_BYTES));
        options.onWatch?.();
        for await (const chunk of response.body) {
          const { events, failure } = decoder.push(chunk);
          if (events.length > 0) yield events;
          if (failure) throw failure;
        }
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      } finally {
        silence.cancel();
        decoder.close();
      }
      if (decoder.incomplete && !signal.aborted)
        throw new UnreachableError(`the watch of ${path.resource} ended inside an event; watch again`);
    },

    raw: (request, signal) => through.raw({ ...request, path: `${prefix}${request.path}`, cluster }, signal),
    // The connection is that of the other client.
    close: () => Promise.resolve(),
  };
}
