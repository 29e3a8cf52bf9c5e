/** Requests that this server itself makes to aggregated servers: checks, discovery, OpenAPI, deletions, garbage collection. */
import { MASTERS_GROUP } from "@flotilla/kubernetes";
import { messageOf } from "@flotilla/base";
import type { Clock, Json } from "@flotilla/base";
import { readJson, UnreachableError } from "@flotilla/client";
import type { UserInfo } from "../request/user-info.ts";
import type { RemoteService } from "./remote-service.ts";

/** As in kube-apiserver: this identity may read discovery of every server. */
const AGGREGATOR: UserInfo = { name: "system:kube-aggregator", groups: [MASTERS_GROUP] };
const TIMEOUT_MS = 5_000;
const DISCOVERY_BYTES = 4 * 1024 * 1024;
/** The OpenAPI document of a server with hundreds of kinds. */
const OPENAPI_BYTES = 16 * 1024 * 1024;

export interface RemoteAnswer {
  status: number;
  contentType: string;
  /** Undefined unless the status is 2xx and the body is JSON. */
  json: Json | undefined;
}

interface AskOptions {
  accept?: string;
  method?: string;
  /** Of the answer. */
  maxBytes?: number;
  body?: { readonly type: string; readonly text: string };
}

export async function ask(
  remote: RemoteService,
  path: string,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  { accept = "application/json", method = "GET", maxBytes = DISCOVERY_BYTES, body: sent }: AskOptions = {},
): Promise<RemoteAnswer> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const timer = clock.after(TIMEOUT_MS, () =>
    stop.abort(new UnreachableError(`no response within ${TIMEOUT_MS / 1000} s`)),
  );
  try {
    const { status, headers, body } = await remote.send(
      {
        method,
        path,
        headers: { accept, "content-type": sent?.type },
        body: sent && Buffer.from(sent.text),
      },
      AGGREGATOR,
      stop.signal,
    );
    const contentType = headers["content-type"] ?? "";
    if (status < 200 || status > 299) {
      body.destroy();
      return { status, contentType, json: undefined };
    }
    return { status, contentType, json: await readJson(body, maxBytes) };
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
  }
}

export const askForOpenApi = (
  remote: RemoteService,
  context: { clock: Clock; signal: AbortSignal },
): Promise<RemoteAnswer> => ask(remote, "/openapi/v2", context, { maxBytes: OPENAPI_BYTES });

/** Why a request got no answer, in one line. */
export const problemOf = (error: unknown): string => messageOf(error).split("\n", 1)[0] ?? "";
