/**
 * A client whose writes the hub only tries: each request sees the results of those before, and nothing is stored.
 *
 * On an API server of Kubernetes, which has no `/dry-run`, requests are tried one by one (`dry-run-singly.ts`).
 *
 * Requests that are made in one turn of the event loop are sent together, after all earlier writes, to the hub's
 * `/dry-run`. Make independent requests at once (`Promise.all`): every turn costs one request to the hub, which
 * repeats the writes of the turns before.
 */
import { InvariantError } from "@flotilla/base";
import { ApiError, HUB } from "@flotilla/apimachinery";
import type { Status } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createClient, METHODS, PATCH_MEDIA_TYPES, queryText, resourcePath } from "@flotilla/client";
import type { Client, TransportRequest } from "@flotilla/client";
import { failureOf, readText } from "../members/ask.ts";
import { createSingleDryRuns } from "./dry-run-singly.ts";
import type { SingleDryRuns } from "./dry-run-singly.ts";
import type { DryResponse, SentRequest } from "./dry-response.ts";

interface Pending extends PromiseWithResolvers<JsonObject> {
  request: SentRequest;
}

/**
 * Supports get, create, update, patch and apply. `onWarning` is called with each warning about a write and the object
 * that it would result in.
 */
export function createDryRunClient(
  hub: Pick<Client, "raw">,
  signal: AbortSignal,
  onWarning?: (object: JsonObject, text: string) => void,
): Pick<Client, "get" | "create" | "update" | "patch" | "apply"> {
  const written: SentRequest[] = [];
  let pending: Pending[] = [];
  /** Set once the server is known to try single requests only. */
  let singly: SingleDryRuns | undefined;

  const send = async (): Promise<void> => {
    const turn = pending;
    pending = [];
    try {
      const requests = [...written, ...turn.map(({ request }) => request)];
      const together = singly ? undefined : await post(hub, requests, signal);
      if (together === undefined) singly ??= createSingleDryRuns(hub, signal);
      const responses = together?.slice(written.length) ?? (await trySingly(singly, turn));
      for (const [index, { request, resolve, reject }] of turn.entries()) {
        const { status, body, warnings = [] } = responses[index] ?? { status: 500, body: {} };
        if (status < 200 || status > 299) {
          reject(new ApiError(body as unknown as Status));
          continue;
        }
        if (request.method !== "GET") {
          written.push(request);
          for (const text of warnings) onWarning?.(body, text);
        }
        resolve(body);
      }
    } catch (error) {
      for (const { reject } of turn) reject(error);
    }
  };

  return createClient({
    fieldManager: "flotilla",
    transport: {
      send(request) {
        if (pending.length === 0) setImmediate(() => void send());
        const waiting = { ...Promise.withResolvers<JsonObject>(), request: sentOf(request) };
        pending.push(waiting);
        return waiting.promise;
      },
      watch: unsupported,
      raw: unsupported,
      close: () => Promise.resolve(),
    },
  });
}

function unsupported(): never {
  throw new InvariantError("a dry run has no watches and no raw requests");
}

function sentOf(request: TransportRequest): SentRequest {
  const { verb, path, query, patchType, body } = request;
  return {
    method: METHODS[verb],
    path: resourcePath(path) + queryText(query),
    contentType: patchType && PATCH_MEDIA_TYPES[patchType],
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** In order: each may depend on those before. */
async function trySingly(singly: SingleDryRuns | undefined, turn: readonly Pending[]): Promise<DryResponse[]> {
  const responses: DryResponse[] = [];
  for (const { request } of turn) responses.push(await (singly as SingleDryRuns).try(request));
  return responses;
}

/** Undefined for a server that has no dry runs of several requests. */
async function post(
  hub: Pick<Client, "raw">,
  requests: readonly SentRequest[],
  signal: AbortSignal,
): Promise<DryResponse[] | undefined> {
  const { status, body } = await hub.raw(
    {
      method: "POST",
      path: "/dry-run",
      cluster: HUB,
      headers: { "content-type": "application/json", accept: "application/json" },
      body: Buffer.from(JSON.stringify({ requests })),
    },
    signal,
  );
  const text = await readText(body);
  if (status === 404) return undefined;
  if (status !== 200) throw failureOf(status, text);
  return (JSON.parse(text) as { responses: DryResponse[] }).responses;
}
