/** Reads a response body as text. Member data is untrusted: its size is limited. */
import { FlotillaError } from "@flotilla/base";

/** Discovery of a cluster with thousands of CRDs has a few megabytes. */
const MAX_BYTES = 32 * 1024 * 1024;

export async function readText(body: AsyncIterable<Uint8Array>, maxBytes = MAX_BYTES): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new FlotillaError("TooLarge", `the response of a member is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
