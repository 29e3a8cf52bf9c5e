/**
 * Requests to the API of one cluster of the fleet, through the hub: with limits on time and size, and with readable
 * errors.
 */
import { ApiError, HUB } from "@flotilla/apimachinery";
import type { Status } from "@flotilla/apimachinery";
import { FlotillaError, isObject } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import type { Client, RawResponse } from "@flotilla/client";
import type { Place } from "./members-places.ts";

/** A page of objects; larger ones need a smaller limit. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** For a response that is not a Status, only its beginning is useful. */
const MAX_QUOTED_CHARACTERS = 512;

export interface Asking {
  client: Pick<Client, "raw">;
  clock: Clock;
  /** The timeout of one response. */
  responseTimeoutMs: number;
  signal: AbortSignal;
}

/** The response, which must be an object. Throws `ApiError` when the cluster rejects the request. */
export async function ask(
  { client, clock, responseTimeoutMs, signal }: Asking,
  place: Place,
  path: string,
  accept = "application/json",
): Promise<JsonObject> {
  return withTimeout(clock, responseTimeoutMs, signal, async (until) => {
    const { status, body } = await client.raw(
      { method: "GET", path: place.prefix + path, cluster: HUB, headers: { accept } },
      until,
    );
    const text = await readText(body);
    if (status !== 200) throw failureOf(status, text);
    return objectIn(text);
  });
}

/** Streams bytes; only the start of the response has a timeout. */
export async function open(
  { client, clock, responseTimeoutMs, signal }: Asking,
  place: Place,
  path: string,
  accept = "*/*",
): Promise<RawResponse["body"]> {
  const stop = new AbortController();
  const timer = clock.after(responseTimeoutMs, () => stop.abort(tooLate(responseTimeoutMs)));
  try {
    const { status, body } = await client.raw(
      { method: "GET", path: place.prefix + path, cluster: HUB, headers: { accept } },
      AbortSignal.any([signal, stop.signal]),
    );
    // A pod that waits for a node has no log.
    if (status !== 200 && status !== 204) throw failureOf(status, await readText(body));
    return body;
  } finally {
    timer.cancel();
  }
}

/** Runs with a signal that is aborted at the timeout; then fails with the reason. */
export async function withTimeout<T>(
  clock: Clock,
  responseTimeoutMs: number,
  signal: AbortSignal,
  run: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const timer = clock.after(responseTimeoutMs, () => stop.abort(tooLate(responseTimeoutMs)));
  try {
    return await run(AbortSignal.any([signal, stop.signal]));
  } finally {
    timer.cancel();
  }
}

export const tooLate = (responseTimeoutMs: number): FlotillaError =>
  new FlotillaError("NoAnswer", `no response within ${responseTimeoutMs / 1000} s`);

/** The whole body, up to a limit. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BODY_BYTES)
      throw new FlotillaError(
        "Member",
        `the response of the member is longer than ${MAX_BODY_BYTES} bytes; select fewer objects with names or -l`,
      );
  }
  return Buffer.concat(chunks, length).toString("utf8");
}

function objectIn(text: string): JsonObject {
  const value: unknown = parsed(text);
  if (!isObject(value))
    throw new FlotillaError(
      "Member",
      `the response is not a Kubernetes object: ${text.slice(0, MAX_QUOTED_CHARACTERS).trim()}`,
    );
  return value;
}

/** A proxy in between responds in its own format; it becomes a Status with the same code. */
export function failureOf(code: number, text: string): ApiError {
  const status = parsed(text);
  if (isObject(status) && typeof status["message"] === "string")
    return new ApiError({ ...(status as unknown as Status), code });
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `it answered ${code}: ${text.slice(0, MAX_QUOTED_CHARACTERS).trim()}`,
    code,
    reason: code === 404 ? "NotFound" : undefined,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
