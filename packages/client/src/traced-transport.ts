/** A transport that reports each request: its method, URL, outcome and duration. For `flotilla -v 6`. */
import { messageOf } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { ApiError } from "@flotilla/apimachinery";
import { METHODS, queryText, resourcePath } from "./request-path.ts";
import type { Transport } from "./transport.ts";

export function tracedTransport(
  transport: Transport,
  { server, clock, write }: { server: string; clock: Clock; write(line: string): void },
): Transport {
  const root = server.replace(/\/+$/, "");
  const begin = (method: string, path: string): ((outcome: string) => void) => {
    const sinceMs = clock.now();
    return (outcome) => write(`${method} ${root}${path} ${outcome} in ${clock.now() - sinceMs} ms`);
  };
  const follow = async <T>(
    end: (outcome: string) => void,
    response: Promise<T>,
    outcomeOf: (value: T) => string,
  ): Promise<T> => {
    try {
      const value = await response;
      end(outcomeOf(value));
      return value;
    } catch (error) {
      end(error instanceof ApiError ? `${error.status.code} ${error.status.reason}` : messageOf(error));
      throw error;
    }
  };
  return {
    ...transport,
    send: (request, signal) =>
      follow(
        begin(METHODS[request.verb], resourcePath(request.path) + queryText(request.query)),
        transport.send(request, signal),
        () => (request.verb === "create" ? "201" : "200"),
      ),
    watch(request, signal) {
      write(`GET ${root}${resourcePath(request.path)}${queryText({ ...request.query, watch: "true" })}`);
      return transport.watch(request, signal);
    },
    raw: (request, signal) =>
      follow(begin(request.method, request.path), transport.raw(request, signal), ({ status }) => String(status)),
  };
}
