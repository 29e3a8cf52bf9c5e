/** Plain requests to the hub and, through it, to members: answers as text, with the server's time. */
import { FlotillaError, isObject } from "../../base/index.ts";
import type { Clock, JsonObject } from "../../base/index.ts";
import type { Client } from "../../client/index.ts";
import { failureOf, readText } from "../members/ask.ts";

export interface Answer {
  status: number;
  text: string;
  /** What the server's clock said, when it says so. */
  dateMs?: number;
  /** How long the answer took, by our clock; its middle is when the server looked at its own. */
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
    { method: "GET", path, cluster: "hub", headers: { accept } },
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

/** The object of an answer. Throws with what the server said when it is no success. */
export function objectOf(what: string, { status, text }: Answer): JsonObject {
  if (status !== 200) throw new FlotillaError("Unreachable", what, { cause: failureOf(status, text) });
  const value = parsed(what, text);
  if (!isObject(value)) throw new FlotillaError("Unreachable", `${what}: the answer is no object`);
  return value;
}

function parsed(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FlotillaError("Unreachable", `${what}: the answer is no JSON`, { cause: error });
  }
}
