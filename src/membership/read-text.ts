/** The body of an answer as text. A member is a stranger: what it sends is bounded. */
import { FlotillaError } from "../base/index.ts";

/** Discovery of a cluster with thousands of definitions has a few megabytes. */
const MAX_BYTES = 32 * 1024 * 1024;

export async function readText(body: AsyncIterable<Uint8Array>, maxBytes = MAX_BYTES): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new FlotillaError("TooLarge", `an answer of a member is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
