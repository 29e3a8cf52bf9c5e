/** Raw requests to the hub and, through it, to members: responses as text, with the server's time. */
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError, isObject } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { failureOf, readText } from "../members/ask.ts";

export interface Answer {
  status: number;
  text: string;
  /** The server's Date header, if present. */
  dateMs?: number;
  /** Duration of the request by our clock; the server's time belongs to its middle. */
  tookMs: number;
  middleMs: number;
}

export async function askRaw(
  { client, clock, signal }: { client: Pick<Client, "raw">; clock: Clock; signal: AbortSignal },
  path: string,
  accept = "application/json",
): Promise<Answer> {
  const began = clock.now();
  const { status, headers, body } = await client.raw(
    { method: "GET", path, cluster: HUB, headers: { accept } },
    signal,
  );
  const answered = clock.now();
  const text = await readText(body);
  const date = Date.parse(headers["date"] ?? "");
  return {
    status,
    text,
    tookMs: answered - began,
    middleMs: (began + answered) / 2,
    dateMs: Number.isFinite(date) ? date : undefined,
  };
}

/** The object in a response. Throws with the server's message if the status is not a success. */
export function objectOf(what: string, { status, text }: Answer): JsonObject {
  if (status !== 200) throw new FlotillaError("Unreachable", what, { cause: failureOf(status, text) });
  const value = parsed(what, text);
  if (!isObject(value)) throw new FlotillaError("Unreachable", `${what}: the response is not an object`);
  return value;
}

function parsed(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FlotillaError("Unreachable", `${what}: the response is not JSON`, { cause: error });
  }
}
