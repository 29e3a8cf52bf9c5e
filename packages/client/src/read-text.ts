/** Reads the body of a raw response, whose size no transport limits. */
import { CollectedBytes, messageOf } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { ResponseLimitError, UnreachableError } from "./errors.ts";
import { checkValues } from "./response-limits.ts";

/** Discovery of a cluster with thousands of CRDs has a few megabytes. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Its resources have ten values each. */
const MAX_VALUES = 400_000;

/** Throws when the body is longer. */
export async function readBytes(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const received = new CollectedBytes();
  for await (const chunk of body) {
    received.add(chunk);
    if (received.length > maxBytes) throw new ResponseLimitError(`the response is longer than ${maxBytes} bytes`);
    if (received.isInTinyChunks) throw new ResponseLimitError("the response arrives in too many small chunks");
  }
  return received.join();
}

export async function readText(body: AsyncIterable<Uint8Array>, maxBytes = MAX_BYTES): Promise<string> {
  return (await readBytes(body, maxBytes)).toString("utf8");
}

export async function readJson(body: AsyncIterable<Uint8Array>, maxBytes = MAX_BYTES): Promise<Json> {
  const bytes = await readBytes(body, maxBytes);
  checkValues(bytes, MAX_VALUES, "the response");
  try {
    return JSON.parse(bytes.toString("utf8")) as Json;
  } catch (cause) {
    throw new UnreachableError(`the response is not JSON (${messageOf(cause)})`, { cause });
  }
}
