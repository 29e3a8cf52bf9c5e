/** Webhooks on loopback: one TLS server whose answers are decided by a function of the path and the sent review. */
import https from "node:https";
import type { AddressInfo } from "node:net";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";

export interface WebhookAnswer {
  status?: number;
  type?: string;
  body: string;
}

export interface WebhookServer {
  readonly port: number;
  readonly url: string;
  /** Base64-encoded PEM of the CA that signed the server's certificate. */
  readonly caBundle: string;
  /** How many connections were opened. */
  connections(): number;
  close(): void;
}

/** `names` are the further host names of its certificate. */
export async function startWebhookServer(
  answer: (path: string, review: JsonObject) => Promise<WebhookAnswer> | WebhookAnswer,
  names: readonly string[] = [],
): Promise<WebhookServer> {
  const authority = await createCertificateAuthority({ clock: systemClock });
  const { certificate, key } = await authority.issueServing(["127.0.0.1", "localhost", ...names]);
  const server = https.createServer({ cert: certificate, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
      const { pathname } = new URL(request.url ?? "", "https://webhook");
      void Promise.resolve(answer(pathname, review)).then(({ status = 200, type = "application/json", body }) =>
        response.writeHead(status, { "content-type": type }).end(body),
      );
    });
  });
  let connections = 0;
  server.on("secureConnection", () => connections++);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    connections: () => connections,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
