/**
 * Reports the loss and the return of one process' connection to the API server, once each. Every informer and
 * controller notices the loss on its own; their lines about it are for debugging.
 */
import type { Log, LogFields } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";

export interface ReportedConnection {
  transport: Transport;
  /** For what uses the transport: while the connection is lost, warnings about it are logged at `debug`. */
  log: Log;
}

export function reportConnection(
  transport: Transport,
  { log, server, signal }: { log: Log; server: string; signal: AbortSignal },
): ReportedConnection {
  /** Before the first response, a wait is not a loss. */
  let wasConnected = false;
  let isLost = false;
  /** Responses to requests that were sent before the loss say nothing about the connection after it. */
  let losses = 0;

  const failed = (error: unknown): void => {
    if (!(error instanceof UnreachableError) || isLost || !wasConnected || signal.aborted) return;
    isLost = true;
    losses += 1;
    log.warn("connection to the API server lost; retrying", { server, error });
  };
  const answered = (sentAfter: number): void => {
    wasConnected = true;
    if (!isLost || sentAfter !== losses) return;
    isLost = false;
    log.warn("connection to the API server is back", { server });
  };
  const follow = async <T>(response: Promise<T>): Promise<T> => {
    const sentAfter = losses;
    try {
      const value = await response;
      answered(sentAfter);
      return value;
    } catch (error) {
      failed(error);
      // A rejection is a response, too.
      if (!(error instanceof UnreachableError) && !signal.aborted) answered(sentAfter);
      throw error;
    }
  };
  return {
    transport: {
      ...transport,
      send: (request, stop) => follow(transport.send(request, stop)),
      raw: (request, stop) => follow(transport.raw(request, stop)),
      async *watch(request, stop) {
        const sentAfter = losses;
        try {
          for await (const batch of transport.watch(request, stop)) {
            answered(sentAfter);
            yield batch;
          }
        } catch (error) {
          failed(error);
          throw error;
        }
      },
    },
    log: quieted(log, () => isLost),
  };
}

function quieted(log: Log, isQuiet: () => boolean): Log {
  return {
    debug: log.debug,
    info: log.info,
    error: log.error,
    warn(message, fields) {
      if (isQuiet() && isAboutConnection(fields)) log.debug(message, fields);
      else log.warn(message, fields);
    },
    with: (fields) => quieted(log.with(fields), isQuiet),
  };
}

const isAboutConnection = (fields: LogFields | undefined): boolean => fields?.["error"] instanceof UnreachableError;
