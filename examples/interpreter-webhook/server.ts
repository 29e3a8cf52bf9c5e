/**
 * An interpreter webhook: an HTTPS server that interprets a kind for a hub. It runs on Node alone; nothing needs to be
 * installed:
 *
 *   node examples/interpreter-webhook/server.ts --port 8445 --pki examples/interpreter-webhook/pki
 */
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { respond } from "./protocol.ts";
import { interpretWorkload } from "./workload.ts";

const PATH = "/interpret";
/** At most two objects of at most 3 MB each. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

const { values: flags } = parseArgs({
  options: {
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "8445" },
    // A directory with tls.crt and tls.key, as created by certificate.sh.
    pki: { type: "string", default: join(import.meta.dirname, "pki") },
  },
});

const server = https.createServer(
  { cert: readFileSync(join(flags.pki, "tls.crt")), key: readFileSync(join(flags.pki, "tls.key")) },
  (request, response) => {
    serve(request, response).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      response.destroy();
    });
  },
);

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (new URL(request.url ?? "/", "https://webhook").pathname !== PATH) return end(response, 404, `ask at ${PATH}`);
  if (request.method !== "POST") return end(response, 405, "use POST");
  const body = await readBody(request);
  if (body === undefined) return end(response, 413, `the body is larger than ${MAX_BODY_BYTES} bytes`);
  const answer = respond(body, (question: Parameters<typeof interpretWorkload>[0]) => {
    process.stdout.write(`${question.operation}  ${question.namespace ?? ""}/${question.name}\n`);
    return interpretWorkload(question);
  });
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function end(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "text/plain" }).end(`${message}\n`);
}

server.listen(Number(flags.port), flags.host, () => {
  const { address, port } = server.address() as AddressInfo;
  process.stdout.write(`listening  https://${address}:${port}${PATH}\n`);
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
  });
}
